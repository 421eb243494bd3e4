package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

func TestDamagedTableIsCorruptAndNamed(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"overwritten": func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("garbage "), 1024), 0o600)
		},
		"missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Start(t, pgtest.Options{})
			db := serverAt(t, server.New(t))
			begin(t, db.DB, 3)
			file := one[string](t, db.DB,
				`SELECT current_setting('data_directory') || '/' || pg_relation_filepath('record')`)
			server.Stop(t)
			assert.NoError(t, damage(filepath.FromSlash(file)))
			server.Restart(t)
			_, err := db.Records(t.Context(), "ada", "run", 0)
			assert.That(t, errors.Is(err, journal.ErrCorrupt) && strings.Contains(err.Error(), db.server.name),
				"error is %v, want ErrCorrupt with the database", err)
		})
	}
}

// fail has a table refuse rows with an error of a code, at once or when they are committed, until the function it
// returns is called.
func fail(t *testing.T, db *Server, table, code string, atCommit bool) (mend func()) {
	t.Helper()
	execute(t, db.DB, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no more' USING ERRCODE = '`+code+`'; END $$`)
	deferred := "INITIALLY IMMEDIATE"
	if atCommit {
		deferred = "INITIALLY DEFERRED"
	}
	execute(t, db.DB, `CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON `+table+` DEFERRABLE `+deferred+
		` FOR EACH ROW EXECUTE FUNCTION fail()`)
	return func() { execute(t, db.DB, `DROP FUNCTION fail CASCADE`) }
}

func TestFullDiskOfAServerIsFullAndNothingIsHalfWritten(t *testing.T) {
	for name, atCommit := range map[string]bool{"while it is written": false, "while it is committed": true} {
		t.Run(name, func(t *testing.T) {
			db := serverAt(t, pgtest.New(t))
			begin(t, db.DB, 1)
			mend := fail(t, db, "record", diskFull, atCommit)
			end := &journal.End{Status: journal.Done, At: time.UnixMilli(9)}
			err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, end)
			assert.That(t, errors.Is(err, journal.ErrFull) && strings.Contains(err.Error(), db.server.name),
				"error is %v, want ErrFull with the database", err)
			run := journal.Run{ID: "run2", Session: "session", Owner: "ada"}
			b := journal.Beginning{Run: run, Blobs: [][]byte{[]byte("lost")}, Records: []journal.Record{{}}}
			err = db.Begin(t.Context(), b)
			assert.That(t, errors.Is(err, journal.ErrFull), "Begin: %v, want ErrFull", err)
			_, err = db.Run(t.Context(), "ada", "run2")
			assert.That(t, errors.Is(err, journal.ErrNotFound), "Run: %v, want ErrNotFound", err)
			got, err := db.Run(t.Context(), "ada", "run")
			assert.That(t, err == nil && got.Records == 1 && got.Status == journal.Running,
				"the run is %+v, error %v, want one that runs and has a record", got, err)
			mend()
			err = errors.Join(db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, end),
				db.Begin(t.Context(), b))
			assert.That(t, err == nil, "with space again: %v", err)
			sound(t, db.DB)
		})
	}
}

func TestDatabaseThatOnlyReadsIsReadAndNotWritten(t *testing.T) {
	dsn := pgtest.New(t)
	begin(t, serverAt(t, dsn).DB, 1)
	db := serverAt(t, dsn+"&default_transaction_read_only=on")
	if recs, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(recs) != 1 {
		t.Errorf("%d records, error %v, want 1", len(recs), err)
	}
	err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil)
	assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), db.server.name),
		"error is %v, want ErrReadOnly with the database", err)
	_, err = OpenServer(t.Context(), pgtest.New(t)+"&default_transaction_read_only=on")
	assert.That(t, errors.Is(err, journal.ErrReadOnly), "opening a new one: %v, want ErrReadOnly", err)
}

// The rules of the journal refuse such text before. This is what is said if some get past them.
func TestTextThatTheServerRefusesIsInvalid(t *testing.T) {
	db := serverAt(t, pgtest.New(t))
	for _, text := range []string{"a\x00b", "cut \xe2\x82"} {
		err := db.write(t.Context(), func(t *tx) error {
			t.run(`SELECT unnest($1::text[])`, []string{text})
			return nil
		})
		assert.That(t, errors.Is(err, journal.ErrInvalid) && strings.Contains(err.Error(), "UTF-8"),
			"error is %v, want ErrInvalid", err)
	}
}

