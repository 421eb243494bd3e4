package inquiry_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/store/teststore"
)

// stored puts inquiries that have ended into a store.
func stored(tb testing.TB, store journal.Store, n int) {
	tb.Helper()
	begun := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all sync.WaitGroup
	for part := range 16 {
		all.Go(func() {
			for i := part; i < n; i += 16 {
				score, at := i%101, begun.Add(time.Duration(i)*time.Minute)
				id := fmt.Sprintf("3f2b8c1e-9d4a-4b6f-8a7e-%012d", i)
				summary, err := json.Marshal(inquiry.Item{ID: id,
					Hypothesis: fmt.Sprintf("The bridge of town %d was closed because its main cables had corroded", i),
					StartTime:  at.Format(time.RFC3339),
					Status:     record.Completed, EndReason: "satisfied", Pairs: 7, Limit: 10,
					ConsistencyScore: &score})
				if err != nil {
					tb.Error(err)
					return
				}
				run := journal.Run{ID: fmt.Sprintf("run%010d", i), Session: id, Owner: ada, Assistant: inquiry.Name,
					Status: journal.Running, StartedAt: at}
				session := journal.Session{ID: id, Owner: ada, Assistant: inquiry.Name, CreatedAt: at, UpdatedAt: at}
				rec := journal.Record{At: at, Kind: "start", Data: []byte("{}")}
				err = store.Begin(tb.Context(), journal.Beginning{Run: run, Session: &session,
					Records: []journal.Record{rec}})
				if err == nil {
					rec.Seq, rec.Kind = 1, "end"
					err = store.Append(tb.Context(), ada, run.ID, []journal.Record{rec},
						&journal.End{Status: journal.Done, At: at, Reason: "satisfied", Summary: summary})
				}
				if err != nil {
					tb.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// All of 10,000 inquiries at once: the aim is 200 ms.
func BenchmarkListOf10000(b *testing.B) {
	for _, name := range []string{"", "sqlite"} {
		b.Run(map[string]string{"": "memory", "sqlite": "SQLite"}[name], func(b *testing.B) {
			b.Setenv(teststore.Env, name)
			store := teststore.Empty(b)
			stored(b, store, 10_000)
			desk := &inquiry.Desk{Deps: inquiry.Deps{Store: store}}
			for b.Loop() {
				items, err := desk.List(b.Context(), ada, journal.Filter{Limit: 10_000})
				if err != nil || len(items) != 10_000 {
					b.Fatal(len(items), err)
				}
			}
		})
	}
}
