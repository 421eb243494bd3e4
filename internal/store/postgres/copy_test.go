package postgres

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/store/postgres/pgtest"
	"sibyl/internal/store/sqlite"
	"sibyl/internal/store/storetest"
)

// described is a database that tells its columns.
type described struct{ *DB }

func (d described) Schema(ctx context.Context) ([]string, error) {
	return read(ctx, d.DB, pgx.RowTo[string], `
		SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name <> $1`, versionTable)
}

// describedFile is one of SQLite's.
type describedFile struct {
	*sqlite.DB
	path string
}

func (d describedFile) Schema(ctx context.Context) (all []string, err error) {
	pool, err := sql.Open("sqlite", d.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = pool.Close() }()
	found, err := pool.QueryContext(ctx, `
		SELECT m.name || '.' || c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			return nil, err
		}
		all = append(all, name)
	}
	return all, found.Err()
}

func openFile(t *testing.T) storetest.Database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sibyl.db")
	db, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return describedFile{db, path}
}

func TestDatabaseIsCopiedWhole(t *testing.T) {
	p := places{dsn: pgtest.New(t)}
	open := func(t *testing.T) storetest.Database { return described{p.open(t)} }
	t.Run("to SQLite", func(t *testing.T) { storetest.Run(t, open, openFile) })
	t.Run("from SQLite", func(t *testing.T) { storetest.Run(t, openFile, open) })
	t.Run("to PostgreSQL", func(t *testing.T) { storetest.Run(t, open, open) })
}
