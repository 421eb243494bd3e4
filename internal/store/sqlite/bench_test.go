//go:build unix

package sqlite

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
)

// BenchmarkAppend reports, beside the time with the disk in it, the processor time of an append.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("%d records", n), func(b *testing.B) {
			db := openAt(b, newPath(b))
			begin(b, db, 0)
			recs := make([]journal.Record, n)
			for i := range recs {
				recs[i] = journal.Record{At: time.Now(), Kind: "completion", Data: json.RawMessage(strings.Repeat("x", 400))}
			}
			b.ReportAllocs()
			before, next := processorTime(b), int64(0)
			for b.Loop() {
				for i := range recs {
					recs[i].Seq = next
					next++
				}
				if err := db.Append(b.Context(), "ada", "run", recs, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

func BenchmarkRecords(b *testing.B) {
	db := openAt(b, newPath(b))
	begin(b, db, 100)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Records(b.Context(), "ada", "run", 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens and closes a database that is up to date, as every command of the CLI does.
func BenchmarkOpen(b *testing.B) {
	path := newPath(b)
	db := openAt(b, path)
	begin(b, db, 1)
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		db, err := Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRetire removes sessions as a person's year leaves them, 5 at a time, among 2000 that share their tree; and finds
// that there is nothing to remove, as it does after nearly every question.
func BenchmarkRetire(b *testing.B) {
	db := openAt(b, newPath(b))
	for i := range 2000 {
		fill(b, db, fmt.Sprint("kept ", i), instant(int64(1000+i)), 1, 2)
	}
	retire := func(b *testing.B, want int) {
		b.Helper()
		if left, err := db.Retire(b.Context(), "ada", journal.Idle{Before: instant(500), Now: instant(9000), Limit: 5}); err != nil || len(left) != want {
			b.Fatalf("%d sessions removed, error %v, want %d", len(left), err, want)
		}
	}
	b.Run("nothing", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			retire(b, 0)
		}
	})
	for runs, records := range map[int]int{5: 15, 30: 60} {
		b.Run(fmt.Sprintf("5 sessions of %d runs of %d records", runs, records), func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				for i := range 5 {
					fill(b, db, fmt.Sprintf("%s %d %d", b.Name(), n, i), instant(int64(i)), runs, records)
				}
				execute(b, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
				b.StartTimer()
				retire(b, 5)
			}
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func BenchmarkRuns(b *testing.B) { journaltest.Bench(b, openAt(b, newPath(b))) }
