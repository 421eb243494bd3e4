package store

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"sibyl/internal/journal"
)

// primary is the part of a result code that says what failed; the rest says where.
const primary = 0xff

func fileCode(err error) (code int, ok bool) {
	if err == nil {
		return 0, false // as nearly always; what errors.As is given would be allocated
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

// explain adds to an error of the driver the file, one of journal's errors and what would fix it. Other errors, and
// nil, come back as they are.
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
	case sqlite3.SQLITE_IOERR_WRITE: // SQLite does not say which: a quota, a limit on the size of files, or the disk
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

// isOpenRefused says whether the file, or one that SQLite keeps beside it, could not be opened for writing.
func isOpenRefused(err error) bool {
	code, _ := fileCode(err)
	switch code & primary {
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return false
}