func TestWaitingForAConnectionEndsWithTheContext(t *testing.T) {
	dsn := pgtest.New(t)
	db := serverAt(t, dsn+"&pool_max_conns=1")
	conn := assert.Must(db.server.acquire(t.Context()))(t)
	defer conn.Release()
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { errs <- db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}}, nil) }()
	cancel()
	err := <-errs
	assert.That(t, errors.Is(err, context.Canceled), "error is %v, want context.Canceled", err)
}

func TestStatementThatTakesTooLongIsEndedAndSaysSo(t *testing.T) {
	db := serverAt(t, pgtest.New(t)+"&statement_timeout=3s")
	begin(t, db.DB, 1)
	_, err := readRows(t.Context(), db.DB, scanValue[string], `SELECT pg_sleep(60)::text`)
	assert.That(t, serverCode(err) == queryCanceled && strings.Contains(err.Error(), "overloaded"),
		"error is %v, want one that tells of the time", err)
}

// A process that is stopped in the middle of a transaction must not keep others from the run for longer than they wait.
func TestWriterThatStandsStillInATransactionIsLetGo(t *testing.T) {
	dsn := pgtest.New(t)
	still, other := serverAt(t, dsn, WithLockTimeout(500*time.Millisecond)),
		serverAt(t, dsn, WithLockTimeout(time.Minute))
	begin(t, other.DB, 1)
	first := true
	err := still.write(t.Context(), func(tx *tx) error {
		tx.appendRecords("ada", "run", []journal.Record{{Seq: 1, Kind: "still"}})
		if err := tx.send(); err != nil || !first {
			return err
		}
		first = false
		return other.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1, Kind: "other"}}, nil)
	})
	assert.That(t, errors.Is(err, errNotAppended),
		"the one that stood still gets %v, want to be told that the other was faster", err)
	recs, err := other.Records(t.Context(), "ada", "run", 1)
	assert.That(t, err == nil && len(recs) == 1 && recs[0].Kind == "other",
		"the records are %+v, error %v, want the other's", recs, err)
}

func TestPanicInATransactionLeavesNothing(t *testing.T) {
	db := serverAt(t, pgtest.New(t))
	begin(t, db.DB, 1)
	func() {
		defer func() { _ = recover() }()
		_ = db.write(t.Context(), func(tx *tx) error {
			tx.appendRecords("ada", "run", []journal.Record{{Seq: 1}})
			assert.Nil(t, tx.send())
			panic("stop")
		})
	}()
	assert.Nilf(t, db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil), "Append after a panic")
}

// Writes of every kind on few sessions, each in its order of locks: none may wait for itself, and what is kept twice
// must agree.
func TestWritesThatMeetWaitForEachOtherAndNotForThemselves(t *testing.T) {
	const writers, rounds = 12, 25
	dsn := pgtest.New(t)
	db, other := serverAt(t, dsn), serverAt(t, dsn)
	now := time.UnixMilli(1_000_000)
	blobs := [][]byte{[]byte("a"), []byte("b"), []byte("c"), []byte("d")}
	var all sync.WaitGroup
	for writer := range writers {
		all.Go(func() {
			for round := range rounds {
				m := meeting{t: t, db: []*Server{db, other}[round%2], now: now, writer: writer, round: round,
					blobs: blobs}
				err := m.whole()
				assert.That(t, err == nil || expected(err), "writer %d, round %d: %v", writer, round, err)
			}
		})
	}
	all.Wait()
	sound(t, db.DB)
	n := one[int64](t, db.DB, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
	assert.That(t, n == 0, "%d times writes waited for each other in a circle", n)
}

// expected says that a write was refused as writes that meet are.
func expected(err error) bool {
	for _, kind := range []error{journal.ErrNotFound, journal.ErrConflict, journal.ErrEnded, journal.ErrLeased,
		journal.ErrExists, journal.ErrClaimed, journal.ErrConsumed} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
