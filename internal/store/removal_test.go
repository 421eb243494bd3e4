package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// Words of a session must not outlive it in pages that SQLite holds free.
func TestWordsOfARemovedSessionAreNotInTheFileAnyMore(t *testing.T) {
	secrets := map[string]string{"title": "quinces", "question": "medlars", "short record": "loquats",
		"long record": strings.Repeat("damsons ", 5000), "blob": strings.Repeat("sloes ", 5000),
		"reason": "greengages", "summary": strings.Repeat("bullaces ", 5000), "pending row": "mulberries"}
	for name, remove := range map[string]func(*DB) error{
		"deleted": func(db *DB) error {
			return db.DeleteSession(t.Context(), "ada", "s", journal.ByPerson, time.Now())
		},
		"retired": func(db *DB) error {
			_, err := db.Retire(t.Context(), "ada", journal.IdleFilter{Before: time.Now(), Now: time.Now()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			db := openAt(t, path)
			begin(t, db, 1)
			first := beginning(journal.Session{ID: "s", Owner: "ada", Title: secrets["title"]})
			first.Run.Title, first.Blobs = secrets["question"], [][]byte{[]byte(secrets["blob"])}
			first.Records = []journal.Record{{Seq: 0, Data: []byte(secrets["short record"])},
				{Seq: 1, Data: []byte(secrets["long record"])}}
			end := &journal.End{Status: journal.NeedsUser, Reason: secrets["reason"],
				Summary: []byte(secrets["summary"]),
				Pending: []journal.Pending{{ID: "p", Data: []byte(secrets["pending row"])}}}
			assert.NoError(t, errors.Join(
				db.Begin(t.Context(), first),
				db.Append(t.Context(), "ada", first.Run.ID, []journal.Record{{Seq: 2}}, end),
				db.RenameSession(t.Context(), "ada", "session", "kept")))
			closeDB(t, db)
			db = openAt(t, path)
			assert.NoError(t, remove(db))
			closeDB(t, db)
			file := content(t, path)
			for what, words := range secrets {
				word, _, _ := strings.Cut(words, " ")
				assert.That(t, !strings.Contains(file, word), "the %s is still in the file", what)
			}
		})
	}
}

// The file grows to what is kept at once, not with what was ever kept.
func TestSpaceOfRemovedSessionsIsUsedAgain(t *testing.T) {
	db := openAt(t, newPath(t), Unsynced())
	pages := func() int64 { return one[int64](t, db, `SELECT page_count FROM pragma_page_count`) }
	var first int64
	for round := range 10 {
		for i := range 5 {
			leave(t, db, fmt.Sprintf("%d-%d", round, i), time.UnixMilli(int64(round)), 1, 20)
		}
		left, err := db.Retire(t.Context(), "ada", journal.IdleFilter{Before: time.UnixMilli(int64(round + 1)),
			Now: time.UnixMilli(int64(round + 1))})
		assert.Require(t, err == nil && len(left) == 5, "%d sessions were removed, error %v", len(left), err)
		if round == 0 {
			first = pages()
		}
	}
	last := pages()
	assert.That(t, last <= first+first/4, "%d pages after ten rounds, %d after the first", last, first)
}

// leave makes a session with so many runs, each of so many records of 2 KB, last used at that moment.
func leave(t testing.TB, db *DB, id string, at time.Time, runs, records int) {
	t.Helper()
	recs := make([]journal.Record, records)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(i), At: at, Kind: "completion", Data: fmt.Appendf(nil, "%02000d", i)}
	}
	shared, own := []byte(strings.Repeat("tree ", 4000)), []byte(strings.Repeat(id, 1000))
	var err error
	for n := range runs {
		b := beginning(journal.Session{ID: id, Owner: "ada", Title: id, CreatedAt: at, UpdatedAt: at})
		b.Run.ID, b.Blobs, b.Records = fmt.Sprintf("%s/%d", id, n), [][]byte{shared, own}, recs
		if n > 0 {
			b.Session = nil
		}
		end := &journal.End{Status: journal.Done, At: at}
		err = errors.Join(err, db.Begin(t.Context(), b),
			db.Append(t.Context(), "ada", b.Run.ID, []journal.Record{{Seq: int64(records), At: at}}, end))
	}
	assert.NoError(t, err)
}

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
