package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/journal"
)

func TestDamagedFileIsCorruptAndNamed(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"garbage header":    func(b []byte) []byte { return append(bytes.Repeat([]byte("garbage "), 16), b[128:]...) },
		"not SQLite at all": func([]byte) []byte { return []byte(strings.Repeat("Dear diary. ", 1000)) },
		"a few bytes":       func(b []byte) []byte { return b[:100] },
		"half":              func(b []byte) []byte { return b[:len(b)/2/4096*4096] },
		"half a page":       func(b []byte) []byte { return b[:2048] },
		"schema overwritten": func(b []byte) []byte {
			return append(append(b[:100:100], bytes.Repeat([]byte{0xee}, 3996)...), b[4096:]...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			db := openAt(t, path)
			writeSomething(t, db)
			closed(t, db)
			if err := os.WriteFile(path, damage([]byte(content(t, path))), 0o600); err != nil {
				t.Fatal(err)
			}
			before := content(t, path)
			db, err := Open(t.Context(), path)
			if err == nil {
				_ = db.Close()
			}
			if !errors.Is(err, journal.ErrCorrupt) || !strings.Contains(err.Error(), path) {
				t.Errorf("error is %v, want ErrCorrupt with the file", err)
			}
			if content(t, path) != before {
				t.Error("the file was changed")
			}
		})
	}
}

func TestDamageAfterOpeningIsCorrupt(t *testing.T) {
	db := openAt(t, newPath(t))
	blob := []byte("tree")
	begin(t, db, 3, blob)
	for _, damage := range []string{`DELETE FROM record WHERE key & 0xff = 1`, `UPDATE blob_content SET content = x'00'`} {
		execute(t, db, damage)
	}
	if recs, err := db.Records(t.Context(), "ada", "run", 0); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("Records with a gap: %v, %v, want ErrCorrupt", recs, err)
	}
	if got, err := db.Blob(t.Context(), "ada", journal.BlobHash(blob)); !errors.Is(err, journal.ErrCorrupt) {
		t.Errorf("Blob with another content: %q, %v, want ErrCorrupt", got, err)
	}
}

