package store

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task/tasktest"
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

func BenchmarkRunsInFile(b *testing.B) { journaltest.Bench(b, openAt(b, newPath(b))) }

func BenchmarkRunsOnServer(b *testing.B) {
	journaltest.Bench(b, serverAt(b, pgtest.Start(b, pgtest.Options{Durable: true}).New(b), WithLockTimeout(time.Minute)))
}

func BenchmarkTenThousandTasks(b *testing.B) { tasktest.BenchmarkLists(b, fresh(b)) }
