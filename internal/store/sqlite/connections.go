package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// writer is the one connection that writes. Only the holder of DB.turn uses it.
type writer struct {
	pool  *sql.DB
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

func (db *DB) openWriter(ctx context.Context) (*writer, error) {
	pool, conn, err := db.connect(ctx, db.dsn())
	if err != nil {
		return nil, err
	}
	return &writer{pool: pool, conn: conn, stmts: make(map[string]*sql.Stmt)}, nil
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.pool.Close())...)
}

// write runs do in one transaction: all of it is on the disk when write returns nil, and none of it otherwise.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.writer == nil {
		return db.readOnly
	}
	start := time.Now()
	select {
	case db.turn <- struct{}{}:
	case <-db.closed:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-db.turn }()
	// A transaction takes well under a millisecond once it has begun, and the driver starts a goroutine for each statement
	// whose context can be cancelled.
	t := &tx{ctx: context.WithoutCancel(ctx), writer: db.writer}
	if err := db.patientlySince(ctx, start, func() error { return t.exec("BEGIN IMMEDIATE") }); err != nil {
		return db.explain(err)
	}
	open := true
	defer func() {
		if open {
			// Its error says only that SQLite has rolled back by itself, as it does when the disk is full.
			_ = t.exec("ROLLBACK")
		}
	}()
	if err := do(t); err != nil {
		return db.explain(err)
	}
	if err := t.exec("COMMIT"); err != nil {
		return db.explain(err)
	}
	open = false
	return nil
}

// tx is a transaction under way. Statements are constant texts, prepared once.
type tx struct {
	ctx context.Context
	*writer
}

func (t *tx) stmt(query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.conn.PrepareContext(t.ctx, query)
	if err == nil {
		t.stmts[query] = stmt
	}
	return stmt, err
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.result(query, args...)
	return err
}

func (t *tx) result(query string, args ...any) (sql.Result, error) {
	stmt, err := t.stmt(query) //nolint:sqlclosecheck // the writer keeps and closes it
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(t.ctx, args...)
}

// affected executes query and returns how many rows it changed.
func (t *tx) affected(query string, args ...any) (int64, error) {
	result, err := t.result(query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// all returns the rows of a query within a transaction.
func all[T any](t *tx, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	return rowsOf(t.ctx, stmt, scan, args)
}

// reader is the pool of connections that only read.
type reader struct {
	pool  *sql.DB
	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

func newReader(dsn string) (*reader, error) {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(readers)
	pool.SetMaxIdleConns(readers)
	return &reader{pool: pool, stmts: make(map[string]*sql.Stmt)}, nil
}

func (r *reader) close() error {
	return r.pool.Close()
}

func (r *reader) stmt(ctx context.Context, query string) (*sql.Stmt, error) {
	r.mu.Lock()
	stmt, ok := r.stmts[query]
	r.mu.Unlock()
	if ok {
		return stmt, nil
	}
	stmt, err := r.pool.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, ok := r.stmts[query]; ok {
		defer func() { _ = stmt.Close() }()
		return first, nil
	}
	r.stmts[query] = stmt
	return stmt, nil
}

// read returns the rows of one query, which is a constant text. It sees every write that has returned.
func read[T any](ctx context.Context, db *DB, scan func(row) (T, error), query string, args ...any) ([]T, error) {
	var found []T
	err := db.patiently(ctx, func() error {
		stmt, err := db.reader.stmt(ctx, query)
		if err != nil {
			return err
		}
		found, err = rowsOf(ctx, stmt, scan, args)
		return err
	})
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err() // however far the query was when it was interrupted
	}
	return found, db.explain(err)
}

// row is a row of a result.
type row interface{ Scan(dest ...any) error }

func rowsOf[T any](ctx context.Context, stmt *sql.Stmt, scan func(row) (T, error), args []any) ([]T, error) {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // rows.Err has what went wrong
	var found []T
	for rows.Next() {
		next, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, next)
	}
	return found, rows.Err()
}
