package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"modernc.org/sqlite"
)

// Writes that wait share a transaction. Who holds the token writes for all that wait when its transaction has begun; each write is
// atomic in it, and fails or succeeds by itself. Only the commit is shared: if that fails, all of them do.

var errAborted = errors.New("a write that shared the transaction broke off")

// write is one that waits for its transaction.
type write struct {
	do   func(tx) error // may be called again in another transaction, with nothing left of what it did in the first
	err  error          // known when done is closed
	done chan struct{}  // closed when the write is on the disk, or nothing of it is
}

// queue holds the writes that wait, in the order in which they came.
type queue struct {
	mu      sync.Mutex
	waiting []*write
	carried []*write // the group before, to be used again
}

func (q *queue) add(w *write) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
}

// take empties the queue. The group is the caller's until take is called again.
func (q *queue) take() []*write {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.carried)
	q.waiting, q.carried = q.carried[:0], q.waiting
	return q.carried
}

// remove takes a write out of the queue and says whether it was there still.
func (q *queue) remove(w *write) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// tx is the writer's connection within a transaction.
type tx struct {
	*conn
	known *known
}

// write runs do in a transaction: all that it wrote is on the disk when write returns nil, and none of it otherwise.
func (db *DB) write(ctx context.Context, do func(tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if db.writer == nil {
		return db.readOnly
	}
	start := time.Now()
	w := &write{do: do, done: make(chan struct{})}
	db.queue.add(w)
	var err error
	select {
	case db.writing <- struct{}{}:
		err = db.lead(ctx, start, w)
	case <-w.done:
	case <-db.closed:
		err = errClosed
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && db.queue.remove(w) {
		return db.explain(err)
	}
	<-w.done // a transaction that has begun runs to its end
	return db.explain(w.err)
}

// lead begins a transaction, writes in it all that waits, and gives the token back. It does nothing if w, which got the token, was
// written while it waited. The error says that no transaction could begin.
func (db *DB) lead(ctx context.Context, start time.Time, w *write) error {
	defer func() { <-db.writing }()
	select {
	case <-w.done:
		return nil
	default:
	}
	if err := db.stands(); err != nil {
		return err
	}
	t := tx{db.writer, &db.known}
	if err := db.patientlySince(ctx, start, t.begin); err != nil {
		return err
	}
	db.commit(t, db.queue.take())
	return nil
}

// begin begins a transaction, and forgets what another connection may have changed.
func (t tx) begin() error {
	if err := t.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if version := t.version(); version == 0 || version != t.known.version {
		t.known.forget()
	}
	return nil
}

// end commits the transaction.
func (t tx) end() error {
	err := t.run("COMMIT")
	if err == nil {
		t.known.version = t.version()
	}
	return err
}

// version is that of the file as this connection sees it, which each commit changes, or 0.
func (t tx) version() uint32 {
	if file, ok := t.raw.(sqlite.FileControl); ok {
		if version, err := file.FileControlDataVersion("main"); err == nil {
			return version
		}
	}
	return 0
}

// commit carries out the writes of a group and ends the transaction.
func (db *DB) commit(t tx, group []*write) {
	failed := errAborted // of a panic
	defer func() {
		if failed != nil {
			t.rollback()
		}
		for _, w := range group {
			if w.err == nil {
				w.err = failed
			}
			close(w.done)
		}
	}()
	if failed = t.all(group); failed != nil && len(group) > 1 {
		// Few writes fail. So nothing is done for the others before one does, and then they are written anew.
		t.rollback()
		if failed = db.patiently(context.Background(), t.begin); failed == nil {
			failed = t.each(group)
		}
	}
	if failed == nil {
		failed = t.end()
	}
}

// rollback leaves nothing of the transaction.
func (t tx) rollback() {
	t.known.forget()
	// Its error says only that SQLite has rolled back by itself, as it does when the disk is full.
	_ = t.run("ROLLBACK")
}

// all carries out the writes of a group, if none of them fails.
func (t tx) all(group []*write) error {
	for _, w := range group {
		if err := w.do(t); err != nil {
			return err
		}
	}
	return nil
}

// each carries out the writes of a group that succeed. The error is one after which SQLite has given up the whole transaction.
func (t tx) each(group []*write) error {
	for _, w := range group {
		if err := t.run("SAVEPOINT part"); err != nil {
			return err
		}
		if w.err = w.do(t); w.err != nil {
			t.known.forget()
			if t.run("ROLLBACK TO part") != nil {
				return w.err
			}
		}
		if err := t.run("RELEASE part"); err != nil {
			return err
		}
	}
	return nil
}

// run executes a statement that changes no row by itself, or of which it does not matter how many.
func (t tx) run(query string, args ...any) error {
	_, err := t.exec(query, args...)
	return err
}

// rows returns the rows of a query within a transaction.
func rows[T any](t tx, scan func(row) T, query string, args ...any) ([]T, error) {
	return rowsOf(context.Background(), t.conn, everything, scan, query, args)
}
