package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// fileWrite is a write that waits to join a transaction.
type fileWrite struct {
	do   func(*tx) error
	err  error         // valid when done is closed
	done chan struct{} // closed after the write was committed or rolled back
}

var errBrokenOff = errors.New("a write that shared the transaction broke off")

// runWrite implements dialect. The caller that gets the turn also performs the writes of all callers that wait.
func (f *file) runWrite(ctx context.Context, do func(*tx) error) error {
	if f.readOnly != nil {
		return f.readOnly
	}
	w, since := &fileWrite{do: do, done: make(chan struct{})}, time.Now()
	select {
	case f.turn <- struct{}{}:
		w.err = f.leadGroup(ctx, since, w)
	case f.writes <- w:
		<-w.done // a transaction that has begun runs to its end
	case <-ctx.Done():
		return ctx.Err()
	}
	return f.explain(w.err)
}

// leadGroup begins a transaction, performs w and all waiting writes in it, and releases the turn. It returns w's error.
func (f *file) leadGroup(ctx context.Context, since time.Time, w *fileWrite) error {
	defer func() { <-f.turn }()
	if err := f.beginTransaction(ctx, since); err != nil {
		return err
	}
	group := []*fileWrite{w}
	for {
		select {
		case other := <-f.writes:
			group = append(group, other)
			continue
		default:
		}
		f.commitGroup(group)
		return w.err
	}
}

// beginTransaction begins a transaction for a write that has waited since this time. It fails if the file was replaced.
func (f *file) beginTransaction(ctx context.Context, since time.Time) error {
	if err := f.checkSameFile(); err != nil {
		return err
	}
	return f.retryWhileBusy(ctx, since, func() error { return f.execute("BEGIN IMMEDIATE") })
}

// endTransaction commits the transaction, or rolls it back and returns failed if that is set or the commit fails.
func (f *file) endTransaction(failed error) error {
	if failed == nil {
		failed = f.execute("COMMIT")
	}
	if failed != nil {
		_ = f.execute("ROLLBACK") // which may say that SQLite has rolled back by itself
	}
	return failed
}

// execute executes a statement on the connection that writes. No context interrupts it.
func (f *file) execute(text string) error {
	return f.sendStatement(context.Background(), f.writer, statement{text: text})
}

// commitGroup performs the writes of a group in the transaction, and commits it. A write that fails is undone alone. If
// the whole transaction is lost, all writes fail.
func (f *file) commitGroup(group []*fileWrite) {
	lost := errBrokenOff // if a write panics
	defer func() {
		lost = f.endTransaction(lost)
		for _, w := range group {
			if w.err == nil {
				w.err = lost
			}
			close(w.done)
		}
	}()
	if len(group) == 1 {
		lost = f.runStatements(group[0].do)
		return
	}
	for _, w := range group {
		if w.err, lost = f.tryWrite(w.do); lost != nil {
			return // SQLite rolls back the whole transaction, for example when the disk is full
		}
	}
}

func (f *file) runStatements(do func(*tx) error) error {
	t := f.tx(context.Background(), f.writer)
	if err := do(t); err != nil {
		return err
	}
	return t.send()
}

// tryWrite performs a write in a savepoint. failed is its error; lost is set if the whole transaction is lost.
func (f *file) tryWrite(do func(*tx) error) (failed, lost error) {
	if err := f.execute("SAVEPOINT part"); err != nil {
		return err, err
	}
	if failed = f.runStatements(do); failed != nil && f.execute("ROLLBACK TO part") != nil {
		return failed, failed
	}
	return failed, f.execute("RELEASE part")
}

// runRead implements dialect.
func (f *file) runRead(ctx context.Context, do func(*tx) error) error {
	return f.explain(f.withReader(ctx, do))
}

func (f *file) withReader(ctx context.Context, do func(*tx) error) error {
	var l *link
	select {
	case l = <-f.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { f.readers <- l }()
	err := f.retryWhileBusy(ctx, time.Now(), func() error { return do(f.tx(ctx, l)) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// link is a connection that one goroutine uses at a time. It keeps prepared statements, since preparing takes longer
// than executing.
type link struct {
	pool     *sql.DB
	conn     *sql.Conn // nil until it is first used
	prepared map[string]*sql.Stmt
}

func (l *link) close() error {
	var errs []error
	for _, prepared := range l.prepared {
		errs = append(errs, prepared.Close())
	}
	if l.conn != nil {
		errs = append(errs, l.conn.Close())
	}
	return errors.Join(errs...)
}

// prepare translates and prepares a statement, once for each link. It connects if the link is new.
func (f *file) prepare(ctx context.Context, l *link, text string) (_ *sql.Stmt, err error) {
	if known := l.prepared[text]; known != nil {
		return known, nil
	}
	if l.conn == nil {
		if l.conn, err = l.pool.Conn(ctx); err != nil {
			l.conn = nil
			return nil, err
		}
	}
	prepared, err := l.conn.PrepareContext(ctx, f.words.Replace(text))
	if err == nil {
		l.prepared[text] = prepared
	}
	return prepared, err
}

// tx returns a tx on this connection. It begins no transaction.
func (f *file) tx(ctx context.Context, l *link) *tx {
	deliver := func(t *tx, all []statement) error {
		for _, s := range all {
			if err := f.sendStatement(t.ctx, l, s); err != nil {
				return err
			}
		}
		return nil
	}
	return &tx{ctx: ctx, deliver: deliver}
}

func (f *file) sendStatement(ctx context.Context, l *link, s statement) error {
	prepared, err := f.prepare(ctx, l, s.text) //nolint:sqlclosecheck // the connection keeps and closes it
	if err != nil {
		return err
	}
	if s.take == nil {
		_, err := prepared.ExecContext(ctx, s.args...)
		return err
	}
	found, err := prepared.QueryContext(ctx, s.args...) //nolint:rowserrcheck // take checks it
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
