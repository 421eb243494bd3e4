package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"modernc.org/sqlite"
)

// ErrNewer is returned for a file that a later build of Sibyl has written.
var ErrNewer = errors.New("the database was written by a later version of sibyl")

// ErrOlder is returned for a file of a schema that this build has no migration from.
var ErrOlder = errors.New("the database was written by an earlier build of sibyl")

// ErrForeign is returned for an SQLite file that another program has written.
var ErrForeign = errors.New("the database belongs to another program")

// applicationID is the mark that the first migration sets: "SIBL".
const applicationID = 0x5349424C

//go:embed migrations/*.sql
var migrationFiles embed.FS

// openCurrent opens the writer on a database whose tables are up to date. Opening must be fast, because every command
// of the CLI does it, so goose is asked only if its table of versions says that something is missing.
func (db *DB) openCurrent(ctx context.Context) (*conn, error) {
	_, latest, err := versions()
	if err != nil {
		return nil, err
	}
	w, err := db.connect(ctx, db.dsn())
	if err != nil {
		return nil, err
	}
	found, err := db.version(ctx, w)
	if err == nil && found < latest {
		err = db.migrate(ctx, w, latest)
	} else if err == nil && found > latest {
		err = db.newer(found, latest)
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (db *DB) newer(found, latest int64) error {
	return fmt.Errorf("database %s: %w (its tables are of version %d, this build knows %d: update sibyl)",
		db.path, ErrNewer, found, latest)
}

// versions returns the first and the last version that this build has a migration to.
func versions() (first, latest int64, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	for _, name := range names {
		version, nameErr := goose.NumericComponent(name)
		if nameErr != nil {
			return 0, 0, nameErr
		}
		if first == 0 {
			first = version
		}
		latest = max(latest, version)
	}
	return first, latest, err
}

// unversioned is the version of a file in which goose has noted nothing yet.
const unversioned = -1

// version returns the last migration that goose has noted in the file: 0 before the first one.
func (db *DB) version(ctx context.Context, c *conn) (version int64, err error) {
	first, _, err := versions()
	if err != nil {
		return 0, err
	}
	err = db.patiently(ctx, func() error {
		file, err := rowsOf(ctx, c, everything, func(r row) row { return slices.Clone(r) }, `
			SELECT application_id,
			       (SELECT count(*) FROM sqlite_schema WHERE name = ?),
			       (SELECT count(*) FROM sqlite_schema WHERE name NOT IN (?, 'sqlite_sequence'))
			FROM pragma_application_id`, []any{goose.DefaultTablename, goose.DefaultTablename})
		if err != nil {
			return err
		}
		if mark, others := file[0].int(0), file[0].int(2); mark != applicationID && others > 0 {
			return fmt.Errorf("database %s: %w (choose another file)", db.path, ErrForeign)
		}
		version = unversioned
		if noted := file[0].int(1); noted > 0 {
			found, err := rowsOf(ctx, c, everything, firstInt, `SELECT max(version_id) FROM `+goose.DefaultTablename, nil)
			if err != nil {
				return err
			}
			version = found[0]
		}
		if version > 0 && version < first {
			return fmt.Errorf("database %s: %w (its tables are of version %d, this build begins with version %d: "+
				"move it away, or name another folder with --data)", db.path, ErrOlder, version, first)
		}
		return nil
	})
	return version, err
}

// migrate brings the tables up to date, and c finds them so. Other processes may be doing so too: each step fails in all but
// one of them, and what one has done the others find done.
func (db *DB) migrate(ctx context.Context, c *conn, latest int64) (err error) {
	pool, err := sql.Open("sqlite", db.dsn())
	if err != nil {
		return err
	}
	pool.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, pool.Close()) }()
	return db.patiently(ctx, func() error {
		for {
			before, err := db.version(ctx, c)
			if err != nil || before >= latest {
				return err
			}
			if failed := advance(ctx, pool, before); failed != nil {
				if after, err := db.version(ctx, c); err != nil || after == before {
					return failed
				}
			}
		}
	})
}

// advance takes the steps that are missing from a version on.
func advance(ctx context.Context, pool *sql.DB, from int64) error {
	if from == unversioned {
		return createVersionTable(ctx, pool)
	}
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, pool, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	if _, err = provider.Up(ctx); err == nil {
		return nil
	}
	if own, ok := errors.AsType[*sqlite.Error](err); ok { // goose tells of its steps and transactions beside it
		return fmt.Errorf("make its tables: %w", own)
	}
	return err
}

// createVersionTable makes goose's own table, because goose sleeps for a second if another process is faster.
func createVersionTable(ctx context.Context, pool *sql.DB) error {
	store, err := database.NewStore(goose.DialectSQLite3, goose.DefaultTablename)
	if err != nil {
		return err
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	err = store.CreateVersionTable(ctx, tx)
	if err == nil {
		err = store.Insert(ctx, tx, database.InsertRequest{Version: 0})
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
