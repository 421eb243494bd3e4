package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"go.uber.org/goleak"

	"sibyl/internal/journal"
)

func TestOpenMakesFoldersAndFileForTheOwnerOnly(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode there")
	}
	folder := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(folder, "sibyl.db")
	db := openAt(t, path)
	writeSomething(t, db)
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

func TestOpenTakesAnyFileName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "we?ird #1 100% &mode=ro ü.db")
	db := openAt(t, path)
	writeSomething(t, db)
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestEveryConnectionHasTheSettings(t *testing.T) {
	db := openAt(t, newPath(t))
	check := func(c *conn, queryOnly int64) {
		want := map[string]any{"journal_mode": "wal", "synchronous": int64(2), "foreign_keys": int64(1), "secure_delete": int64(1), "query_only": queryOnly}
		for pragma, want := range want {
			if got := value(t, c, "PRAGMA "+pragma)[0]; got != want {
				t.Errorf("%s is %v, want %v", pragma, got, want)
			}
		}
	}
	check(db.writer, 0)
	lendAll(t, db, mostReaders, func(c *conn) { check(c, 1) })
}

// lendAll calls do with so many readers, all of which are lent meanwhile.
func lendAll(t *testing.T, db *DB, n int, do func(*conn)) {
	t.Helper()
	if n == 0 {
		return
	}
	err := db.lend(t.Context(), func(c *conn) error {
		do(c)
		lendAll(t, db, n-1, do)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenRefusesADatabaseOfAnotherVersionAndLeavesItAlone(t *testing.T) {
	for version, want := range map[string]struct {
		kind error
		says string
	}{"9999": {ErrNewer, "update sibyl"}, "2": {ErrOlder, "--data"}} {
		path := newPath(t)
		db := openAt(t, path)
		execute(t, db, `UPDATE goose_db_version SET version_id = `+version+` WHERE version_id > 0`)
		closed(t, db)
		before := content(t, path)
		_, err := Open(t.Context(), path)
		if !errors.Is(err, want.kind) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "version "+version) ||
			!strings.Contains(err.Error(), want.says) {
			t.Errorf("error is %v, want %v with the file, its version and what to do", err, want.kind)
		}
		if content(t, path) != before {
			t.Error("the file was changed")
		}
	}
}

func TestOpenRefusesAnotherProgramsDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "other.db")
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `CREATE TABLE bookmark (url TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err = Open(t.Context(), path); !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v, want ErrForeign with the file", err)
	}
}

func TestOpenCompletesAMigrationThatACrashInterrupted(t *testing.T) {
	path := newPath(t)
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	// As goose leaves it between its own table and the first of ours.
	if _, err := pool.ExecContext(t.Context(), `
		CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
			is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
		INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	writeSomething(t, openAt(t, path))
}

func TestOpenBringsAnEarlierFileUpToDateAndKeepsWhatItHolds(t *testing.T) {
	path := newPath(t)
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	first, latest, err := versions()
	if err != nil || first == latest {
		t.Fatalf("migrations from %d to %d, error %v, want several", first, latest, err)
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, files)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `INSERT INTO session VALUES ('before', 'ada', 'oracle', 'kept', 0, 0)`); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			db, err := Open(t.Context(), path)
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if s, err := db.Session(t.Context(), "ada", "before"); err != nil || s.Title != "kept" {
				t.Errorf("the session is %+v, error %v", s, err)
			}
			if version, err := db.version(t.Context(), db.writer); err != nil || version != latest {
				t.Errorf("the version is %d, error %v, want %d", version, err, latest)
			}
			if err := db.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	all.Wait()
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	path := newPath(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			db, err := Open(t.Context(), path)
			if err != nil {
				t.Errorf("Open %d: %v", i, err)
				return
			}
			session := journal.Session{ID: fmt.Sprint(i), Owner: "ada"}
			if err := errors.Join(db.Begin(t.Context(), beginning(session)), db.Close()); err != nil {
				t.Errorf("use %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if sessions, err := openAt(t, path).Sessions(t.Context(), "ada", journal.SessionFilter{}); err != nil || len(sessions) != 8 {
		t.Errorf("%d sessions, error %v, want 8", len(sessions), err)
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := goleak.IgnoreCurrent()
	db := openAt(t, newPath(t))
	begin(t, db, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := db.Records(ctx, "ada", "run", 0); err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	goleak.VerifyNone(t, before)
}

func TestOpenStopsWhenItsContextDoes(t *testing.T) {
	path := newPath(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, path); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want context.Canceled", err)
	}
}

func TestOpenFailsWhereAFolderIsAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file, "sibyl.db")
	if _, err := Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v, want one that names %s", err, path)
	}
}

// writeSomething fails the test unless db takes a session and gives it back.
func writeSomething(t *testing.T, db *DB) {
	t.Helper()
	session := journal.Session{ID: "something", Owner: "ada"}
	if err := db.Begin(t.Context(), beginning(session)); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Session(t.Context(), "ada", "something"); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

func TestOpenToReadMakesNothingAndReadsWhatIsThere(t *testing.T) {
	path := newPath(t)
	if db, err := OpenToRead(t.Context(), path); err == nil {
		_ = db.Close()
		t.Error("a database that is not there was opened")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	begin(t, openAt(t, path), 3)
	db, err := OpenToRead(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if recs, err := db.Records(t.Context(), "ada", "run", 0); err != nil || len(recs) != 3 {
		t.Errorf("%d records, %v", len(recs), err)
	}
	if err := db.DeleteSession(t.Context(), "ada", "session", journal.ByPerson, time.Now()); !errors.Is(err, journal.ErrReadOnly) {
		t.Errorf("a write: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
