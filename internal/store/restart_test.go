package store

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// Of what was acknowledged nothing is lost, and nothing is there twice, however often the server stops, crashes and
// comes back under writers.
func TestServerThatIsRestartedUnderWritersLosesNothingAndDoublesNothing(t *testing.T) {
	const writers = 6
	server := pgtest.Start(t, pgtest.Options{Durable: true})
	dsn := server.New(t)
	db, other := serverAt(t, dsn), serverAt(t, dsn)
	begin(t, db.DB, 1)
	stop := make(chan struct{})
	acknowledged := make([]map[int]int64, writers) // by the writer's own count: the number of the record
	progress := make(chan struct{}, writers)
	var all sync.WaitGroup
	for w := range writers {
		acknowledged[w] = map[int]int64{}
		all.Go(func() {
			store := []*Server{db, other}[w%2]
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				// Each has a run of its own for most records, and all share one.
				if seq, err := appendSomewhere(t, store, w, n); err == nil {
					acknowledged[w][n] = seq
					select {
					case progress <- struct{}{}:
					default:
					}
				}
			}
		})
	}
	advance := func() {
		for range 10 * writers {
			select {
			case <-progress:
			case <-time.After(time.Minute):
				t.Error("waited for writers to get on")
				return
			}
		}
	}
	for _, end := range []func(testing.TB){server.Stop, server.Crash, server.Stop, server.Crash, server.Crash} {
		advance()
		end(t)
		server.Restart(t)
	}
	advance()
	close(stop)
	all.Wait()
	there := map[string]int64{}
	for _, r := range append([]string{"run"}, ownRuns(writers)...) {
		recs, err := db.Records(t.Context(), "ada", r, 0)
		assert.Require(t, err == nil || r != "run", "%v", err)
		for _, rec := range recs {
			_, twice := there[rec.Kind]
			assert.That(t, !twice || rec.Seq == 0, "%s was written twice", rec.Kind)
			there[rec.Kind] = rec.Seq
		}
	}
	var kept int
	for w, mine := range acknowledged {
		kept += len(mine)
		for n, seq := range mine {
			if got, ok := there[fmt.Sprint(w, " ", n)]; !ok || got != seq {
				t.Errorf("writer %d was told that its write %d is record %d; there it is %d, %v", w, n, seq, got, ok)
			}
		}
	}
	t.Logf("%d writes were acknowledged", kept)
	sound(t, db.DB)
}

func ownRuns(writers int) (runs []string) {
	for w := range writers {
		runs = append(runs, fmt.Sprint("run of writer ", w))
	}
	return runs
}

// appendSomewhere appends a record, whose kind says who wrote it and when, to a run of the writer's own or to one that
// all share.
func appendSomewhere(t *testing.T, db *Server, writer, n int) (int64, error) {
	run := "run"
	if n%3 > 0 {
		run = fmt.Sprint("run of writer ", writer)
	}
	at, err := db.Run(t.Context(), "ada", run)
	if err != nil {
		b := beginning(journal.Session{ID: run, Owner: "ada"})
		b.Run.ID, b.Records, b.Blobs = run, []journal.Record{{Kind: "begun"}}, [][]byte{[]byte("tree")}
		if err := db.Begin(t.Context(), b); err != nil {
			return 0, err
		}
		at.Records = 1
	}
	rec := journal.Record{Seq: at.Records, Kind: fmt.Sprint(writer, " ", n), Data: json.RawMessage(`{}`)}
	return rec.Seq, db.Append(t.Context(), "ada", run, []journal.Record{rec}, nil)
}
