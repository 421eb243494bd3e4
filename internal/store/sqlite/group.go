package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Writes that wait share a transaction. Who holds the token writes for all that wait when its transaction has begun; each write is
// atomic in it, and fails or succeeds by itself. Only the commit is shared: if that fails, all of them do.

var errAborted = errors.New("a write that shared the transaction broke off")

// write is one that waits for its transaction.
type write struct {
	do   func(tx) error
	err  error         // known when done is closed
	done chan struct{} // closed when the write is on the disk, or nothing of it is
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
type tx struct{ *conn }

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
	t := tx{db.writer}
	if err := db.patientlySince(ctx, start, func() error { return t.run("BEGIN IMMEDIATE") }); err != nil {
		return err
	}
	t.commit(db.queue.take())
	return nil
}

// commit carries out the writes of a group and ends the transaction.
func (t tx) commit(group []*write) {
	failed := errAborted // of a panic
	defer func() {
		if failed != nil {
			// Its error says only that SQLite has rolled back by itself, as it does when the disk is full.
			_ = t.run("ROLLBACK")
		}
		for _, w := range group {
			if w.err == nil {
				w.err = failed
			}
			close(w.done)
		}
	}()
	if failed = t.each(group); failed == nil {
		failed = t.run("COMMIT")
	}
}

// each carries out the writes of a group. The error is one after which SQLite has given up the whole transaction.
func (t tx) each(group []*write) error {
	if len(group) == 1 {
		return group[0].do(t)
	}
	for _, w := range group {
		if err := t.run("SAVEPOINT part"); err != nil {
			return err
		}
		if w.err = w.do(t); w.err != nil && t.run("ROLLBACK TO part") != nil {
			return w.err
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

// all returns the rows of a query within a transaction.
func all[T any](t tx, scan func(row) T, query string, args ...any) ([]T, error) {
	return rowsOf(context.Background(), t.conn, everything, scan, query, args)
}
