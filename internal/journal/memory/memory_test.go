package memory_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/journal/memory"
)

func TestStoreKeepsTheGuarantees(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return memory.New() })
}

func BenchmarkAppend(b *testing.B) {
	store := memory.New()
	err := errors.Join(
		store.CreateSession(b.Context(), journal.Session{ID: "session", Owner: "ada"}),
		store.Begin(b.Context(), journal.Run{ID: "run", Session: "session", Owner: "ada"}, nil, nil))
	if err != nil {
		b.Fatal(err)
	}
	rec := journal.Record{Kind: "completion", Data: json.RawMessage(strings.Repeat("x", 400))}
	b.ReportAllocs()
	for b.Loop() {
		if err := store.Append(b.Context(), "ada", "run", []journal.Record{rec}, nil); err != nil {
			b.Fatal(err)
		}
		rec.Seq++
	}
}
