package postgres

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/journal/memory"
	"sibyl/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) {
	if beAnotherProcess() {
		return
	}
	goleak.VerifyTestMain(pgtest.Main(m))
}

// locales are options of databases in which text is ordered otherwise.
func locales() map[string]string {
	return map[string]string{
		"C":                            "LOCALE 'C'",
		"German with numbers by value": "LOCALE_PROVIDER icu ICU_LOCALE 'de-u-kn' LOCALE 'C'",
	}
}

func TestStoreKeepsTheGuarantees(t *testing.T) {
	for name, locale := range locales() {
		t.Run(name, func(t *testing.T) {
			p := places{dsn: pgtest.New(t, locale)}
			journaltest.Run(t, func(t *testing.T) journal.Store { return p.open(t) })
		})
	}
}

func TestStoreOutlivesItsHandles(t *testing.T) {
	dsn := pgtest.New(t)
	journaltest.RunPersistent(t, func(t *testing.T) func() journal.Store {
		place := newSchema(t, dsn)
		return func() journal.Store { return openAt(t, place) }
	})
}

func TestStoreAnswersAsTheMemoryStore(t *testing.T) {
	for name, locale := range locales() {
		t.Run(name, func(t *testing.T) { journaltest.Agree(t, openAt(t, pgtest.New(t, locale)), memory.New()) })
	}
}

// newSchema makes an empty place in a database, which costs less than an empty database.
func newSchema(t testing.TB, dsn string) string {
	t.Helper()
	name := strings.ToLower("test_" + rand.Text()[:12])
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	return dsn + "&search_path=" + name
}

// places are stores in a database, for one test after another: to empty one costs less than to make one.
type places struct {
	dsn  string
	mu   sync.Mutex
	free []string
}

// open gives a test an empty store, which no other has meanwhile.
func (p *places) open(t *testing.T) *DB {
	t.Helper()
	p.mu.Lock()
	var place string
	if n := len(p.free); n > 0 {
		place, p.free = p.free[n-1], p.free[:n-1]
	}
	p.mu.Unlock()
	used := place != ""
	if !used {
		place = newSchema(t, p.dsn)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.free = append(p.free, place)
	})
	db := openAt(t, place)
	if tables, err := tableNames(); err != nil {
		t.Fatal(err)
	} else if used {
		execute(t, db, "TRUNCATE "+strings.Join(tables, ", "))
	}
	return db
}

// connect opens a connection beside a store, for as long as the test goes on.
func connect(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	if _, err := conn.Exec(t.Context(), "SET search_path = sibyl, public"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// openAt opens a database and closes it after the test.
func openAt(t testing.TB, dsn string, opts ...Option) *DB {
	t.Helper()
	db, err := Open(t.Context(), dsn, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

func closed(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// execute executes a statement beside the store.
func execute(t testing.TB, db *DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.pool.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// value returns the one value of a query.
func value[T any](t testing.TB, db *DB, query string, args ...any) T {
	t.Helper()
	found, err := read(t.Context(), db, pgx.RowTo[T], query, args...)
	if err != nil || len(found) != 1 {
		t.Fatalf("%s gives %d rows, error %v", query, len(found), err)
	}
	return found[0]
}
