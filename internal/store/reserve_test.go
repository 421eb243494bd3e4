package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// filling is a file on a disk that is full, and has more room once the reserve is gone.
type filling struct {
	*file
	t *testing.T
}

func (f filling) spendReserve() bool {
	spent := f.file.spendReserve()
	if spent {
		pragma(f.t, &DB{dialect: f.file}, `PRAGMA max_page_count = 1000000`)
	}
	return spent
}

func TestWhatWasFinishedWhenTheDiskFillsUpIsKeptAndNothingIsBegunUntilThereIsRoom(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	begin(t, db, 1)
	f := inFile(t, db)
	db.dialect = filling{f, t}
	pragma(t, &DB{dialect: f}, fmt.Sprintf(`PRAGMA max_page_count = %d`,
		one[int](t, db, `SELECT page_count FROM pragma_page_count`)))
	answer := journal.Record{Seq: 1, Data: bytes.Repeat([]byte("an answer "), 2000)}
	assert.NoErrorf(t, db.Append(t.Context(), "ada", "run", []journal.Record{answer}, nil), "the answer is lost")
	recs, err := db.Records(t.Context(), "ada", "run", 1)
	assert.That(t, err == nil && len(recs) == 1 && bytes.Equal(recs[0].Data, answer.Data),
		"%d records are kept, %v", len(recs), err)
	if err := os.Mkdir(f.reserveName(), 0o700); err != nil { // so that there can't be another, for some other reason
		t.Fatal(err)
	}
	err = db.reserve()
	assert.That(t, err == nil, "a reserve that can't be made for another reason keeps runs from beginning: %v", err)
	if err := os.Symlink("/dev/full", f.reserveName()); err != nil {
		t.Skip("no device here that is always full")
	}
	err = db.reserve()
	assert.That(t, errors.Is(err, journal.ErrFull), "without room for a reserve: %v, want it full", err)
}

// meeting is one round of a writer among others that work on the same sessions.
type meeting struct {
	t             *testing.T
	db            *Server
	now           time.Time
	writer, round int
	blobs         [][]byte
}

// whole begins a run in a session of two that it makes if it has to, goes on with it, ends it, and removes sessions now
// and then.
func (m meeting) whole() error {
	ctx := m.t.Context()
	name := fmt.Sprintf("session %d of %d", m.writer%2, m.round/5)
	run := journal.Run{ID: fmt.Sprintf("run %d of %d", m.round, m.writer), Session: name, Owner: "ada",
		StartedAt: m.now, LeaseHolder: "here",
		LeaseUntil: m.now.Add(time.Minute)}
	b := journal.Beginning{Run: run, Records: []journal.Record{{At: m.now}},
		Claims: []string{fmt.Sprint("key ", m.writer), "key of all"},
		Blobs:  [][]byte{m.blobs[m.round%4], m.blobs[(m.round+m.writer)%4], m.blobs[m.writer%4]}}
	if m.round%3 > 0 {
		b.Claims = b.Claims[:1]
	}
	if err := m.db.Begin(ctx, b); err != nil {
		b.Session = &journal.Session{ID: name, Owner: "ada", UpdatedAt: m.now}
		if err := m.db.Begin(ctx, b); err != nil {
			return err
		}
	}
	keys := []journal.Key{{Owner: "ada", Run: run.ID},
		{Owner: "ada", Run: fmt.Sprintf("run %d of %d", m.round, (m.writer+1)%12)}}
	steps := []func() error{
		func() error { return m.db.Append(ctx, "ada", run.ID, []journal.Record{{Seq: 1, At: m.now}}, nil) },
		func() error { return m.db.Renew(ctx, "here", keys, m.now.Add(2*time.Minute)) },
		func() error { return m.db.RenameSession(ctx, "ada", name, run.ID) },
		func() error {
			return m.db.Append(ctx, "ada", run.ID, []journal.Record{{Seq: 2, At: m.now}},
				&journal.End{Status: journal.NeedsUser, At: m.now,
					Pending: []journal.Pending{{ID: run.ID}}})
		},
		func() error {
			if m.round%5 != 4 {
				return nil
			}
			return m.db.DeleteSession(ctx, "ada", name, journal.ByPerson, m.now.Add(time.Hour))
		},
		func() error {
			if m.round%5 != 3 {
				return nil
			}
			_, err := m.db.Retire(ctx, "ada", journal.IdleFilter{Before: m.now.Add(time.Second), Now: m.now.Add(time.Hour),
				Limit: 3})
			return err
		},
	}
	for _, step := range steps {
		if err := step(); err != nil && !expected(err) {
			return err
		}
	}
	return nil
}

// listening has db listen, and returns what it hears when it does listen.
func listening(t *testing.T, db *DB) (heard <-chan journal.Key, over <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, errs, began := make(chan journal.Key, 10_000), make(chan error, 1), make(chan struct{})
	go func() {
		errs <- db.Announced(ctx, func(bool) { close(began) }, func(k journal.Key) { keys <- k })
	}()
	t.Cleanup(cancel)
	select {
	case <-began:
	case err := <-errs:
		t.Fatalf("it does not listen: %v", err)
	case <-time.After(time.Minute):
		t.Fatal("waited for it to listen")
	}
	return keys, errs, cancel
}

