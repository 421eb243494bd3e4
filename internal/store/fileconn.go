package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"modernc.org/sqlite"
)

// mostKept is how many prepared statements a connection keeps from one use to the next.
const mostKept = 200

// openPool returns a pool of at most n connections, which stay open. Each translates and prepares a statement when it
// first executes it, and keeps it: preparing takes longer than executing.
func (f *file) openPool(dsn string, n int) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(fileConnector{connector, f.words, &f.lost})
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

type fileConnector struct {
	driver.Connector
	words *strings.Replacer
	lost  *atomic.Bool
}

// Connect implements driver.Connector.
func (c fileConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	able, ok := conn.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a connection of SQLite is a %T", conn), conn.Close())
	}
	return &fileConn{driverConn: able, words: c.words, lost: c.lost, kept: map[string]driverStmt{}}, nil
}

// driverConn is what a connection of the driver can do, as far as it is used.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
}

type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// fileConn is a connection that keeps its prepared statements, by their text before the translation. A statement must
// not be executed again while its rows are read, since both would be the same statement of SQLite.
type fileConn struct {
	driverConn
	words *strings.Replacer
	lost  *atomic.Bool // whether another process has the file now
	kept  map[string]driverStmt
}

// ExecContext implements driver.ExecerContext.
func (c *fileConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	prepared, err := c.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	return prepared.ExecContext(ctx, args)
}

// QueryContext implements driver.QueryerContext.
func (c *fileConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	prepared, err := c.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	return prepared.QueryContext(ctx, args)
}

func (c *fileConn) prepare(ctx context.Context, text string) (driverStmt, error) {
	if known := c.kept[text]; known != nil {
		return known, nil
	}
	prepared, err := c.PrepareContext(ctx, c.words.Replace(text))
	if err != nil {
		return nil, err
	}
	able, ok := prepared.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("a statement of SQLite is a %T", prepared), prepared.Close())
	}
	c.kept[text] = able
	return able, nil
}

// ResetSession implements driver.SessionResetter. The pool calls it before each further use of the connection: nobody
// reads rows then, so that statements may go.
func (c *fileConn) ResetSession(ctx context.Context) error {
	if len(c.kept) > mostKept {
		if err := c.forget(); err != nil {
			return err
		}
	}
	return c.driverConn.ResetSession(ctx)
}

// forget closes the prepared statements.
func (c *fileConn) forget() error {
	var errs []error
	for _, prepared := range c.kept {
		errs = append(errs, prepared.Close())
	}
	clear(c.kept)
	return errors.Join(errs...)
}

// Close implements driver.Conn. It leaves SQLite's connection open if another process has the file: the last one that
// is closed moves the WAL into the file.
func (c *fileConn) Close() error {
	err := c.forget()
	if c.lost.Load() {
		return err
	}
	return errors.Join(err, c.driverConn.Close())
}
