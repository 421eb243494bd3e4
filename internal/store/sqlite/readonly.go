package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"

	sqlite3 "modernc.org/sqlite/lib"

	"sibyl/internal/journal"
)

// keptFromWriting says that a file, or what SQLite keeps beside it, could not be opened for writing.
func keptFromWriting(err error) bool {
	code, _ := codeOf(err)
	switch code & primary {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}

// openReadOnly opens a file that cannot be written, as cause says. With a WAL beside it that others may use, SQLite reads
// both. Without one nobody is writing, and the file alone is all there is. A WAL that a crash has left may hold what the
// file lacks: where it can't be read, nothing is.
func (db *DB) openReadOnly(ctx context.Context, cause error) (*DB, error) {
	_, latest, err := versions()
	if err != nil {
		return nil, err
	}
	db.readOnly = fmt.Errorf("database %s: %w (to write, you must have the right to write to it and to its folder): %w",
		db.path, journal.ErrReadOnly, cause)
	err = db.readFrom(ctx, latest, db.uri(url.Values{"mode": {"ro"}}))
	if keptFromWriting(err) {
		if wal, statErr := os.Stat(db.path + "-wal"); statErr == nil && wal.Size() > 0 {
			return nil, fmt.Errorf("%w; what a crash left in %s-wal cannot be read either: open it once where it can be written",
				db.readOnly, db.path)
		}
		err = db.readFrom(ctx, latest, db.uri(url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	}
	if keptFromWriting(err) {
		return nil, fmt.Errorf("database %s: cannot be opened (you must have the right to read it, and its folder): %w", db.path, err)
	}
	if err != nil {
		return nil, db.explain(err)
	}
	return db, nil
}

// readFrom makes the readers, if the tables are of the latest version.
func (db *DB) readFrom(ctx context.Context, latest int64, dsn string) error {
	db.readers = newReaders(dsn)
	var found int64
	err := db.lend(ctx, func(c *conn) (err error) {
		found, err = db.version(ctx, c)
		return err
	})
	switch {
	case err != nil:
	case found > latest:
		err = db.newer(found, latest)
	case found < latest:
		err = fmt.Errorf("%w; its tables are of version %d, and of version %d in this build: open it once where it can be written",
			db.readOnly, found, latest)
	}
	if err != nil {
		err = errors.Join(err, db.readers.close())
	}
	return err
}
