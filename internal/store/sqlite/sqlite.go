// Package sqlite keeps everything that Sibyl keeps in one SQLite file. It implements journal.Store.
//
//   - One connection writes, one immediate transaction at a time for all writes that wait; a few others read and
//     never wait for it. Any number of processes may have the file open.
//   - A write is on the disk when it returns (WAL, synchronous=FULL). It is atomic and fails or succeeds by itself, whichever
//     others share its transaction. After a crash the file holds whole transactions only.
//   - Waiting for another process that writes is bounded by WithBusyTimeout and ends at once with the context, with nothing
//     written. A transaction that has begun runs to its end.
//   - Errors name the file and what would fix it, and match journal's errors.
//   - Open brings the tables up to date, in transactions. It refuses a file that another program or a later build of
//     this one wrote.
//   - Once its file was removed or replaced, every write fails with journal.ErrUnreachable, so that nothing is kept where nobody finds it.
//   - A file that may only be read is opened for reading; every write to it fails with journal.ErrReadOnly.
//   - What is removed is overwritten in the file, at the latest when the last process closes it and so empties the WAL. Its
//     space is used again by later writes; the file does not shrink.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"sibyl/internal/journal"
)

const (
	defaultBusyTimeout = 5 * time.Second
	mostReaders        = 4

	// busySlice is how long SQLite itself waits for a lock. It cannot be cancelled meanwhile, so it waits in slices.
	busySlice = 50 * time.Millisecond
	busyPause = time.Millisecond
)

var errClosed = errors.New("the database is closed")

// DB is an open database file. Open makes one; it is safe for concurrent use.
type DB struct {
	path        string
	busyTimeout time.Duration
	synchronous string // FULL, so that what was written is on the disk; tests need not wait for it

	file     os.FileInfo // as it was when it was opened
	writer   *conn
	known    known // to who holds the token
	queue    queue
	writing  chan struct{} // holds a token while somebody writes
	readers  *readers
	readOnly error // why nothing can be written, and writer is nil

	closing sync.Once
	closed  chan struct{}
}

// Option changes how Open opens a file.
type Option func(*DB)

// WithBusyTimeout sets how long a call waits for another process that writes before it fails with journal.ErrLocked.
// The default is 5 s.
func WithBusyTimeout(d time.Duration) Option {
	return func(db *DB) { db.busyTimeout = d }
}

// Open opens the database at path. It creates what is missing: folders for the owner only (0700), the file (0600) and its
// tables. A file that is there but cannot be written is opened for reading. The error matches journal.ErrCorrupt, ErrLocked,
// ErrFull or ErrReadOnly where it is one of these, ErrNewer, or ErrForeign.
func Open(ctx context.Context, path string, opts ...Option) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	db := &DB{
		path:        path,
		busyTimeout: defaultBusyTimeout,
		synchronous: "FULL",
		writing:     make(chan struct{}, 1),
		closed:      make(chan struct{}),
	}
	for _, opt := range opts {
		opt(db)
	}
	if err := createFile(path); errors.Is(err, syscall.ENOSPC) {
		return nil, db.full(err)
	} else if err != nil {
		return nil, fmt.Errorf("create the database %s: %w (its folder must be one you may write to)", path, err)
	}
	db.writer, err = db.openCurrent(ctx)
	if keptFromWriting(err) {
		return db.openReadOnly(ctx, err)
	}
	if err != nil {
		return nil, db.explain(err)
	}
	if db.file, err = os.Stat(path); err != nil {
		_ = db.writer.close() // the first error is the one to tell
		return nil, db.lost()
	}
	db.readers = newReaders(db.dsn("query_only(1)"))
	return db, nil
}

// OpenToRead opens a database that is there, and of this build, for reading: nothing is made, brought up to date or waited for. Writes fail with
// journal.ErrReadOnly.
func OpenToRead(ctx context.Context, path string) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	db := &DB{path: path, synchronous: "FULL", writing: make(chan struct{}, 1), closed: make(chan struct{})}
	return db.openReadOnly(ctx, errOnlyToRead)
}

var errOnlyToRead = errors.New("it was opened to be read")

// stands says that the file is the one that was opened. Of one that was removed or replaced SQLite tells nothing: what is written to it is
// gone once it is closed.
func (db *DB) stands() error {
	info, err := os.Stat(db.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && db.file != nil && !os.SameFile(db.file, info) {
		return db.lost()
	}
	return nil
}

func (db *DB) lost() error {
	return fmt.Errorf("database %s: %w: its file was removed or replaced while it was open (end this process, see to the file, and start again)",
		db.path, journal.ErrUnreachable)
}

// createFile makes an empty file that only its owner can read, unless there is one: SQLite would give it the mode of
// the umask. An existing file is not opened, since closing it again would drop the locks that this process has on it.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn names the file and the settings that every connection has, and the pragmas given.
func (db *DB) dsn(pragmas ...string) string {
	return db.uri(url.Values{
		"_txlock": {"immediate"},
		"_pragma": append([]string{
			"journal_mode(WAL)",
			"synchronous(" + db.synchronous + ")",
			"foreign_keys(1)",
			"secure_delete(1)",
		}, pragmas...),
	})
}

// uri names the file and what holds for every connection, however it is opened.
func (db *DB) uri(settings url.Values) string {
	slice := min(db.busyTimeout, busySlice)
	settings.Set("_dqs", "0")
	settings.Set("_error_rc", "1")
	// First, because the others may have to wait.
	settings["_pragma"] = append([]string{"busy_timeout(" + strconv.FormatInt(slice.Milliseconds(), 10) + ")"}, settings["_pragma"]...)
	name := filepath.ToSlash(db.path)
	if name[0] != '/' { // C:/
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name, RawQuery: settings.Encode()}).String()
}

// Close waits for the write that is under way and closes the file. Every later call but Close fails.
func (db *DB) Close() error {
	var err error
	db.closing.Do(func() {
		close(db.closed)
		db.writing <- struct{}{} // never taken back
		err = db.readers.close()
		if db.writer != nil {
			// It goes last, because the last connection cleans up the WAL and readers may not write.
			err = errors.Join(err, db.writer.close())
		}
		err = db.explain(err)
	})
	return err
}

// patiently repeats do while another process keeps it from the database, up to the busy timeout.
func (db *DB) patiently(ctx context.Context, do func() error) error {
	return db.patientlySince(ctx, time.Now(), do)
}

// patientlySince is patiently for a caller that has waited since start.
func (db *DB) patientlySince(ctx context.Context, start time.Time, do func() error) error {
	deadline := start.Add(db.busyTimeout)
	for {
		err := do()
		if !isBusy(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(busyPause):
		}
	}
}
