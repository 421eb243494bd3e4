package app

import (
	"iter"
	"testing"

	"sibyl/internal/store"
	"sibyl/internal/store/pgtest"
)

// perRun is what a run of the bench adds to each database, in a session of its own, once its tree and prompts are known.
var perRun = map[string]int64{"session": 1, "run": 1, "record": 8} // start, 3 turns, 2 calls, trace, end

// TestRunAddsTheSameRowsToEveryDatabase tells what docs/scaling.md says of rows and bytes.
func TestRunAddsTheSameRowsToEveryDatabase(t *testing.T) {
	const runs = 50
	for name, dsn := range map[string]string{"sqlite": "", "postgres": pgtest.New(t)} {
		t.Run(name, func(t *testing.T) {
			b := newBenchOn(t, dsn)
			plays := func() {
				for range runs {
					if err := b.once(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			plays()
			before := content(t, b)
			plays()
			wantRows(t, content(t, b).less(before), runs)
		})
	}
}

// sums are the rows of each table, and the bytes in them.
type sums struct {
	rows  map[string]int64
	bytes int64
}

func content(tb testing.TB, b *bench) sums {
	tb.Helper()
	all := sums{rows: map[string]int64{}}
	db, ok := b.Store.(store.Database)
	if !ok {
		tb.Fatalf("%T can't be read as a whole", b.Store)
	}
	err := db.ReadAll(tb.Context(), func(rows func(store.Table) iter.Seq2[store.Row, error]) error {
		for _, table := range store.Tables() {
			for row, err := range rows(table) {
				if err != nil {
					return err
				}
				all.rows[table.Name]++
				for _, v := range row {
					switch v := v.(type) {
					case string:
						all.bytes += int64(len(v))
					case []byte:
						all.bytes += int64(len(v))
					case int64:
						all.bytes += 8
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func (s sums) less(before sums) sums {
	for table, n := range before.rows {
		if s.rows[table] -= n; s.rows[table] == 0 {
			delete(s.rows, table)
		}
	}
	s.bytes -= before.bytes
	return s
}

func wantRows(t *testing.T, got sums, runs int64) {
	t.Helper()
	for table, n := range perRun {
		if got.rows[table] != n*runs {
			t.Errorf("%d runs add %d rows to %s; want %d each", runs, got.rows[table], table, n)
		}
	}
	for table := range got.rows {
		if perRun[table] == 0 {
			t.Errorf("%d runs add %d rows to %s; want none", runs, got.rows[table], table)
		}
	}
	t.Logf("%v rows in %d runs, %d bytes a run", got.rows, runs, got.bytes/runs)
}
