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

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/user"
	"sibyl/internal/store/pgtest"
)

// inFile is the file of a database.
func inFile(t testing.TB, db *DB) *file {
	t.Helper()
	f, ok := db.dialect.(*file)
	assert.Require(t, ok, "it is no file")
	return f
}

// beside executes statements on a file that no store has open.
func beside(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool := assert.Must(sql.Open("sqlite", path))(t)
	for _, s := range statements {
		assert.Must(pool.ExecContext(t.Context(), s))(t)
	}
	assert.NoError(t, pool.Close())
}

// pragma sets something of the connection that writes, beside any transaction.
func pragma(t *testing.T, db *DB, statement string) {
	t.Helper()
	assert.Must(inFile(t, db).writer.ExecContext(t.Context(), statement))(t)
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
		info := assert.Must(os.Stat(name))(t)
		got := info.Mode().Perm()
		assert.That(t, got == want, "%s has mode %o, want %o", name, got, want)
	}
}

func TestEveryConnectionHasTheSettings(t *testing.T) {
	f := inFile(t, openAt(t, newPath(t)))
	for pool, queryOnly := range map[*sql.DB]string{f.writer: "0", f.readers: "1"} {
		want := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "secure_delete": "1",
			"query_only": queryOnly}
		for pragma, want := range want {
			var got string
			err := pool.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got)
			assert.That(t, err == nil && got == want, "%s is %v, error %v, want %v", pragma, got, err, want)
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
			assert.That(t, errors.Is(err, want.kind) && strings.Contains(err.Error(), db.databaseName()) &&
				strings.Contains(err.Error(), "version "+version) && strings.Contains(err.Error(), want.says),
				"error is %v, want %v with the database, its version and what to do", err, want.kind)
			got := one[string](t, db, `SELECT CAST(max(version_id) AS text) FROM `+versionsOf(db))
			assert.That(t, got == version, "the version is %s by now", got)
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
			assert.NoError(t, os.WriteFile(path, damage([]byte(content(t, path))), 0o600))
			before := content(t, path)
			db, err := OpenFile(t.Context(), path)
			if err == nil {
				_ = db.Close()
			}
			assert.That(t, errors.Is(err, journal.ErrCorrupt) && strings.Contains(err.Error(), path),
				"error is %v, want ErrCorrupt with the file", err)
			assert.That(t, content(t, path) == before, "the file was changed")
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
			assert.Must(db.Now(t.Context()))(t)
			assert.NoError(t, away(path))
			_, now := db.Now(t.Context())
			for what, err := range map[string]error{"the time": now, "a write": db.RevokeUser(t.Context(), "ada",
				time.Now())} {
				assert.That(t, errors.Is(err, journal.ErrUnreachable) && strings.Contains(err.Error(), path), "%s: %v", what, err)
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
	assert.That(t, errors.Is(err, journal.ErrFull) && strings.Contains(err.Error(), db.databaseName()),
		"error is %v, want ErrFull with the file", err)
	run := journal.Run{ID: "run2", Session: "session", Owner: "ada"}
	blob := bytes.Repeat([]byte("x"), 100_000)
	err = db.Begin(t.Context(), journal.Beginning{Run: run, Blobs: [][]byte{blob}})
	assert.That(t, errors.Is(err, journal.ErrFull), "Begin: %v, want ErrFull", err)
	_, err = db.Run(t.Context(), "ada", "run2")
	assert.That(t, errors.Is(err, journal.ErrNotFound), "Run: %v, want ErrNotFound", err)
	recs, err := db.Records(t.Context(), "ada", "run", 0)
	assert.That(t, err == nil && int64(len(recs)) == next, "%d records, error %v, want %d", len(recs), err, next)
	limit(1_000_000)
	err = db.Append(t.Context(), "ada", "run", batch(), nil)
	assert.That(t, err == nil, "Append with space again: %v", err)
}

// lock holds a write transaction on the file of db, as another process would, until the test ends or unlock is called.
func lock(t *testing.T, db *DB) (unlock func()) {
	t.Helper()
	pool := assert.Must(sql.Open("sqlite", inFile(t, db).dsn()+"&_txlock=immediate"))(t)
	tx := assert.Must(pool.BeginTx(context.WithoutCancel(t.Context()), nil))(t)
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
		tx := assert.Must(conn.Begin(t.Context()))(t)
		assert.Must(tx.Exec(t.Context(), `SELECT FROM run WHERE id = 'run' FOR UPDATE`))(t)
		test(t, db, func() { awaitWaiter(t, conn) }, func() { assert.Nil(t, tx.Rollback(t.Context())) })
	})
}

