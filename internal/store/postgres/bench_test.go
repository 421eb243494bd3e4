package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/store/postgres/pgtest"
)

// durable opens a database on a server whose commits wait for the disk.
func durable(b *testing.B) *DB {
	b.Helper()
	return openAt(b, pgtest.Start(b, pgtest.Options{Durable: true}).New(b), WithLockTimeout(time.Minute))
}

// BenchmarkAppend appends records to runs, so many at once.
func BenchmarkAppend(b *testing.B) {
	db := durable(b)
	for _, atOnce := range []int{1, 16} {
		for _, n := range []int{1, 3} {
			b.Run(fmt.Sprintf("%d at once, %d records", atOnce, n), func(b *testing.B) {
				var all sync.WaitGroup
				var left atomic.Int64
				left.Store(int64(b.N))
				for writer := range atOnce {
					first := beginning(journal.Session{ID: fmt.Sprintf("%s %d %d", b.Name(), b.N, writer), Owner: "ada"})
					if err := db.Begin(b.Context(), first); err != nil {
						b.Fatal(err)
					}
					recs := make([]journal.Record, n)
					for i := range recs {
						recs[i] = journal.Record{At: time.Now(), Kind: "completion", Data: json.RawMessage(strings.Repeat("x", 400))}
					}
					all.Go(func() {
						for next := int64(0); left.Add(-1) >= 0; next += int64(n) {
							for i := range recs {
								recs[i].Seq = next + int64(i)
							}
							if err := db.Append(b.Context(), "ada", first.Run.ID, recs, nil); err != nil {
								b.Error(err)
							}
						}
					})
				}
				b.ReportAllocs()
				b.ResetTimer()
				all.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			})
		}
	}
}

func BenchmarkRuns(b *testing.B) { journaltest.Bench(b, durable(b)) }