func TestNothingIsWrittenToAFileThatWasRemovedOrReplaced(t *testing.T) {
	for name, away := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte(content(t, path)), 0o600), os.Rename(path+".new", path))
		},
		"with its folder": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "kept", "sibyl.db")
			db := openAt(t, path)
			writeSomething(t, db)
			if _, err := db.Now(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := away(path); err != nil {
				t.Fatal(err)
			}
			_, now := db.Now(t.Context())
			for what, err := range map[string]error{"the time": now, "a write": db.RevokeUser(t.Context(), "ada", time.Now())} {
				if !errors.Is(err, journal.ErrUnreachable) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

func TestFullDiskIsFullAndNothingIsHalfWritten(t *testing.T) {
	db := openAt(t, newPath(t))
	begin(t, db, 1)
	limit := func(pages int) {
		t.Helper()
		execute(t, db, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
	}
	limit(int(value(t, db.writer, `PRAGMA page_count`).int(0)) + 10)
	next := int64(1)
	batch := func() []journal.Record {
		recs := make([]journal.Record, 3)
		for i := range recs {
			recs[i] = journal.Record{Seq: next + int64(i), Data: bytes.Repeat([]byte("x"), 5000)}
		}
		return recs
	}
	var err error
	for err == nil {
		if err = db.Append(t.Context(), "ada", "run", batch(), nil); err == nil {
			next += 3
		}
	}
	if !errors.Is(err, journal.ErrFull) || !strings.Contains(err.Error(), db.path) {
		t.Errorf("error is %v, want ErrFull with the file", err)
	}
	run := journal.Run{ID: "run2", Session: "session", Owner: "ada"}
	blob := bytes.Repeat([]byte("x"), 100_000)
	if err := db.Begin(t.Context(), journal.Beginning{Run: run, Blobs: [][]byte{blob}}); !errors.Is(err, journal.ErrFull) {
		t.Errorf("Begin: %v, want ErrFull", err)
	}
	if _, err := db.Run(t.Context(), "ada", "run2"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("Run: %v, want ErrNotFound", err)
	}
	if recs, err := db.Records(t.Context(), "ada", "run", 0); err != nil || int64(len(recs)) != next {
		t.Errorf("%d records, error %v, want %d", len(recs), err, next)
	}
	limit(1_000_000)
	if err := db.Append(t.Context(), "ada", "run", batch(), nil); err != nil {
		t.Errorf("Append with space again: %v", err)
	}
}

// lock holds a write transaction on the file of db, as another process would, until the test ends or unlock is called.
func lock(t *testing.T, db *DB) (unlock func()) {
	t.Helper()
	pool, err := sql.Open("sqlite", db.dsn())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := pool.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err != nil {
		t.Fatal(err)
	}
	unlock = func() {
		_ = tx.Rollback()
		_ = pool.Close()
	}
	t.Cleanup(unlock)
	return unlock
}

func TestWriteFailsAsLockedAfterTheBusyTimeoutAndReadsGoOn(t *testing.T) {
	const timeout = 120 * time.Millisecond
	db := openAt(t, newPath(t), WithBusyTimeout(timeout))
	begin(t, db, 1)
	unlock := lock(t, db)
	recs := []journal.Record{{Seq: 1}}
	start := time.Now()
	err := db.Append(t.Context(), "ada", "run", recs, nil)
	waited := time.Since(start)
	if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), db.path) {
		t.Errorf("error is %v, want ErrLocked with the file", err)
	}
	if waited < timeout || waited > 20*timeout {
		t.Errorf("waited %v, want about %v", waited, timeout)
	}
	if found, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(found) != 1 {
		t.Errorf("read under the lock: %d records, error %v, want 1", len(found), err)
	}
	unlock()
	if err := db.Append(t.Context(), "ada", "run", recs, nil); err != nil {
		t.Errorf("Append after the lock: %v", err)
	}
}

func TestWritersThatQueueBehindALockDoNotWaitOneAfterTheOther(t *testing.T) {
	const writers, timeout = 10, 500 * time.Millisecond
	db := openAt(t, newPath(t), WithBusyTimeout(timeout))
	begin(t, db, 1)
	lock(t, db)
	start := time.Now()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil)
			if !errors.Is(err, journal.ErrLocked) {
				t.Errorf("error is %v, want ErrLocked", err)
			}
		})
	}
	all.Wait()
	if waited := time.Since(start); waited > writers*timeout/2 {
		t.Errorf("waited %v in all, want not much more than %v", waited, timeout)
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	db := openAt(t, newPath(t), WithBusyTimeout(time.Hour))
	begin(t, db, 1)
	lock(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan error)
	go func() { errs <- db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}}, nil) }()
	awaitWriter(db)
	cancel()
	if err := <-errs; !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestWaitingForAnotherWriterEndsWithTheContext(t *testing.T) {
	db := openAt(t, newPath(t))
	begin(t, db, 1)
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan struct{})
	errs := make(chan error)
	err := db.write(t.Context(), func(tx) error {
		go func() {
			errs <- db.Append(watched{ctx, waiting}, "ada", "run", []journal.Record{{Seq: 1}}, nil)
		}()
		<-waiting
		cancel()
		return <-errs
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

// watched is a context that says when somebody waits for its end, which may be done once.
type watched struct {
	context.Context
	waiting chan struct{}
}

func (w watched) Done() <-chan struct{} {
	close(w.waiting)
	return w.Context.Done()
}

// awaitWriter returns when somebody holds the token to write.
func awaitWriter(db *DB) {
	for len(db.writing) == 0 {
		runtime.Gosched()
	}
}

func TestWriteGoesOnAsSoonAsALockIsGone(t *testing.T) {
	db := openAt(t, newPath(t), WithBusyTimeout(time.Hour))
	begin(t, db, 1)
	unlock := lock(t, db)
	errs := make(chan error)
	go func() { errs <- db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil) }()
	awaitWriter(db)
	unlock()
	if err := <-errs; err != nil {
		t.Error(err)
	}
}

func TestPanicInATransactionLeavesNothingAndFreesTheTurn(t *testing.T) {
	db := openAt(t, newPath(t))
	begin(t, db, 1)
	func() {
		defer func() { _ = recover() }()
		_ = db.write(t.Context(), func(t tx) error {
			if err := t.append("ada", "run", []journal.Record{{Seq: 1}}); err != nil {
				return err
			}
			panic("stop")
		})
	}()
	if err := db.Append(t.Context(), "ada", "run", []journal.Record{{Seq: 1}}, nil); err != nil {
		t.Errorf("Append after a panic: %v", err)
	}
}

// begin makes a session with run "run" of ada's, with n records and blobs.
func begin(t testing.TB, db *DB, n int, blobs ...[]byte) {
	t.Helper()
	recs := make([]journal.Record, n)
	for i := range recs {
		recs[i] = journal.Record{Seq: int64(i), Kind: "begun"}
	}
	b := beginning(journal.Session{ID: "session", Owner: "ada"})
	b.Run.ID, b.Blobs, b.Records = "run", blobs, recs
	if err := db.Begin(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// beginning is that of a session with one run, which began when the session was updated.
func beginning(s journal.Session) journal.Beginning {
	return journal.Beginning{Run: journal.Run{ID: "run of " + s.ID, Session: s.ID, Owner: s.Owner, StartedAt: s.UpdatedAt}, Session: &s}
}
