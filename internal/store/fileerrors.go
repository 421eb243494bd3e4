package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sibyl/internal/journal"
)

// primary masks the primary part of a result code, which says what failed; the rest says where.
const primary = 0xff

func fileCode(err error) (code int, ok bool) {
	if err == nil {
		return 0, false // the usual case, without the allocation for errors.As
	}
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return 0, false
	}
	return failed.Code(), true
}

func isBusy(err error) bool {
	code, _ := fileCode(err)
	return code&primary == sqlite3.SQLITE_BUSY
}

// explain wraps an error of SQLite with the file, what would fix it, and one of journal's errors if one fits. It
// returns other errors, and nil, unchanged.
func (f *file) explain(err error) error {
	code, ok := fileCode(err)
	if !ok {
		return err
	}
	switch code & primary {
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("database %s: %w for more than %s (let it finish, or end it): %w",
			f.path, journal.ErrLocked, f.busyTimeout, err)
	case sqlite3.SQLITE_FULL:
		return f.fullError(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return f.corruptError(err)
	case sqlite3.SQLITE_READONLY:
		return fmt.Errorf("database %s: %w (you must have the right to write to it and to its folder): %w",
			f.path, journal.ErrReadOnly, err)
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("database %s: cannot be written (you must have the right to write to it and to its "+
			"folder): %w", f.path, err)
	}
	switch code {
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the index of the WAL could not grow
		return f.fullError(err)
	case sqlite3.SQLITE_IOERR_WRITE: // a quota, a limit on file sizes, or the disk: SQLite does not say which
		return fmt.Errorf("database %s: %w, or its disk fails (free some, raise your quota or limit there, or check "+
			"the disk): %w", f.path, journal.ErrFull, err)
	case sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_CORRUPTFS:
		return f.corruptError(err)
	}
	if code&primary == sqlite3.SQLITE_IOERR {
		return fmt.Errorf("database %s: its disk fails (check the disk and the file; what was written before is "+
			"kept): %w", f.path, err)
	}
	return fmt.Errorf("database %s: %w", f.path, err)
}

func (f *file) fullError(err error) error {
	return fmt.Errorf("database %s: %w (free some on its disk): %w", f.path, journal.ErrFull, err)
}

func (f *file) corruptError(err error) error {
	const remedy = "restore it from a backup, or move it and the -wal file beside it away to start anew"
	return fmt.Errorf("database %s: %w (%s): %w", f.path, journal.ErrCorrupt, remedy, err)
}

// isOpenRefused reports whether SQLite could not open the file, its WAL or its shared memory, or could only read them.
func isOpenRefused(err error) bool {
	code, _ := fileCode(err)
	switch code & primary {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
