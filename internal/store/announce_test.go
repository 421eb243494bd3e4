package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// listening has db listen, and returns what it hears when it does listen.
func listening(t *testing.T, db *Server) (heard <-chan journal.Key, over <-chan error, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	keys, errs := make(chan journal.Key, 10_000), make(chan error, 1)
	go func() { errs <- db.Announced(ctx, func(k journal.Key) { keys <- k }) }()
	t.Cleanup(cancel)
	for deadline := time.Now().Add(time.Minute); one[int64](t, db.DB, `
		SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle' AND query LIKE 'LISTEN%'`) == 0; {
		assert.Require(t, !time.Now().After(deadline), "waited for a connection that listens")
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
	dsn := pgtest.New(t)
	here, there := serverAt(t, dsn), serverAt(t, dsn)
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
	begin(t, here.DB, 0)
	hears(t, heard, journal.Key{Owner: "ada", Run: "run"})
	stop()
	err = <-over
	assert.That(t, errors.Is(err, context.Canceled), "listening ends with %v, want context.Canceled", err)
	select {
	case k := <-heard:
		t.Errorf("%v is told although nothing was written", k)
	default:
	}
}

func TestListeningEndsWithTheConnectionAndWithTheStore(t *testing.T) {
	server := pgtest.Start(t, pgtest.Options{})
	db := serverAt(t, server.New(t))
	_, over, _ := listening(t, db)
	server.Stop(t)
	if err := <-over; err == nil || !strings.Contains(err.Error(), db.server.name) {
		t.Errorf("listening ends with %v, want an error with the database", err)
	}
	server.Restart(t)
	heard, over, _ := listening(t, db)
	begin(t, db.DB, 0)
	hears(t, heard, journal.Key{Owner: "ada", Run: "run"})
	closeDB(t, db.DB)
	err := <-over
	assert.That(t, errors.Is(err, errClosed), "listening ends with %v, want errClosed", err)
}

func TestCloseTellsWhatIsStillToBeTold(t *testing.T) {
	dsn := pgtest.New(t)
	here, there := serverAt(t, dsn), serverAt(t, dsn)
	heard, _, _ := listening(t, there)
	for i := range 20 {
		assert.NoError(t, here.Begin(t.Context(), beginning(journal.Session{ID: fmt.Sprint(i), Owner: "ada"})))
	}
	closeDB(t, here.DB)
	hears(t, heard, journal.Key{Owner: "ada", Run: "run of 19"})
}
