package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/journal"
)

const (
	defaultBusyTimeout = 5 * time.Second
	mostReaders        = 4

	// busySlice is SQLite's own wait for a lock. It cannot be cancelled, so longer waits are made of several.
	busySlice = 50 * time.Millisecond
	busyPause = time.Millisecond

	// applicationID is the mark that the first migration sets: "SIBL".
	applicationID = 0x5349424C
	fileVersions  = "goose_db_version"
)

// file is an SQLite file.
//
//   - One connection writes; each of its transactions performs all writes that wait. A few others read, and never wait
//     for it.
//   - After the file was removed or replaced, every write fails with journal.ErrUnreachable, since its data would be
//     lost.
//   - A file without write permission is opened read-only.
//   - On a file system that others may write to without seeing its locks and its shared memory, one process at a time
//     has the file: it holds the lock file beside it, and opens one connection without shared memory.
//   - Removed content is overwritten in the file, at the latest when the last process closes it and so empties the WAL.
//     Later writes use its space again; the file does not shrink.
type file struct {
	path        string
	busyTimeout time.Duration
	synchronous string // FULL: a commit waits for the disk; tests may set OFF
	look        func(path string) (place, error)
	again       Again // nil: locks are not tried
	triesAlways bool

	words    *strings.Replacer
	place    place
	held     *fileLock    // on a shared place; nil: it is only read
	lost     atomic.Bool  // another process has it now: closing a connection must not move the WAL into it
	info     os.FileInfo  // of the file when it was opened
	writer   *sql.DB      // one connection
	readers  *sql.DB      // on a shared place the writer, too
	readDSN  string       // of connections that read
	commits  atomic.Int64 // of this process
	hearers  hearers
	turn     chan struct{}   // holds a token while somebody writes
	waiting  chan *fileWrite // has no room: who sends waits until a transaction takes the write
	readOnly error           // why nothing can be written
}

// FileOption changes how OpenFile opens a file.
type FileOption func(*file)

// WithBusyTimeout sets how long a call waits for a lock of another process before it fails with journal.ErrLocked. The
// default is 5 s.
func WithBusyTimeout(d time.Duration) FileOption { return func(f *file) { f.busyTimeout = d } }

// Unsynced makes commits not wait for the disk, and disables the reserve file. It is for tests only.
func Unsynced() FileOption { return func(f *file) { f.synchronous = "OFF" } }

// OpenFile opens the SQLite file at path. It creates missing folders (0700), the file (0600) and its tables, and
// migrates older tables. An existing file that cannot be written is opened read-only. An error may match
// journal.ErrCorrupt, ErrLocked, ErrFull or ErrReadOnly, or ErrNewer, ErrOlder, ErrForeign, ErrShared or
// ErrNotHeld.
func OpenFile(ctx context.Context, path string, opts ...FileOption) (*DB, error) {
	f, err := newFile(path, opts)
	if err != nil {
		return nil, err
	}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	if err := f.tryIfDue(ctx); err != nil {
		return nil, err
	}
	err = createFile(f.path)
	if info, statErr := os.Stat(f.path); statErr == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("database %s: it is no file (name one, such as %s)", f.path,
			filepath.Join(f.path, "sibyl.db"))
	}
	if files.Is(err, syscall.ENOSPC) {
		return nil, f.fullError(err)
	} else if err != nil {
		return nil, fmt.Errorf("create the database %s: %w (its folder must be one you may write to)", f.path, err)
	}
	if err = f.lock(ctx); errors.Is(err, fs.ErrPermission) || files.Is(err, syscall.EROFS) {
		return f.openReadOnly(ctx, err)
	} else if err != nil {
		return nil, f.lockError(err)
	}
	err = f.openWriter(ctx)
	if err != nil {
		_ = f.closeAll() // what failed before it is told
	}
	switch {
	case isOpenRefused(err):
		return f.openReadOnly(ctx, err)
	case isHeld(err):
		return nil, f.lockError(err)
	case err != nil:
		return nil, f.explain(err)
	}
	if f.info, err = os.Stat(f.path); err != nil {
		_ = f.closeAll() // what failed before it is told
		return nil, f.lostError()
	}
	if f.readers = f.writer; f.held == nil {
		f.readDSN = f.dsn("query_only(1)")
		if f.readers, err = f.openPool(f.readDSN, mostReaders); err != nil {
			return nil, err
		}
	}
	return f.db(), nil
}

// OpenFileToRead opens an existing file read-only. It creates and migrates nothing, and fails if the tables are not of
// this build's version. It does not wait for locks. Writes fail with journal.ErrReadOnly.
func OpenFileToRead(ctx context.Context, path string) (*DB, error) {
	f, err := newFile(path, []FileOption{WithBusyTimeout(0)})
	if err != nil {
		return nil, err
	}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	if _, err := os.Stat(f.path); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	return f.openReadOnly(ctx, errors.New("it was opened to be read"))
}

