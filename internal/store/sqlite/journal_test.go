package sqlite

import (
	"path/filepath"
	"slices"
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/journal/memory"
)

func TestStoreKeepsTheGuarantees(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return openAt(t, newPath(t), unsynced) })
}

func TestStoreOutlivesItsHandles(t *testing.T) {
	journaltest.RunPersistent(t, func(t *testing.T) func() journal.Store {
		path := newPath(t)
		return func() journal.Store { return openAt(t, path, unsynced) }
	})
}

// unsynced keeps commits from waiting for the disk, which a test that ends with its process need not do.
func unsynced(db *DB) { db.synchronous = "OFF" }

// execute executes a statement on the connection that writes.
func execute(t testing.TB, db *DB, statement string) {
	t.Helper()
	if _, err := db.writer.exec(statement); err != nil {
		t.Fatal(err)
	}
}

// value returns the one row of a query.
func value(t testing.TB, c *conn, query string) row {
	t.Helper()
	rows, err := rowsOf(t.Context(), c, everything, func(r row) row { return slices.Clone(r) }, query, nil)
	if err != nil || len(rows) != 1 {
		t.Fatalf("%s gives %d rows, error %v", query, len(rows), err)
	}
	return rows[0]
}

func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "sibyl.db") }

// openAt opens the database at path and closes it after the test.
func openAt(t testing.TB, path string, opts ...Option) *DB {
	t.Helper()
	db, err := Open(t.Context(), path, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

func TestStoreAnswersAsTheMemoryStore(t *testing.T) {
	journaltest.Agree(t, openAt(t, newPath(t), unsynced), memory.New())
}