func TestWriteFailsAsLockedAfterItsTimeoutAndReadsGoOn(t *testing.T) {
	const timeout = 200 * time.Millisecond
	locked(t, timeout, func(t *testing.T, db *DB, _, unlock func()) {
		recs := []journal.Record{{Seq: 1}}
		start := time.Now()
		err := db.Append(t.Context(), "ada", "run", recs, nil)
		waited := time.Since(start)
		assert.That(t, waited >= timeout, "waited %v, want %v", waited, timeout)
		assert.That(t, errors.Is(err, journal.ErrLocked) && strings.Contains(err.Error(), db.databaseName()),
			"error is %v, want ErrLocked with the database", err)
		found, err := db.Records(t.Context(), "ada", "run", 0)
		assert.That(t, err == nil && len(found) == 1, "read under the lock: %d records, error %v, want 1", len(found), err)
		unlock()
		err = db.Append(t.Context(), "ada", "run", recs, nil)
		assert.That(t, err == nil, "Append after the lock: %v", err)
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
				assert.That(t, errors.Is(err, journal.ErrLocked), "error is %v, want ErrLocked", err)
			})
		}
		all.Wait()
		least = min(least, time.Since(start))
	}
	assert.That(t, least <= writers*timeout/2, "waited %v in all, want not much more than %v", least, timeout)
}

func TestWaitingForALockEndsWithTheContextOrTheLock(t *testing.T) {
	locked(t, time.Hour, func(t *testing.T, db *DB, waits, unlock func()) {
		errs := make(chan error)
		write := func(ctx context.Context) { errs <- db.Append(ctx, "ada", "run", []journal.Record{{Seq: 1}}, nil) }
		ctx, cancel := context.WithCancel(t.Context())
		go write(ctx)
		waits()
		cancel()
		err := <-errs
		assert.That(t, errors.Is(err, context.Canceled), "error is %v, want context.Canceled", err)
		go write(t.Context())
		waits()
		unlock()
		err = <-errs
		assert.Nil(t, err)
	})
}

func TestOpenFailsWhereAFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	assert.NoError(t, os.WriteFile(file, nil, 0o600))
	path := filepath.Join(file, "sibyl.db")
	_, err := OpenFile(t.Context(), path)
	assert.That(t, err != nil && strings.Contains(err.Error(), path), "error is %v, want one that names %s", err, path)
}

func TestFolderIsNoDatabaseAndItsDiskIsNotBlamed(t *testing.T) {
	_, err := OpenFile(t.Context(), t.TempDir())
	assert.That(t, err != nil && strings.Contains(err.Error(), "it is no file (name one"),
		"a folder is opened, or refused with %v", err)
}

func TestOpenToReadMakesNothingAndReadsWhatIsThere(t *testing.T) {
	path := newPath(t)
	if db, err := OpenFileToRead(t.Context(), path); err == nil {
		_ = db.Close()
		t.Error("a database that is not there was opened")
	}
	_, err := os.Stat(path)
	assert.That(t, errors.Is(err, os.ErrNotExist), "it was made: %v", err)
	begin(t, openAt(t, path), 3)
	db := assert.Must(OpenFileToRead(t.Context(), path))(t)
	recs, err := db.Records(t.Context(), "ada", "run", 0)
	assert.That(t, err == nil && len(recs) == 3, "%d records, %v", len(recs), err)
	assert.ErrorIsf(t, db.DeleteSession(t.Context(), "ada", "session", journal.ByPerson, time.Now()), journal.ErrReadOnly,
		"a write")
	assert.Nil(t, db.Close())
}

func TestOpenStopsWhenItsContextDoes(t *testing.T) {
	both(t, func(t *testing.T, place func(testing.TB) string) {
		ctx, cancel := context.WithCancel(t.Context())
		address := place(t)
		cancel()
		_, err := opened(ctx, address)
		assert.That(t, errors.Is(err, context.Canceled), "error is %v, want context.Canceled", err)
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
					s, err := db.Session(t.Context(), "ada", "before")
					assert.That(t, len(statements) == 0 || (err == nil && s.Title == "kept"), "the session is %+v, error %v", s, err)
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
	all := assert.Must(migrationsOf("sqlite"))(t)
	return all[1].statements
}

func TestUsersAndTokensAreThereAfterReopeningAndNoSecretIs(t *testing.T) {
	path := newPath(t)
	db := openAt(t, path)
	token, secret, err := user.New(db, time.Now).Add(t.Context(), "ada", user.Read, time.Hour)
	assert.NoError(t, err)
	closeDB(t, db)
	file := content(t, path)
	assert.That(t, !strings.Contains(file, strings.TrimPrefix(secret, user.Prefix)) && strings.Contains(file, token.ID),
		"the file holds the secret, or not even the token")
	found, err := user.New(openAt(t, path), time.Now).Check(t.Context(), secret)
	assert.That(t, err == nil && found == token, "the secret opens %+v, error %v, want %+v", found, err, token)
}
