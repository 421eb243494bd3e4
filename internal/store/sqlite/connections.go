package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// conn is a connection of the driver's own, since database/sql does for a pool what one user of a connection need not pay
// for. Statements are constant texts, prepared once. One goroutine uses it at a time.
type conn struct {
	raw   driver.Conn
	stmts map[string]statement
	args  []driver.NamedValue // of the statement under way
}

type statement interface {
	driver.StmtExecContext
	driver.StmtQueryContext
	Close() error
}

// connect opens a connection.
func (db *DB) connect(ctx context.Context, dsn string) (*conn, error) {
	c := &conn{stmts: make(map[string]statement)}
	return c, db.patiently(ctx, func() (err error) {
		c.raw, err = new(sqlite.Driver).Open(dsn)
		return err
	})
}

func (c *conn) close() error {
	var errs []error
	for _, stmt := range c.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, c.raw.Close())...)
}

func (c *conn) prepared(query string) (statement, error) {
	if stmt, ok := c.stmts[query]; ok {
		return stmt, nil
	}
	prepared, err := c.raw.Prepare(query)
	if err != nil {
		return nil, err
	}
	stmt, ok := prepared.(statement)
	if !ok {
		return nil, fmt.Errorf("the driver's statements are of another kind, %T", prepared)
	}
	c.stmts[query] = stmt
	return stmt, nil
}

// bound returns args as the driver takes them: of the types string, []byte, int64 and nil.
func (c *conn) bound(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, arg := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: arg})
	}
	return c.args
}

// exec executes a statement, which no context interrupts.
func (c *conn) exec(query string, args ...any) (driver.Result, error) {
	stmt, err := c.prepared(query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), c.bound(args))
}

// change executes a statement and returns how many rows it changed.
func (c *conn) change(query string, args ...any) (int64, error) {
	result, err := c.exec(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// insert executes a statement that adds a row unless there is one. It returns its number and whether it was added.
func (c *conn) insert(query string, args ...any) (no int64, added bool, err error) {
	result, err := c.exec(query, args...)
	if err != nil {
		return 0, false, err
	}
	no, err = result.LastInsertId()
	if err != nil {
		return 0, false, err
	}
	n, err := result.RowsAffected()
	return no, n > 0, err
}

// row is a row of a result.
type row []driver.Value

// The values of columns, whose types the schema keeps. NULL is a zero value.
func (r row) text(i int) string  { text, _ := r[i].(string); return text }
func (r row) bytes(i int) []byte { bytes, _ := r[i].([]byte); return bytes }
func (r row) int(i int) int64    { n, _ := r[i].(int64); return n }

func (r row) time(i int) time.Time {
	if r[i] == nil {
		return time.Time{}
	}
	return instant(r.int(i))
}

// everything is no limit of rows.
const everything = -1

// rowsOf returns the rows of a query, so many at most. It ends with ctx between two of them. A limit stands here and not in
// the query because SQLite prepares that anew whenever a limit is bound.
func rowsOf[T any](ctx context.Context, c *conn, limit int, scan func(row) T, query string, args []any) (found []T, err error) {
	stmt, err := c.prepared(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.Background(), c.bound(args))
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := rows.Close(); err == nil { // else it says the same again
			err = closeErr
		}
	}()
	values := make(row, len(rows.Columns()))
	for len(found) != limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		found = append(found, scan(values))
	}
	return found, nil
}

// readers lends connections that only read, the last used first.
type readers struct {
	dsn   string
	slots chan struct{} // holds a token for each connection that is lent
	mu    sync.Mutex
	idle  []*conn
}

func newReaders(dsn string) *readers {
	return &readers{dsn: dsn, slots: make(chan struct{}, mostReaders)}
}

// lend calls do with a connection that nobody else uses meanwhile.
func (db *DB) lend(ctx context.Context, do func(*conn) error) error {
	r := db.readers
	select {
	case r.slots <- struct{}{}:
	case <-db.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.slots }()
	c := r.last()
	if c == nil {
		var err error
		if c, err = db.connect(ctx, r.dsn); err != nil {
			return err
		}
	}
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.idle = append(r.idle, c)
	}()
	return db.patiently(ctx, func() error { return do(c) })
}

func (r *readers) last() (c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.idle); n > 0 {
		c, r.idle = r.idle[n-1], r.idle[:n-1]
	}
	return c
}

// close waits for those that read and closes all connections.
func (r *readers) close() error {
	var errs []error
	for range mostReaders {
		r.slots <- struct{}{} // never taken back
	}
	for c := r.last(); c != nil; c = r.last() {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// read returns the rows of one query. It sees every write that has returned.
func read[T any](ctx context.Context, db *DB, limit int, scan func(row) T, query string, args ...any) (found []T, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = db.lend(ctx, func(c *conn) (err error) {
		found, err = rowsOf(ctx, c, limit, scan, query, args)
		return err
	})
	return found, db.explain(err)
}
