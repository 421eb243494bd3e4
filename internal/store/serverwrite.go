package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// mostDeadlocks bounds how often a write is retried after a deadlock.
const mostDeadlocks = 5

// keptToRead is how many connections no write takes. While a standby is missing, all writes wait in their COMMIT, and
// reads go on.
const keptToRead = 2

// mostWriting is how many connections may write at once, of so many.
func mostWriting(connections int32) int32 { return max(connections-keptToRead, 1) }

// runWrite implements dialect.
func (s *server) runWrite(ctx context.Context, do func(*tx) error) error {
	var lost, deadlocks int
	var unsure bool // of a write that is repeated
	for {
		err := s.tryTransaction(ctx, do)
		f, failed := errors.AsType[*failure](err)
		switch {
		case !failed || ctx.Err() != nil:
		case isDeadlock(err) && deadlocks < mostDeadlocks:
			deadlocks++
			continue
		case f.lost && lost == 0:
			lost++
			unsure = f.unsure
			s.pool.Reset()
			continue
		}
		if failed {
			f.unsure = f.unsure || unsure
		}
		if serverCode(err) == readOnlyTransaction {
			s.pool.Reset() // another server of the address may be the one that is written to
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
		return nil, &failure{err: err, unsent: true}
	}
	return conn, nil
}

// acquireToWrite acquires a connection for a transaction that writes, as soon as there are few enough others. The
// connection is given back with release.
func (s *server) acquireToWrite(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	late := time.NewTimer(s.patience)
	defer late.Stop()
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, &failure{err: ctx.Err(), unsent: true}
	case <-late.C:
		return nil, nil, &failure{err: errBusy, unsent: true}
	}
	leave := func() { <-s.writing }
	if conn, err = s.acquire(ctx); err != nil {
		leave()
		return nil, nil, err
	}
	return conn, func() {
		conn.Release()
		leave()
	}, nil
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
	t := &tx{ctx: ctx, patience: s.patience, deliver: deliver}
	if s.shared {
		t.settings = s.local
	}
	return t
}

// tryTransaction calls do in a transaction, which begins with the first statement that is sent.
func (s *server) tryTransaction(ctx context.Context, do func(*tx) error) error {
	if err := s.checkAnswers(); err != nil {
		return err
	}
	conn, release, err := s.acquireToWrite(ctx)
	if err != nil {
		return err
	}
	open := true
	defer func() {
		if open {
			release() // which closes the connection if a transaction is open in it
		}
	}()
	t := s.tx(ctx, conn)
	t.begin("BEGIN ISOLATION LEVEL READ COMMITTED")
	if err = do(t); err == nil {
		err = t.send()
	}
	if err == nil {
		open = false
		return s.commit(t, conn, release)
	}
	if !conn.Conn().IsClosed() { // a transaction has to be brought to its end
		outlasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience)
		defer cancel()
		_, _ = conn.Exec(outlasting, "ROLLBACK") // if it can't be told so, the server finds the connection closed
	}
	return err
}
