// Package teststore is the database that tests of other rooms run on: an SQLite file that does not wait for the disk,
// and with SIBYL_TEST_STORE=postgres a database on a PostgreSQL server. All that they show must hold on each.
//
// It works in a bubble of synctest: a clock that is not real stands still while a database is asked something.
package teststore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/server/user"
	"sibyl/internal/store"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

// Env names the store.
const Env = "SIBYL_TEST_STORE"

// Store is all that a database keeps.
type Store interface {
	journal.Store
	user.Store
	task.Store
	node.Registry
}

// Suite is all tests of a process.
type Suite struct{ tests interface{ Run() int } }

// Main returns the tests of m, for a TestMain. They begin when the database server runs, if they need one: in a bubble
// none can be started.
func Main(m interface{ Run() int }) Suite {
	if os.Getenv(Env) == "postgres" {
		return Suite{pgtest.Main(m)}
	}
	return Suite{m}
}

// Run passes the tests.
func (s Suite) Run() int {
	if os.Getenv(Env) == "postgres" {
		if _, err := pgtest.Shared(context.Background()); err != nil {
			fmt.Println(err)
			return 1
		}
	}
	return s.tests.Run()
}

// Empty is a store with nothing in it, which is closed after the test.
func Empty(tb testing.TB) Store {
	tb.Helper()
	var db Store
	var err error
	switch name := os.Getenv(Env); name {
	case "", "sqlite":
		db, err = store.OpenFile(tb.Context(), newDatabaseFile(tb), store.Unsynced())
	case "postgres":
		db, err = store.OpenServer(tb.Context(), takeDatabase(tb))
	default:
		err = fmt.Errorf("%s is %q, which is neither sqlite nor postgres", Env, name)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Errorf("close the store: %v", err)
		}
	})
	return db
}

// blank is a file with the tables and no row. To copy it costs less than to make one.
var blank = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "sibyl-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // it is in nobody's way
	path := filepath.Join(folder, "sibyl.db")
	db, err := store.OpenFile(context.Background(), path, store.Unsynced())
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// newDatabaseFile returns the path of an empty database of the test's own.
func newDatabaseFile(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "sibyl.db")
	content, err := blank()
	if err == nil {
		err = os.WriteFile(path, content, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// databasePool has the databases of the process that no test uses. Emptying one costs less than creating one.
type databasePool struct {
	mu   sync.Mutex
	free []string // addresses
}

var pool = sync.OnceValue(func() *databasePool { return &databasePool{} })

// takeDatabase returns the address of an empty database of the pool, which is the test's until it ends.
func takeDatabase(tb testing.TB) (dsn string) {
	tb.Helper()
	p := pool()
	p.mu.Lock()
	if n := len(p.free); n > 0 {
		dsn, p.free = p.free[n-1], p.free[:n-1]
	}
	p.mu.Unlock()
	var err error
	if dsn == "" {
		dsn, err = createDatabase(tb.Context())
	} else {
		err = emptyDatabase(tb.Context(), dsn)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, dsn)
	})
	return dsn
}

func createDatabase(ctx context.Context) (dsn string, err error) {
	server, err := pgtest.Shared(ctx)
	if err != nil {
		return "", err
	}
	name, err := server.Create(ctx)
	return server.DSN(name), err
}

// emptyDatabase deletes all rows. For few rows, that costs less than truncating their tables.
func emptyDatabase(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // what it was opened for is done
	_, err = conn.Exec(ctx, `DO $$
		DECLARE name text;
		BEGIN
			SET LOCAL session_replication_role = replica; -- tables in any order
			FOR name IN SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
				WHERE schemaname = 'sibyl' AND tablename <> 'sibyl_version'
			LOOP
				EXECUTE 'DELETE FROM ' || name;
			END LOOP;
		END $$`)
	return err
}