// hears waits for a run to be told.
func hears(t *testing.T, heard <-chan journal.Key, want journal.Key) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case got := <-heard:
			if got == want {
				return
			}
		case <-late:
			t.Fatalf("waited for %v to be told", want)
		}
	}
}

func TestWhatTakesRecordsOrIsFreedIsTold(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		address := place(t)
		here, there := openedAt(t, address), openedAt(t, address)
		heard, over, stop := listening(t, there)
		key := journal.Key{Owner: `"o'wner` + "\n" + `Ünï🦉`, Run: `r\u0000,]["`}
		b := beginning(journal.Session{ID: "s", Owner: key.Owner})
		b.Run.ID, b.Run.LeaseHolder, b.Run.LeaseUntil = key.Run, "here", time.UnixMilli(10)
		for what, write := range []func() error{
			func() error { return here.Begin(t.Context(), b) },
			func() error { return here.Append(t.Context(), key.Owner, key.Run, []journal.Record{{}}, nil) },
			func() error { return here.Release(t.Context(), key.Owner, key.Run, "here", time.Time{}) },
			func() error {
				return here.Append(t.Context(), key.Owner, key.Run, []journal.Record{{Seq: 1}},
					&journal.End{Status: journal.Done})
			},
		} {
			assert.NoErrorf(t, write(), "write %d", what)
			hears(t, heard, key)
		}
		err := here.Append(t.Context(), key.Owner, key.Run, []journal.Record{{Seq: 1}}, nil)
		assert.Require(t, errors.Is(err, journal.ErrEnded), "%v", err)
		begin(t, here, 0)
		hears(t, heard, journal.Key{Owner: "ada", Run: "run"})
		stop()
		err = <-over
		assert.That(t, errors.Is(err, context.Canceled), "listening ends with %v, want context.Canceled", err)
		select {
		case k := <-heard:
			t.Errorf("%v is told although nothing was written", k)
		default:
		}
	})
}

func TestAllThatHappensInAFileIsAnnounced(t *testing.T) {
	path := newPath(t)
	for name, p := range map[string]place{"usual": {}, "shared": network("1")} {
		t.Run(name, func(t *testing.T) {
			here := openAt(t, path, at(p))
			there := here // nobody else has it on a shared place
			if !p.shared {
				there = openAt(t, path)
			}
			began, heard := make(chan bool, 1), make(chan journal.Key, 100)
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan error)
			go func() {
				over <- there.Announced(ctx, func(all bool) { began <- all }, func(k journal.Key) { heard <- k })
			}()
			assert.That(t, <-began, "it is said to miss some")
			b := beginning(journal.Session{ID: name, Owner: "ada"})
			key := journal.Key{Owner: "ada", Run: b.Run.ID}
			assert.NoError(t, here.Begin(t.Context(), b))
			hears(t, heard, key)
			if here == there { // at once, and when the file is looked at
				hears(t, heard, key)
			}
			assert.NoError(t, here.DeleteSession(t.Context(), "ada", name, journal.ByPerson, time.Now()))
			hears(t, heard, key)
			short := beginning(journal.Session{ID: "short " + name, Owner: "ada"})
			assert.NoError(t, here.Begin(t.Context(), short))
			assert.NoError(t, here.Append(t.Context(), "ada", short.Run.ID, []journal.Record{{}},
				&journal.End{Status: journal.Done}))
			hears(t, heard, journal.Key{Owner: "ada", Run: short.Run.ID})
			stop()
			assert.ErrorIs(t, <-over, context.Canceled)
		})
	}
}

func TestFileIsClosedAfterThoseThatListen(t *testing.T) {
	path := newPath(t)
	for name, p := range map[string]place{"usual": {}, "shared": network("1")} {
		db := assert.Must(OpenFile(t.Context(), path, at(p)))(t)
		_, over, _ := listening(t, db)
		create := beginning(journal.Session{ID: name, Owner: "ada"})
		assert.NoError(t, db.Begin(t.Context(), create))
		closeDB(t, db)
		assert.ErrorIs(t, <-over, errClosed)
		assert.That(t, !exists(path+"-wal"), "%s: the WAL was left", name)
	}
}

func TestListeningEndsWithTheConnectionAndWithTheStore(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{})
	db := serverAt(t, server.New(t))
	_, over, _ := listening(t, db.DB)
	server.Stop(t)
	if err := <-over; err == nil || !strings.Contains(err.Error(), db.server.name) {
		t.Errorf("listening ends with %v, want an error with the database", err)
	}
	server.Restart(t)
	heard, over, _ := listening(t, db.DB)
	begin(t, db.DB, 0)
	hears(t, heard, journal.Key{Owner: "ada", Run: "run"})
	closeDB(t, db.DB)
	err := <-over
	assert.That(t, errors.Is(err, errClosed), "listening ends with %v, want errClosed", err)
}

func TestCloseTellsWhatIsStillToBeTold(t *testing.T) {
	dsn := pgtest.New(t)
	here, there := serverAt(t, dsn), serverAt(t, dsn)
	heard, _, _ := listening(t, there.DB)
	for i := range 20 {
		assert.NoError(t, here.Begin(t.Context(), beginning(journal.Session{ID: fmt.Sprint(i), Owner: "ada"})))
	}
	closeDB(t, here.DB)
	hears(t, heard, journal.Key{Owner: "ada", Run: "run of 19"})
}
