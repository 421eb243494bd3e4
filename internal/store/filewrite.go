package store

import (
	"context"
	"database/sql"
	"time"
)

// runWrite implements dialect.
func (f *file) runWrite(ctx context.Context, do func(*tx) error) error {
	if f.readOnly != nil {
		return f.readOnly
	}
	return f.explain(f.inTransaction(ctx, do))
}

// inTransaction calls do in a transaction, once no other writes. No context interrupts it after its beginning. It fails
// if the file was replaced.
func (f *file) inTransaction(ctx context.Context, do func(*tx) error) error {
	since := time.Now()
	conn, err := f.connect(ctx, f.writer)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // which gives it back
	if err := f.checkSameFile(); err != nil {
		return err
	}
	t := f.tx(context.WithoutCancel(ctx), conn)
	execute := func(text string) error { return f.sendStatement(t.ctx, conn, statement{text: text}) }
	if err := f.retryWhileBusy(ctx, since, func() error { return execute("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed { // also if do panics
			_ = execute("ROLLBACK") // which may say that SQLite has rolled back by itself
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	if err := t.send(); err != nil {
		return err
	}
	err = execute("COMMIT")
	committed = err == nil
	return err
}

// runRead implements dialect.
func (f *file) runRead(ctx context.Context, do func(*tx) error) error {
	return f.explain(f.readIn(ctx, f.readers, do))
}

// readIn calls do with a connection of a pool, and again while another process locks the database.
func (f *file) readIn(ctx context.Context, pool *sql.DB, do func(*tx) error) error {
	conn, err := f.connect(ctx, pool)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // which gives it back
	err = f.retryWhileBusy(ctx, time.Now(), func() error { return do(f.tx(ctx, conn)) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// connect takes a connection of a pool. One that is new has to wait while another process locks the database.
func (f *file) connect(ctx context.Context, pool *sql.DB) (conn *sql.Conn, err error) {
	err = f.retryWhileBusy(ctx, time.Now(), func() error {
		conn, err = pool.Conn(ctx)
		return err
	})
	return conn, err
}

// tx returns a tx on this connection. It begins no transaction.
func (f *file) tx(ctx context.Context, conn *sql.Conn) *tx {
	deliver := func(t *tx, all []statement) error {
		for _, s := range all {
			if err := f.sendStatement(t.ctx, conn, s); err != nil {
				return err
			}
		}
		return nil
	}
	return &tx{ctx: ctx, deliver: deliver}
}

func (f *file) sendStatement(ctx context.Context, conn *sql.Conn, s statement) error {
	text := f.words.Replace(s.text)
	if s.take == nil {
		_, err := conn.ExecContext(ctx, text, s.args...)
		return err
	}
	found, err := conn.QueryContext(ctx, text, s.args...) //nolint:rowserrcheck // take checks it
	if err != nil {
		return err
	}
	err = s.take(found)
	if closeErr := found.Close(); err == nil { //nolint:sqlclosecheck // its error would repeat err
		err = closeErr
	}
	return err
}

// retryWhileBusy repeats do while another process locks the database, until the busy timeout after start.
func (f *file) retryWhileBusy(ctx context.Context, start time.Time, do func() error) error {
	deadline := start.Add(f.busyTimeout)
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