func newFile(path string, opts []FileOption) (*file, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	if about, err := os.Lstat(path); err == nil && about.Mode()&os.ModeSymlink != 0 {
		// SQLite follows a link, and has its WAL beside the file itself: so has the lock to be
		if target, err := filepath.EvalSymlinks(path); err == nil {
			path = target
		}
	}
	f := &file{path: path, busyTimeout: defaultBusyTimeout, synchronous: "FULL", words: sqliteWords(),
		look: lookAtPlace, turn: make(chan struct{}, 1), waiting: make(chan *fileWrite)}
	for _, opt := range opts {
		opt(f)
	}
	return f, nil
}

func (f *file) db() *DB { return &DB{dialect: f, closed: make(chan struct{})} }

// find finds the place of the file. It fails if the file system does not answer in time; what else is wrong with the
// path is told when it is opened.
func (f *file) find(ctx context.Context) (err error) {
	f.place, err = findPlace(ctx, f.path, f.look)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNoAnswer):
		return fmt.Errorf("database %s: %w", f.path, err)
	}
	return nil
}

// createFile makes an empty file with mode 0600, and its folder, unless they exist: SQLite would use the umask. It does
// not open an existing file, since closing it again would drop the locks that this process has on it.
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

// dsn returns the URI of a connection to a writable file, with the usual pragmas and these. The driver orders pragmas
// by their names, but the parameter _journal_mode comes after them.
func (f *file) dsn(pragmas ...string) string {
	settings := url.Values{"_pragma": append(pragmas, "synchronous("+f.synchronous+")", "foreign_keys(1)",
		"secure_delete(1)")}
	if f.held == nil {
		settings["_pragma"] = append(settings["_pragma"], "journal_mode(WAL)")
	} else { // the lock comes first, so that the WAL is opened without shared memory
		settings["_pragma"] = append(settings["_pragma"], "locking_mode(EXCLUSIVE)")
		settings.Set("_journal_mode", "WAL")
	}
	return f.uri(settings)
}

// uri returns the URI of a connection. It adds the settings that all connections share to the given ones.
func (f *file) uri(settings url.Values) string {
	slice := min(f.busyTimeout, busySlice)
	settings.Set("_dqs", "0")
	settings.Set("_error_rc", "1")
	// The busy timeout comes first, because the other pragmas may have to wait.
	patience := "busy_timeout(" + strconv.FormatInt(slice.Milliseconds(), 10) + ")"
	settings["_pragma"] = append([]string{patience}, settings["_pragma"]...)
	name := filepath.ToSlash(f.path)
	if name[0] != '/' { // C:/
		name = "/" + name
	}
	return (&url.URL{Scheme: "file", Path: name, RawQuery: settings.Encode()}).String()
}

// openWriter opens the connection that writes, and runs the migrations that are missing.
func (f *file) openWriter(ctx context.Context) (err error) {
	all, err := migrationsOf("sqlite")
	if err != nil {
		return err
	}
	if f.writer, err = f.openPool(f.dsn(), 1); err != nil {
		return err
	}
	var version int64
	readVersion := func(t *tx) (err error) {
		version, err = f.version(t)
		return err
	}
	if err := f.readIn(ctx, f.writer, readVersion); err != nil {
		return err
	}
	if f.held == nil { // only now is there shared memory, which whoever takes the lock file looks for
		if err := f.heldElsewhere(); err != nil {
			f.lost.Store(true)
			return err
		}
	}
	if old, err := behind(all, version, f.path); err != nil || !old {
		return err
	}
	// Other processes may migrate too: one does, and the others find it done when they read the version again.
	return f.write(ctx, func(t *tx) error {
		if err := readVersion(t); err != nil {
			return err
		}
		return t.runMigrations(all, version, fileVersions)
	})
}

// version returns the last migration of the file, or unversioned. It fails with ErrForeign if the file is not Sibyl's.
func (f *file) version(t *tx) (int64, error) {
	type state struct{ mark, noted, others int64 }
	scan := func(r row, s *state) error { return r.Scan(&s.mark, &s.noted, &s.others) }
	found, err := queryRows(t, scan, `
		SELECT application_id,
		       (SELECT count(*) FROM sqlite_schema WHERE name = $1),
		       (SELECT count(*) FROM sqlite_schema WHERE name NOT IN ($1, 'sqlite_sequence'))
		FROM pragma_application_id`, fileVersions)
	switch {
	case err != nil:
		return 0, err
	case found[0].mark != applicationID && found[0].others > 0:
		return 0, fmt.Errorf("database %s: %w (choose another file)", f.path, ErrForeign)
	case found[0].noted == 0:
		return unversioned, nil
	}
	versions, err := queryRows(t, scanValue[int64], `SELECT coalesce(max(version_id), -1) FROM `+fileVersions)
	return onlyRow(versions, err, nil)
}

