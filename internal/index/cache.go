package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"modernc.org/sqlite" // which registers the driver as well
)

// version is that of the tables and of what their pieces look like. A file of another one is thrown away.
const version = 1

// touchedAfter is how old the time of a file's last use may become before it is set anew.
const touchedAfter = time.Minute

const schema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE segment (id INTEGER PRIMARY KEY, piece BLOB NOT NULL);
CREATE TABLE words (id INTEGER PRIMARY KEY, piece BLOB NOT NULL);
CREATE TABLE lists (id INTEGER PRIMARY KEY, piece BLOB NOT NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, piece BLOB NOT NULL);`

// Cache is what is kept of one folder. It is safe for concurrent use; readings take turns.
type Cache struct {
	store      *Caches
	name, path string
	kind, root string

	mu   sync.Mutex // held by a reading
	db   *sql.DB
	file os.FileInfo // that db has open
	view *View       // of the last reading
}

// Close lets the file go. The cache opens it again when it is used again.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close()
}

func (c *Cache) close() error {
	c.view = nil
	if c.db == nil {
		return nil
	}
	err := c.db.Close()
	c.db = nil
	return err
}

// Read has what is kept used. The view holds for the call only. ErrNone says that there is nothing to use; after any other error of its own, but for that
// of the context, the file is removed. What use itself fails with is returned as it is.
func (c *Cache) Read(ctx context.Context, use func(*View) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var own error
	err := c.reading(ctx, func(v *View) error {
		own = use(v)
		return own
	})
	switch {
	case err == nil, errors.Is(err, ErrNone), ctx.Err() != nil, own != nil && !errors.Is(own, errDamaged) && !isDamage(own):
		return err
	case isBusy(err):
		return ErrNone
	}
	_ = c.close() // whatever is wrong with it, it goes
	if c.store.remove(context.WithoutCancel(ctx), c.name) != nil {
		return ErrNone // by somebody else, or never: then it can't be used, and nothing is lost
	}
	return ErrNone
}

func (c *Cache) reading(ctx context.Context, use func(*View) error) error {
	if err := c.open(ctx); err != nil {
		return err
	}
	tx, err := c.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // which ends a reading
	if err := c.refresh(ctx, tx); err != nil {
		return err
	}
	c.view.ctx, c.view.tx = ctx, tx
	defer func() { c.view.ctx, c.view.tx = nil, nil }()
	return use(c.view)
}

// open opens the file, if it is there and was not replaced.
func (c *Cache) open(ctx context.Context) error {
	info, err := os.Stat(c.path)
	if err != nil {
		_ = c.close() // it was removed
		return ErrNone
	}
	if c.db != nil && os.SameFile(info, c.file) {
		return nil
	}
	_ = c.close() // it is another file's
	db, err := connect(ctx, c.path)
	if err != nil {
		return err
	}
	c.db, c.file = db, info
	if time.Since(info.ModTime()) > touchedAfter {
		_ = os.Chtimes(c.path, time.Time{}, time.Now()) // so that it counts as used
	}
	return nil
}

// connect opens a file that is there.
func connect(ctx context.Context, path string) (*sql.DB, error) {
	name := filepath.ToSlash(path)
	if name[0] != '/' { // C:/
		name = "/" + name
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: name, RawQuery: url.Values{"mode": {"rw"}, "_error_rc": {"1"}, "_pragma": {
		"busy_timeout(50)", "synchronous(NORMAL)", "temp_store(MEMORY)", "cache_size(-8000)"}}.Encode()}).String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// queryer is a transaction or a database.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// check refuses a file of another version or another folder.
func (c *Cache) check(ctx context.Context, q queryer) error {
	var have int
	if err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&have); err != nil {
		return err
	}
	if have != version {
		return errDamaged
	}
	for key, want := range map[string]string{"kind": c.kind, "root": c.root} {
		value, err := meta(ctx, q, key)
		if err != nil || string(value) != want {
			return errors.Join(errDamaged, err)
		}
	}
	return nil
}

// meta reads a piece that there is one of.
func meta(ctx context.Context, q queryer, key string) ([]byte, error) {
	var piece []byte
	if err := q.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = ?`, key).Scan(&piece); err != nil {
		return nil, err
	}
	return unsealed(key, piece)
}

