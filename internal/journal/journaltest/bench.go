package journaltest

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/journal"
)

// Bench measures whole runs on store, so many at once: one beginning with its session, five appends of a record of 1.2 KB, and
// an end.
func Bench(b *testing.B, store journal.Store) {
	var made atomic.Int64
	for _, atOnce := range []int{1, 16, 100} {
		b.Run(fmt.Sprintf("%d at once", atOnce), func(b *testing.B) {
			b.ReportAllocs()
			var all sync.WaitGroup
			var left atomic.Int64
			left.Store(int64(b.N))
			for range atOnce {
				all.Go(func() {
					for left.Add(-1) >= 0 {
						if err := Whole(b, store, fmt.Sprintf("%010d", made.Add(1))); err != nil {
							b.Error(err)
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(6*b.N)/b.Elapsed().Seconds(), "appends/s")
		})
	}
}

// Whole is one run as Bench measures it, of that id, in a session of its own.
func Whole(tb testing.TB, store journal.Store, id string) error {
	session := sessionOf(ada, "session of "+id)
	b := journal.Beginning{Run: runOf(ada, session.ID, id), Session: &session, Blobs: wholeBlobs(), Records: records(0, 1)}
	b.Run.LeaseHolder, b.Run.LeaseUntil = "here", noon
	if err := store.Begin(tb.Context(), b); err != nil {
		return err
	}
	rec := journal.Record{At: noon, Kind: "completion", Data: bytes.Repeat([]byte("x"), 1200)}
	for rec.Seq = 1; rec.Seq <= 5; rec.Seq++ {
		if err := store.Append(tb.Context(), ada, id, []journal.Record{rec}, nil); err != nil {
			return err
		}
	}
	end := &journal.End{Status: journal.Done, At: after(time.Second), Reason: "satisfied", Summary: rec.Data[:600]}
	return store.Append(tb.Context(), ada, id, []journal.Record{rec}, end)
}

func wholeBlobs() [][]byte {
	return [][]byte{bytes.Repeat([]byte("tree"), 2500), bytes.Repeat([]byte("prompt"), 2500)}
}
