package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// fileWrite is a call of runWrite, in the transaction that performs it.
type fileWrite struct {
	ctx  context.Context
	do   func(*tx) error
	err  error         // what came of it; valid when done is closed
	done chan struct{} // closed after the transaction
}

// errUndone says that a write was undone, since another took the transaction with it.
var errUndone = errors.New("undone with the transaction")

// runWrite implements dialect. Writes that wait together share a transaction, and so a sync:
//
//   - A caller whom nobody keeps from it takes the turn and begins a transaction. It performs its own write, then those
//     of all who wait by then, in the order in which they came. It commits, and gives the turn away. So a write alone
//     waits for nobody, and there is no goroutine that would have to be ended: Close waits for the callers.
//   - A write that fails is undone to its savepoint, and fails alone. If SQLite has undone the whole transaction with
//     it, which it may do when the disk is full, the others are performed again in another one.
//   - The error of a commit is that of all its writes.
//   - If the context of a caller ends before its write is performed, nothing is written, and the error is the
//     context's. Later, the context interrupts nothing, and the caller is told what came of its write.
func (f *file) runWrite(ctx context.Context, do func(*tx) error) error {
	if f.readOnly != nil {
		return f.readOnly
	}
	return f.explain(f.write(ctx, do))
}

func (f *file) write(ctx context.Context, do func(*tx) error) error {
	since := time.Now()
	for {
		w := &fileWrite{ctx: ctx, do: do, done: make(chan struct{})}
		select {
		case f.turn <- struct{}{}:
			f.lead(w, since)
		case f.waiting <- w:
			<-w.done
		case <-ctx.Done():
			return ctx.Err()
		}
		if !errors.Is(w.err, errUndone) {
			return w.err
		}
	}
}

// lead begins a transaction for a write that has waited since this time, and performs those that wait, too. It gives
// the turn away. It fails if the file was replaced.
func (f *file) lead(first *fileWrite, since time.Time) {
	defer func() { <-f.turn }()
	conn, err := f.connect(first.ctx, f.writer)
	if err != nil {
		first.err = err
		return
	}
	defer func() { _ = conn.Close() }() // which gives it back
	if first.err = f.checkSameFile(); first.err != nil {
		return
	}
	begin := func() error { return f.execute(conn, "BEGIN IMMEDIATE") }
	if first.err = f.retryWhileBusy(first.ctx, since, begin); first.err != nil {
		return
	}
	f.perform(conn, append([]*fileWrite{first}, f.takeWaiting()...))
}

// takeWaiting returns the writes that wait, in the order in which they came.
func (f *file) takeWaiting() (all []*fileWrite) {
	for {
		select {
		case w := <-f.waiting:
			all = append(all, w)
		default:
			return all
		}
	}
}

// perform performs writes in the transaction, and ends it.
func (f *file) perform(conn *sql.Conn, all []*fileWrite) {
	end := errUndone // of those without an error of their own; also if a write panics
	defer func() {
		if end == nil {
			end = f.execute(conn, "COMMIT")
		}
		if end != nil {
			_ = f.execute(conn, "ROLLBACK") // which may say that SQLite has rolled back by itself
		} else {
			f.commits.Add(1)
		}
		for _, w := range all {
			if w.err == nil {
				w.err = end
			}
			close(w.done)
		}
	}()
	for _, w := range all {
		var undone bool
		if undone, w.err = f.try(conn, w, len(all) > 1); undone {
			return
		}
	}
	end = nil
}

// try performs a write. If that fails, the write is undone, unless undone is true: then the whole transaction was
// undone, or has to be. A write that shares its transaction with no other has no savepoint, which would cost time.
func (f *file) try(conn *sql.Conn, w *fileWrite, shared bool) (undone bool, err error) {
	if err := w.ctx.Err(); err != nil {
		return !shared, err
	}
	if !shared {
		err = f.runStatements(conn, w)
		return err != nil, err
	}
	if err := f.execute(conn, "SAVEPOINT one"); err != nil {
		return true, err
	}
	if err = f.runStatements(conn, w); err != nil && f.execute(conn, "ROLLBACK TO one") != nil {
		return true, err
	}
	if released := f.execute(conn, "RELEASE one"); released != nil {
		return true, errors.Join(err, released)
	}
	return false, err
}

// runStatements executes the statements of a write. No context interrupts it.
func (f *file) runStatements(conn *sql.Conn, w *fileWrite) error {
	t := f.tx(context.WithoutCancel(w.ctx), conn)
	if err := w.do(t); err != nil {
		return err
	}
	return t.send()
}

// execute executes a statement that belongs to no single write. No context interrupts it.
func (f *file) execute(conn *sql.Conn, text string) error {
	_, err := conn.ExecContext(context.Background(), text)
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
			if err := sendStatement(t.ctx, conn, s); err != nil {
				return err
			}
		}
		return nil
	}
	return &tx{ctx: ctx, deliver: deliver}
}

func sendStatement(ctx context.Context, conn *sql.Conn, s statement) error {
	if s.take == nil {
		_, err := conn.ExecContext(ctx, s.text, s.args...)
		return err
	}
	found, err := conn.QueryContext(ctx, s.text, s.args...) //nolint:rowserrcheck // take checks it
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