// refresh brings the view to the state that the transaction sees.
func (c *Cache) refresh(ctx context.Context, tx *sql.Tx) error {
	if c.view == nil {
		if err := c.check(ctx, tx); err != nil {
			return err
		}
	}
	generation, err := numberOf(ctx, tx, "generation")
	if err != nil || c.view != nil && c.view.generation == generation {
		return err
	}
	view, err := load(ctx, tx, c.view)
	if err != nil {
		return err
	}
	view.generation, c.view = generation, view
	return nil
}

// isBusy says that a file is being used in a way that lets nobody else in, and isDamage that it is none, or without a table of ours.
func isBusy(err error) bool   { return code(err) == 5 || code(err) == 6 }
func isDamage(err error) bool { return code(err) == 1 || code(err) == 11 || code(err) == 26 }

// code is SQLite's own number of an error; -1 if it is none of it.
func code(err error) int {
	if failed, is := errors.AsType[*sqlite.Error](err); is {
		return failed.Code() & 0xff
	}
	return -1
}

// describe reads from a file what it is an index of.
func describe(ctx context.Context, path string) (kind, root string, texts int) {
	db, err := connect(ctx, path)
	if err != nil {
		return "", "", 0
	}
	defer func() { _ = db.Close() }() // it was only read
	kinds, err := meta(ctx, db, "kind")
	roots, other := meta(ctx, db, "root")
	if err != nil || other != nil {
		return "", "", 0
	}
	all, err := segments(ctx, db)
	if err != nil {
		return "", "", 0
	}
	for _, s := range all {
		texts += s.texts
	}
	return string(kinds), string(roots), texts
}

// unfinished is what a file is called beside its name while it is made.
const unfinished = ".new"

// create makes an empty file. Nobody sees it before it is whole. Its lock is held.
func (c *Cache) create(ctx context.Context) (err error) {
	if err := c.store.unlink(c.name); err != nil {
		return err
	}
	f, err := os.OpenFile(c.path+unfinished, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := connect(ctx, c.path+unfinished)
	if err != nil {
		return err
	}
	if err := errors.Join(c.fill(ctx, db), db.Close()); err != nil {
		return err
	}
	return os.Rename(c.path+unfinished, c.path)
}

// fill gives a new file its tables.
func (c *Cache) fill(ctx context.Context, db *sql.DB) error {
	for _, setting := range []string{`PRAGMA page_size = 16384`, `PRAGMA auto_vacuum = INCREMENTAL`, `PRAGMA journal_mode = WAL`} {
		if _, err := db.ExecContext(ctx, setting); err != nil {
			return err
		}
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // which does nothing once it is committed
	if _, err := tx.ExecContext(ctx, schema+` PRAGMA user_version = `+strconv.Itoa(version)); err != nil {
		return err
	}
	first := uint64(time.Now().UnixNano()) // which no reader of a file before has seen
	for key, value := range map[string][]byte{"kind": []byte(c.kind), "root": []byte(c.root), "generation": number(first), "next": number(1), "catalogue": nil} {
		if err := setMeta(ctx, tx, key, value); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func number(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }

// numberOf reads a number that there is one of.
func numberOf(ctx context.Context, q queryer, key string) (uint64, error) {
	piece, err := meta(ctx, q, key)
	if err != nil || len(piece) != 8 {
		return 0, errors.Join(errDamaged, err)
	}
	return binary.LittleEndian.Uint64(piece), nil
}

func setMeta(ctx context.Context, tx *sql.Tx, key string, value []byte) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`, key, sealed(key, slices.Clip(value)))
	return err
}