// openReadOnly opens the file for reading. Errors of writes include cause: why it can't be written. If there is a WAL
// that SQLite can use, both are read. Without a WAL, nobody writes, and the file is complete. If a crash left a WAL
// that can't be read, opening fails, since the file may lack what is in the WAL.
func (f *file) openReadOnly(ctx context.Context, cause error) (*DB, error) {
	f.readOnly = fmt.Errorf("database %s: %w (to write, you must have the right to write to it and to its folder): %w",
		f.path, journal.ErrReadOnly, cause)
	if err := f.heldElsewhere(); err != nil {
		return nil, f.lockError(err)
	}
	err := cause
	if !f.place.shared { // where it is, memory shared with others may be wrong
		err = f.readFrom(ctx, f.uri(url.Values{"mode": {"ro"}}))
	}
	if f.place.shared || isOpenRefused(err) {
		if wal, statErr := os.Stat(f.path + "-wal"); statErr == nil && wal.Size() > 0 {
			return nil, fmt.Errorf("%w; what a crash left in %s-wal cannot be read either: open it once where it can "+
				"be written", f.readOnly, f.path)
		}
		err = f.readFrom(ctx, f.uri(url.Values{"mode": {"ro"}, "immutable": {"1"}}))
	}
	if isOpenRefused(err) {
		return nil, fmt.Errorf("database %s: cannot be opened (you must have the right to read it, and its folder): %w",
			f.path, err)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	return f.db(), nil
}

// readFrom opens the readers. It fails, and closes them, if the tables are not of this build's version.
func (f *file) readFrom(ctx context.Context, dsn string) error {
	all, err := migrationsOf("sqlite")
	if err != nil {
		return err
	}
	f.readDSN = dsn
	if f.readers, err = f.openPool(dsn, mostReaders); err != nil {
		return err
	}
	err = f.readIn(ctx, f.readers, func(t *tx) error {
		version, err := f.version(t)
		if err != nil {
			return err
		}
		old, err := behind(all, version, f.path)
		if err == nil && old {
			err = fmt.Errorf("%w; its tables are of version %d, and of version %d in this build: open it once where "+
				"it can be written", f.readOnly, version, all[len(all)-1].version)
		}
		return err
	})
	if err != nil {
		_ = f.closeAll() // what failed before it is told
	}
	return err
}

// close implements dialect.
func (f *file) close() error { return f.explain(f.closeAll()) }

// closeAll closes all connections. It waits for no reader in use. The writer is closed last: whoever closes last cleans
// up the WAL, and readers can't.
func (f *file) closeAll() error {
	var errs []error
	if f.held != nil && !f.held.isOwn() {
		f.lost.Store(true)
		errs = append(errs, f.lostError())
	}
	for _, pool := range []*sql.DB{f.readers, f.writer} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if f.held != nil {
		f.held.release()
		f.held = nil
	}
	return errors.Join(errs...)
}

// sqliteWords translates PostgreSQL's SQL to SQLite's. It drops row locks, since a writer locks the whole file. SQLite
// plans by the value of a bare parameter after LIMIT, and so prepares the statement again each time it is executed.
func sqliteWords() *strings.Replacer {
	return strings.NewReplacer(
		"LIMIT $", "LIMIT +$",
		" FOR UPDATE SKIP LOCKED", "", " FOR UPDATE", "", " FOR NO KEY UPDATE OF run", "", " FOR NO KEY UPDATE", "",
		" FOR SHARE", "", "FOR KEY SHARE OF run ", "", " FOR KEY SHARE", "",
		` COLLATE "C"`, "", "greatest(", "max(", "strpos(", "instr(", "AS bytea",
		"AS blob",
		"CAST(json_agg(no) AS text)", "json_group_array(no)", thisTransaction, "''",
		eachGiven, "json_each($1) AS given", eachBlob, "json_each(run.blobs) AS given")
}

func (f *file) databaseName() string { return f.path }

func (f *file) copyStatements() copySQL { return copySQL{moment: []string{"BEGIN"}} }

// now implements dialect: all processes share this machine's clock. It fails if the file was removed or replaced.
func (f *file) now(context.Context) (time.Time, error) { return time.Now(), f.checkSameFile() }

// checkSameFile returns journal.ErrUnreachable if the file, or its lock file on a shared place, was removed or replaced
// since it was opened. SQLite does not notice that, and later writes would be lost.
func (f *file) checkSameFile() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, os.ErrNotExist) || err == nil && f.info != nil && !os.SameFile(f.info, info) ||
		f.held != nil && !f.held.isOwn() {
		return f.lostError()
	}
	return nil
}

func (f *file) lostError() error {
	return fmt.Errorf("database %s: %w: its file was removed or replaced while it was open, or its lock file "+
		"(end this process, see to the file, and start again)", f.path, journal.ErrUnreachable)
}
