package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// mostDeadlocks bounds how often a write is retried after a deadlock.
const mostDeadlocks = 5

// settlePause is the time between two questions whether a transaction was committed.
const settlePause = 50 * time.Millisecond

// runWrite implements dialect.
func (s *server) runWrite(ctx context.Context, do func(*tx) error) error {
	var lost, deadlocks int
	for {
		err := s.tryTransaction(ctx, do)
		switch {
		case ctx.Err() != nil:
		case isDeadlock(err) && deadlocks < mostDeadlocks:
			deadlocks++
			continue
		case isLost(err) && lost == 0:
			lost++
			s.pool.Reset()
			continue
		}
		return s.explain(ctx, err)
	}
}

// runRead implements dialect.
func (s *server) runRead(ctx context.Context, do func(*tx) error) error {
	err := s.withConn(ctx, do)
	if isLost(err) && ctx.Err() == nil {
		s.pool.Reset()
		err = s.withConn(ctx, do)
	}
	return s.explain(ctx, err)
}

func (s *server) withConn(ctx context.Context, do func(*tx) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	t := s.tx(ctx, conn)
	if err := do(t); err != nil {
		return err
	}
	return t.send()
}

func (s *server) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, &failure{err: err}
	}
	return conn, nil
}

func (s *server) tx(ctx context.Context, conn *pgxpool.Conn) *tx {
	deliver := func(t *tx, all []statement) error {
		ctx, cancel := t.bounded()
		defer cancel()
		batch := &pgx.Batch{}
		var taken error // kept from the driver, which would have the batch's statements prepared again after an error
		for _, one := range all {
			queued := batch.Queue(one.text, one.args...)
			if one.take != nil {
				queued.Query(func(rows pgx.Rows) error {
					if taken == nil {
						taken = one.take(rows)
					}
					return nil
				})
			}
		}
		err := conn.SendBatch(ctx, batch).Close()
		if err == nil {
			err = taken
		}
		if err != nil {
			return &failure{err: err, lost: conn.Conn().IsClosed()}
		}
		return nil
	}
	return &tx{ctx: ctx, patience: s.patience, deliver: deliver}
}

// tryTransaction calls do in a transaction, which begins with the first statement that is sent.
func (s *server) tryTransaction(ctx context.Context, do func(*tx) error) error {
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes it if a transaction is open in it
	t := s.tx(ctx, conn)
	t.run("BEGIN ISOLATION LEVEL READ COMMITTED")
	if err = do(t); err == nil {
		err = t.send()
	}
	// a transaction has to be brought to its end
	outlasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
	defer cancel()
	if err != nil {
		if !conn.Conn().IsClosed() {
			_, _ = conn.Exec(outlasting, "ROLLBACK") // if it can't be told so, the server finds the connection closed
		}
		return err
	}
	tag, err := conn.Exec(outlasting, "COMMIT")
	if err == nil && tag.String() != "COMMIT" {
		err = fmt.Errorf("the server answers COMMIT with %s", tag)
	}
	if err != nil {
		conn.Release() // askIfCommitted needs a connection
		return s.askIfCommitted(t, err)
	}
	return nil
}

// askIfCommitted asks the server, until s.patience is over, if a transaction was committed whose commit failed: then it
// is nil. Otherwise the failure is lost if the work may be repeated, and unsure if nobody knows if it was committed.
func (s *server) askIfCommitted(t *tx, cause error) error {
	if isRefusal(cause) {
		return &failure{err: cause}
	}
	if t.proof.query == "" {
		return &failure{err: cause, lost: true, unsure: true}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), s.patience)
	defer cancel()
	s.pool.Reset()
	for {
		state, err := s.stateOf(ctx, t)
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

// The states of a transaction, as the server names them.
const (
	inProgress = "in progress"
	committed  = "committed"
	aborted    = "aborted"
)

// stateOf asks the server for the state of a transaction; "" if unknown. After a crash, the server may give the number
// of a lost one to another: a number counts as committed only if the transaction's rows are there.
func (s *server) stateOf(ctx context.Context, lost *tx) (state string, err error) {
	err = s.withConn(ctx, func(t *tx) error {
		found, err := queryRows(t, scanValue[string], "SELECT coalesce(pg_xact_status($1::text::xid8), '')", lost.proof.xid)
		if isFuture(err) {
			state = aborted
			return nil
		}
		if state, err = onlyRow(found, err, nil); err != nil || state != committed {
			return err
		}
		there, err := queryRows(t, scanValue[bool], "SELECT EXISTS ("+lost.proof.query+")", lost.proof.args...)
		if err == nil && !there[0] {
			state = ""
		}
		return err
	})
	return state, err
}
