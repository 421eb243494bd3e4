package memory_test

import (
	"encoding/json"
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
	begin := journal.Beginning{Run: journal.Run{ID: "run", Session: "session", Owner: "ada"}, Session: &journal.Session{ID: "session", Owner: "ada"}}
	if err := store.Begin(b.Context(), begin); err != nil {
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
