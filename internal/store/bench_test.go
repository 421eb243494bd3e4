package store

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

func BenchmarkAppendToFile(b *testing.B) {
	db := openAt(b, newPath(b))
	begin(b, db, 0)
	rec := journal.Record{At: time.Now(), Kind: "completion", Data: []byte(strings.Repeat("x", 400))}
	b.ReportAllocs()
	for b.Loop() {
		if err := db.Append(b.Context(), "ada", "run", []journal.Record{rec}, nil); err != nil {
			b.Fatal(err)
		}
		rec.Seq++
	}
}

// BenchmarkOpenFile opens and closes a file that is up to date, as every command of the CLI does.
func BenchmarkOpenFile(b *testing.B) {
	path := newPath(b)
	begin(b, openAt(b, path), 1)
	for b.Loop() {
		db, err := OpenFile(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		closeDB(b, db)
	}
}

func BenchmarkRunsInFile(b *testing.B) { wholeRuns(b, openAt(b, newPath(b))) }

func BenchmarkRunsOnServer(b *testing.B) {
	wholeRuns(b, serverAt(b, pgtest.Start(b, pgtest.Options{Durable: true}).New(b), WithLockTimeout(time.Minute)).DB)
}

// wholeRuns measures runs, so many at once: a beginning with its session, five appends of a record of 1.2 KB, and an
// end.
func wholeRuns(b *testing.B, db *DB) {
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
						if err := wholeRun(b, db, fmt.Sprintf("%010d", made.Add(1))); err != nil {
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

func wholeRun(b *testing.B, db *DB, id string) error {
	begun := firstOf(sessionOf(ada, "session of "+id))
	begun.Run.ID, begun.Run.LeaseHolder, begun.Run.LeaseUntil = id, "here", noon
	begun.Records = recordsFrom(0, 1)
	begun.Blobs = [][]byte{bytes.Repeat([]byte("tree"), 2500), bytes.Repeat([]byte("prompt"), 2500)}
	if err := db.Begin(b.Context(), begun); err != nil {
		return err
	}
	rec := journal.Record{At: noon, Kind: "completion", Data: bytes.Repeat([]byte("x"), 1200)}
	for rec.Seq = 1; rec.Seq <= 5; rec.Seq++ {
		if err := db.Append(b.Context(), ada, id, []journal.Record{rec}, nil); err != nil {
			return err
		}
	}
	end := &journal.End{Status: journal.Done, At: after(time.Second), Reason: "satisfied", Summary: rec.Data[:600]}
	return db.Append(b.Context(), ada, id, []journal.Record{rec}, end)
}

func BenchmarkTenThousandTasks(b *testing.B) {
	tasks := tasksOver(fresh(b))
	for i := range 10_000 {
		description := fmt.Sprintf("w%d w%d w%d w%d", i*7%3000, i*11%3000, i*13%3000, i*17%3000)
		if _, _, err := tasks.Add(b.Context(), byAda, fmt.Sprintf("w%d w%d w%d", i%3000, i*3%3000, i*5%3000),
			&description); err != nil {
			b.Fatal(err)
		}
	}
	for name, q := range map[string]task.Query{"all": {}, "page": {Filter: task.Filter{Limit: 50, Newest: true}},
		"matches": {Words: "w7 w8"}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if p, err := tasks.List(b.Context(), "ada", q); err != nil || len(p.Tasks) == 0 {
					b.Fatal(len(p.Tasks), err)
				}
			}
		})
	}
}
