package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// ErrNewer is returned for a database that a later build of Sibyl has written.
var ErrNewer = errors.New("the database was written by a later version of sibyl")

// ErrForeign is returned for a database with tables of another program that have the names of Sibyl's.
var ErrForeign = errors.New("the database has tables of another program")

//go:embed migrations/*.sql
var migrationFiles embed.FS

const (
	// versionTable is where goose notes the migrations. Other programs that use goose have a table of another name.
	versionTable = "sibyl_version"

	// schema is where the tables are, unless the address names another: a database may be shared with other programs.
	schema = "sibyl"

	// migrationLock is who brings the tables up to date: "SIBL".
	migrationLock = 0x5349424C

	// migrationTimeout bounds the wait for another process that does so, and the doing.
	migrationTimeout = 5 * time.Minute

	oldestServer = 130000 // the first that tells of transactions by number
)

// found is what a database has.
type found struct {
	server   int
	encoding string
	schema   *string
	version  int64    // the last migration that is noted, 0 before the first
	tables   []string // of names that Sibyl's tables have
}

// bringUpToDate makes the tables that are missing, or sees that none is. Opening must be fast, because every command of the CLI does it, so goose is
// asked only if the table of versions says that something is missing.
func (db *DB) bringUpToDate(ctx context.Context) error {
	latest, err := latestVersion()
	if err != nil {
		return err
	}
	conn, err := db.acquire(ctx)
	if err != nil {
		return db.explain(ctx, err)
	}
	version, err := db.version(ctx, conn.Conn(), latest)
	conn.Release()
	if err != nil || version == latest {
		return err
	}
	return db.migrate(ctx, latest)
}

// version returns the last migration that is noted in the database, 0 before the first one. The error says why it can't be used.
func (db *DB) version(ctx context.Context, conn *pgx.Conn, latest int64) (int64, error) {
	at, err := look(ctx, conn)
	if err != nil {
		return 0, db.explain(ctx, &failure{err: err})
	}
	switch {
	case at.server < oldestServer:
		err = fmt.Errorf("database %s: PostgreSQL %d is too old (it must be 13 or later)", db.name, at.server/10000)
	case at.encoding != "UTF8":
		err = fmt.Errorf("database %s: its encoding is %s, which cannot keep every text (make one with: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0)",
			db.name, at.encoding)
	case at.schema == nil && db.ownSchema: // it is made with the tables
	case at.schema == nil:
		err = fmt.Errorf("database %s: no schema of its search_path is there (make one, or name another with search_path in the address)", db.name)
	case at.version > latest:
		err = fmt.Errorf("database %s: %w (its tables are of version %d, this build knows %d: update sibyl)", db.name, ErrNewer, at.version, latest)
	case at.version == 0 && len(at.tables) > 0:
		err = fmt.Errorf("database %s: %w: %s (choose another database, or another schema with search_path in its address)",
			db.name, ErrForeign, strings.Join(at.tables, ", "))
	}
	return at.version, err
}

func look(ctx context.Context, conn *pgx.Conn) (at found, err error) {
	tables, err := tableNames()
	if err != nil {
		return at, err
	}
	var versioned bool
	err = conn.QueryRow(ctx, `
		SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_schema(),
		       EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1),
		       array(SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename = ANY ($2) ORDER BY 1)`,
		versionTable, tables).Scan(&at.server, &at.encoding, &at.schema, &versioned, &at.tables)
	if err == nil && versioned {
		err = conn.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versionTable).Scan(&at.version)
	}
	return at, err
}

// latestVersion is the last that this build has a migration to.
func latestVersion() (latest int64, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	for _, name := range names {
		version, nameErr := goose.NumericComponent(name)
		if nameErr != nil {
			return 0, nameErr
		}
		latest = max(latest, version)
	}
	return latest, err
}

// tableNames are those of the tables that the migrations make.
func tableNames() (tables []string, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	for _, name := range names {
		text, readErr := migrationFiles.ReadFile(name)
		if readErr != nil {
			return nil, readErr
		}
		for line := range strings.Lines(string(text)) {
			if table, made := strings.CutPrefix(line, "CREATE TABLE "); made {
				name, _, _ := strings.Cut(table, " ")
				tables = append(tables, name)
			}
		}
	}
	return tables, err
}

// migrate brings the tables up to date. Of the processes that want to, one does, and the others wait for it and find it done.
func (db *DB) migrate(ctx context.Context, latest int64) (err error) {
	bounded, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	config := db.config.Copy()
	config.RuntimeParams["lock_timeout"], config.RuntimeParams["statement_timeout"] = "0", "0"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	guard, err := pgx.ConnectConfig(bounded, config)
	if err != nil {
		return db.explain(ctx, &failure{err: err})
	}
	defer func() { _ = guard.Close(bounded) }() // which frees the lock
	if _, err := guard.Exec(bounded, "SELECT pg_advisory_lock($1)", migrationLock); err != nil {
		if ctx.Err() == nil && bounded.Err() != nil {
			return fmt.Errorf("database %s: another process has been bringing the tables up to date for %s (let it finish, or end it)", db.name, migrationTimeout)
		}
		return db.explain(ctx, &failure{err: err})
	}
	if version, err := db.version(bounded, guard, latest); err != nil || version == latest {
		return err
	}
	if db.ownSchema {
		if _, err := guard.Exec(bounded, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
			return db.explain(ctx, &failure{err: fmt.Errorf("make the schema %s: %w", schema, err)})
		}
	}
	pool := stdlib.OpenDB(*config)
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := advance(bounded, pool); err != nil {
		return db.explain(ctx, &failure{err: fmt.Errorf("bring the tables up to date: %w", err)})
	}
	return nil
}

// advance takes the steps that are missing, each in a transaction.
func advance(ctx context.Context, pool *sql.DB) error {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, files,
		goose.WithTableName(versionTable), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
