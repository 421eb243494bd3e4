package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tx is a transaction. Its statements are queued, and sent together with those before and after them, so that it takes one round trip and one
// more for the commit. What they give is checked in their order; of the first that is refused the transaction leaves nothing.
type tx struct {
	db      *DB
	ctx     context.Context
	conn    *pgxpool.Conn
	batch   *pgx.Batch
	refused error
	proof   proof
}

// proof is how it can be found out later whether a transaction was committed: by the number that the server gave it, and a query for what it
// alone has written. Without a proof the transaction may be repeated when it is not known whether it was committed.
type proof struct {
	xid   string
	query string
	args  []any
}

// change queues a statement. check, if there is one, gets the number of rows it changed.
func (t *tx) change(check func(n int64) error, query string, args ...any) {
	queued := t.batch.Queue(query, bound(args)...)
	if check != nil {
		queued.Exec(func(tag pgconn.CommandTag) error {
			t.refused = check(tag.RowsAffected())
			return t.refused
		})
	}
}

// rows queues a query, whose rows check gets.
func rows[T any](t *tx, scan pgx.RowToFunc[T], check func([]T) error, query string, args ...any) {
	t.batch.Queue(query, bound(args)...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, scan)
		if err != nil {
			return err
		}
		t.refused = check(found)
		return t.refused
	})
}

// provable asks for the number of the transaction, and says by which query its writes can be told.
func (t *tx) provable(query string, args ...any) {
	keep := func(found []string) error {
		t.proof = proof{found[0], query, args}
		return nil
	}
	rows(t, pgx.RowTo[string], keep, `SELECT pg_current_xact_id()::text`)
}

// send sends what is queued.
func (t *tx) send() error {
	if t.batch.Len() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.ctx, t.db.patience)
	defer cancel()
	err := t.conn.SendBatch(ctx, t.batch).Close()
	t.batch = &pgx.Batch{}
	switch {
	case t.refused != nil:
		return t.refused
	case err != nil:
		return &failure{err: err, lost: t.conn.Conn().IsClosed()}
	}
	return nil
}

// mostDeadlocks is how often a write is begun anew that the server broke off because writes waited for each other.
const mostDeadlocks = 5

// write runs do in a transaction: all that it wrote is on the disk when write returns nil, and none of it otherwise, unless the error says
// that it is not known. do may be called again in another transaction, with nothing left of what it did in the first.
func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	var lost, deadlocks int
	for {
		err := db.attempt(ctx, do)
		switch {
		case ctx.Err() != nil:
		case isDeadlock(err) && deadlocks < mostDeadlocks:
			deadlocks++
			continue
		case isLost(err) && lost == 0:
			lost++
			db.pool.Reset()
			continue
		}
		return db.explain(ctx, err)
	}
}

func (db *DB) attempt(ctx context.Context, do func(*tx) error) error {
	conn, err := db.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes it if a transaction is open in it
	t := &tx{db: db, ctx: ctx, conn: conn, batch: &pgx.Batch{}}
	t.batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	if err = do(t); err == nil {
		err = t.send()
	}
	if err != nil {
		t.rollBack()
		return err
	}
	if err := t.commit(); err != nil {
		conn.Release() // for who asks now needs one
		return db.settle(t, err)
	}
	return nil
}

func (db *DB) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, db.patience)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, &failure{err: err}
	}
	return conn, nil
}

// outlast gives a context that does not end with the caller's, since a transaction has to be brought to its end.
func (t *tx) outlast() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.ctx), t.db.patience)
}

// rollBack leaves nothing of the transaction. If it can't be told so, the server finds the connection closed.
func (t *tx) rollBack() {
	if t.conn.Conn().IsClosed() {
		return
	}
	ctx, cancel := t.outlast()
	defer cancel()
	_, _ = t.conn.Exec(ctx, "ROLLBACK")
}

// commit commits the transaction. After an error of the server's own nothing is written; after any other it is not known.
func (t *tx) commit() error {
	ctx, cancel := t.outlast()
	defer cancel()
	tag, err := t.conn.Exec(ctx, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("the server answers COMMIT with %s", tag)
	}
	return err
}

// settlePause is the time between two questions whether a transaction was committed.
const settlePause = 50 * time.Millisecond

// settle finds out whether a transaction was committed, after an error of its commit.
func (db *DB) settle(t *tx, cause error) error {
	if isRefusal(cause) {
		return &failure{err: cause}
	}
	if t.proof.query == "" {
		return &failure{err: cause, lost: true, unsure: true}
	}
	ctx, cancel := t.outlast()
	defer cancel()
	db.pool.Reset()
	for {
		state, err := db.stateOf(ctx, t)
		switch {
		case err != nil || state == inProgress:
		case state == committed:
			return nil
		case state == aborted:
			return &failure{err: cause, lost: true}
		default:
			return &failure{err: cause, unsure: true}
		}
		select {
		case <-ctx.Done():
			return &failure{err: cause, unsure: true}
		case <-time.After(settlePause):
		}
	}
}

// How a transaction stands, as the server names it.
const (
	inProgress = "in progress"
	committed  = "committed"
	aborted    = "aborted"
)

// stateOf asks the server how a transaction stands, "" if it does not know. A crash of the server may give the number of one that it lost to
// another. So a number counts as committed only where there is what the transaction wrote.
func (db *DB) stateOf(ctx context.Context, t *tx) (state string, err error) {
	conn, err := db.acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()
	err = conn.QueryRow(ctx, "SELECT coalesce(pg_xact_status($1::text::xid8), '')", t.proof.xid).Scan(&state)
	if isFuture(err) {
		return aborted, nil
	}
	if err != nil || state != committed {
		return state, err
	}
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS ("+t.proof.query+")", t.proof.args...).Scan(&there)
	if err == nil && !there {
		state = ""
	}
	return state, err
}
