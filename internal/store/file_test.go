package store

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
	"sibyl/internal/server/user"
	"sibyl/internal/store/pgtest"
)

// inFile is the file of a database.
func inFile(t testing.TB, db *DB) *file {
	t.Helper()
	f, ok := db.dialect.(*file)
	if !ok {
		t.Fatal("it is no file")
	}
	return f
}

// beside executes statements on a file that no store has open.
func beside(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := pool.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
}

// pragma sets something of the connection that writes, beside any transaction.
func pragma(t *testing.T, db *DB, statement string) {
	t.Helper()
	if _, err := inFile(t, db).writer.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestOpenMakesFoldersAndFileForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode there")
	}
	folder := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(folder, "we?ird #1 100% &mode=ro ü.db")
	begin(t, openAt(t, path), 1)
	for name, want := range map[string]os.FileMode{
		filepath.Dir(folder): 0o700, folder: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestEveryConnectionHasTheSettings(t *testing.T) {
	f := inFile(t, openAt(t, newPath(t)))
	for pool, queryOnly := range map[*sql.DB]string{f.writer: "0", f.readers: "1"} {
		want := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1",
			"query_only": queryOnly}
		for pragma, want := range want {
			var got string
			if err := pool.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %v, error %v, want %v", pragma, got, err, want)
			}
		}
	}
}

func TestOpenRefusesADatabaseOfAnotherVersionAndLeavesItAlone(t *testing.T) {
	for version, want := range map[string]struct {
		kind error
		says string
	}{"9999": {ErrNewer, "update sibyl"}, "2": {ErrOlder, "--data"}} {
		both(t, func(t *testing.T, place func(testing.TB) string) {
			address := place(t)
			db := openedAt(t, address)
			execute(t, db, `UPDATE `+versionsOf(db)+` SET version_id = `+version+` WHERE version_id > 0`)
			_, err := opened(t.Context(), address)
			if !errors.Is(err, want.kind) || !strings.Contains(err.Error(), db.databaseName()) ||
				!strings.Contains(err.Error(), "version "+version) ||
				!strings.Contains(err.Error(), want.says) {
				t.Errorf("error is %v, want %v with the database, its version and what to do", err, want.kind)
			}
			if got := one[string](t, db, `SELECT CAST(max(version_id) AS text) FROM `+versionsOf(db)); got != version {
				t.Errorf("the version is %s by now", got)
			}
		})
	}
}

func versionsOf(db *DB) string {
	if _, ok := db.dialect.(*file); ok {
		return fileVersions
	}
	return serverVersions
}

func TestOpenRefusesAnotherProgramsFile(t *testing.T) {
	path := newPath(t)
	beside(t, path, `CREATE TABLE bookmark (url TEXT)`)
	if _, err := OpenFile(t.Context(), path); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v, want ErrForeign with the file", err)
	}
}

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
			begin(t, db, 1)
			closeDB(t, db)
			if err := os.WriteFile(path, damage([]byte(content(t, path))), 0o600); err != nil {
				t.Fatal(err)
			}
			before := content(t, path)
			db, err := OpenFile(t.Context(), path)
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
			begin(t, db, 1)
			if _, err := db.Now(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := away(path); err != nil {
				t.Fatal(err)
			}
			_, now := db.Now(t.Context())
			for what, err := range map[string]error{"the time": now, "a write": db.RevokeUser(t.Context(), "ada",
				time.Now())} {
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
		pragma(t, db, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages))
	}
	limit(one[int](t, db, `SELECT page_count FROM pragma_page_count`) + 10)
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
	if !errors.Is(err, journal.ErrFull) || !strings.Contains(err.Error(), db.databaseName()) {
		t.Errorf("error is %v, want ErrFull with the file", err)
	}
	run := journal.Run{ID: "run2", Session: "session", Owner: "ada"}
	blob := bytes.Repeat([]byte("x"), 100_000)
	if err := db.Begin(t.Context(), journal.Beginning{Run: run, Blobs: [][]byte{blob}}); !errors.Is(err,
		journal.ErrFull) {
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
	pool, err := sql.Open("sqlite", inFile(t, db).dsn()+"&_txlock=immediate")
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

// locked passes a test on a database of each kind in which another process holds a run, whose writes wait so long for
// it. waits returns once a write does.
func locked(t *testing.T, timeout time.Duration, test func(t *testing.T, db *DB, waits, unlock func())) {
	t.Run("SQLite", func(t *testing.T) {
		db := openAt(t, newPath(t), WithBusyTimeout(timeout))
		begin(t, db, 1)
		test(t, db, func() {}, lock(t, db))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		dsn := pgtest.New(t)
		db := serverAt(t, dsn, WithLockTimeout(timeout)).DB
		begin(t, db, 1)
		conn := connect(t, dsn)
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), `SELECT FROM run WHERE id = 'run' FOR UPDATE`); err != nil {
			t.Fatal(err)
		}
		test(t, db, func() { awaitWaiter(t, conn) }, func() {
			if err := tx.Rollback(t.Context()); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestWriteFailsAsLockedAfterItsTimeoutAndReadsGoOn(t *testing.T) {
	const timeout = 200 * time.Millisecond
	locked(t, timeout, func(t *testing.T, db *DB, _, unlock func()) {
		recs := []journal.Record{{Seq: 1}}
		start := time.Now()
		err := db.Append(t.Context(), "ada", "run", recs, nil)
		if waited := time.Since(start); waited < timeout {
			t.Errorf("waited %v, want %v", waited, timeout)
		}
		if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(), db.databaseName()) {
			t.Errorf("error is %v, want ErrLocked with the database", err)
		}
		if found, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(found) != 1 {
			t.Errorf("read under the lock: %d records, error %v, want 1", len(found), err)
		}
		unlock()
		if err := db.Append(t.Context(), "ada", "run", recs, nil); err != nil {
			t.Errorf("Append after the lock: %v", err)
		}
	})
}

func TestWritersThatQueueBehindALockDoNotWaitOneAfterTheOther(t *testing.T) {
	const writers, timeout = 10, 500 * time.Millisecond
	db := openAt(t, newPath(t), WithBusyTimeout(timeout))
	begin(t, db, 1)
	lock(t, db)
	least := time.Hour // of some rounds: a busy machine makes one of them longer, and none shorter
	for round := 0; round < 4 && least > writers*timeout/2; round++ {
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
		least = min(least, time.Since(start))
	}
	if least > writers*timeout/2 {
		t.Errorf("waited %v in all, want not much more than %v", least, timeout)
	}
}

func TestWaitingForALockEndsWithTheContextOrTheLock(t *testing.T) {
	locked(t, time.Hour, func(t *testing.T, db *DB, waits, unlock func()) {
		errs := make(chan error)
		write := func(ctx context.Context) { errs <- db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}}, nil) }
		ctx, cancel := context.WithCancel(t.Context())
		go write(ctx)
		waits()
		cancel()
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want context.Canceled", err)
		}
		go write(t.Context())
		waits()
		unlock()
		if err := <-errs; err != nil {
			t.Error(err)
		}
	})
}

func TestOpenFailsWhereAFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file, "sibyl.db")
	if _, err := OpenFile(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v, want one that names %s", err, path)
	}
}

func TestFolderIsNoDatabaseAndItsDiskIsNotBlamed(t *testing.T) {
	_, err := OpenFile(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "it is no file (name one") {
		t.Errorf("a folder is opened, or refused with %v", err)
	}
}

func TestOpenToReadMakesNothingAndReadsWhatIsThere(t *testing.T) {
	path := newPath(t)
	if db, err := OpenFileToRead(t.Context(), path); err == nil {
		_ = db.Close()
		t.Error("a database that is not there was opened")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	begin(t, openAt(t, path), 3)
	db, err := OpenFileToRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if recs, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(recs) != 3 {
		t.Errorf("%d records, %v", len(recs), err)
	}
	if err := db.DeleteSession(t.Context(), "ada", "session", journal.ByPerson, time.Now()); !errors.Is(err,
		journal.ErrReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpenStopsWhenItsContextDoes(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		ctx, cancel := context.WithCancel(t.Context())
		address := place(t)
		cancel()
		if _, err := opened(ctx, address); !errors.Is(err, context.Canceled) {
			t.Errorf("error is %v, want context.Canceled", err)
		}
	})
}

func TestOpenBringsAnEarlierFileUpToDateAndKeepsWhatItHolds(t *testing.T) {
	for name, statements := range map[string][]string{
		// As the goose library of earlier builds leaves it, which was killed between its own table and the first of
		// ours.
		"without tables": {},
		"of the first version": {oldest(t), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (3, 1)`,
			`INSERT INTO session VALUES ('before', 'ada', 'oracle', 'kept', 0, 0)`},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			beside(t, path, append([]string{`
				CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
					is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
				INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`}, statements...)...)
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					db, err := OpenFile(t.Context(), path)
					if err != nil {
						t.Errorf("Open: %v", err)
						return
					}
					if s, err := db.Session(t.Context(), "ada", "before"); len(statements) > 0 &&
						(err != nil || s.Title != "kept") {
						t.Errorf("the session is %+v, error %v", s, err)
					}
					closeDB(t, db)
				})
			}
			all.Wait()
			begin(t, openAt(t, path), 1)
		})
	}
}

// oldest are the statements of the first migration.
func oldest(t *testing.T) string {
	t.Helper()
	all, err := migrationsOf("sqlite")
	if err != nil {
		t.Fatal(err)
	}
	return all[1].statements
}

func TestUsersAndTokensAreThereAfterReopeningAndNoSecretIs(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	token, secret, err := user.New(db, time.Now).Add(t.Context(), "ada", user.Read, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	closeDB(t, db)
	if file := content(t, path); strings.Contains(file, strings.TrimPrefix(secret, user.Prefix)) ||
		!strings.Contains(file, token.ID) {
		t.Error("the file holds the secret, or not even the token")
	}
	found, err := user.New(openAt(t, path), time.Now).Check(t.Context(), secret)
	if err != nil || found != token {
		t.Errorf("the secret opens %+v, error %v, want %+v", found, err, token)
	}
}
