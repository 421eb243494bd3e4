package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"sibyl/internal/journal"
)

const (
	// settlePause is the time between two questions whether a transaction was committed.
	settlePause = 50 * time.Millisecond

	// longestUnanswered is how long a connection is kept for the answer to a COMMIT.
	longestUnanswered = 10 * time.Minute
)

var (
	errUnanswered  = errors.New("the server has not answered COMMIT: a synchronous standby may be missing")
	errBarred      = errors.New("the server does not answer commits: a synchronous standby may be missing")
	errBusy        = errors.New("all connections that may write are in use: the server is slow, or a standby is missing")
	errUncancelled = errors.New("a COMMIT is not cancelled")
)

// link is what is known of a connection of the pool.
type link struct {
	uncancellable atomic.Bool // no CancelRequest is sent for it
	warning       error       // the last warning of the server; nil: none since it was cleared
}

// linkKey is the key of a connection's link in its custom data.
const linkKey = "sibyl"

func linkOf(conn *pgxpool.Conn) *link {
	l, _ := conn.Conn().PgConn().CustomData()[linkKey].(*link)
	return l
}

// openCommit is a COMMIT that was sent.
type openCommit struct {
	socket   net.Conn
	over     bool        // it was answered, or the connection has ended
	limit    *time.Timer // set if it is kept
	answered chan answer
}

// answer is what came of a COMMIT.
type answer struct {
	err       error // nil: it was done, and synchronous standbys have confirmed it
	refused   bool  // nothing was written
	committed bool  // it was committed, but standbys have not confirmed it
}

// unanswered are the COMMITs that were not answered in time. Their sessions on the server go on waiting for a standby,
// and keep their locks. If the connections were closed, others would take their place, until the server has no more.
type unanswered struct {
	mu   sync.Mutex
	kept map[*openCommit]struct{}
	shut bool
}

// keep keeps the connection of a COMMIT until it is answered, for longestUnanswered at most. If there are most already,
// it closes the connection.
func (u *unanswered) keep(c *openCommit, most int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case c.over:
	case u.shut || len(u.kept) >= most:
		_ = c.socket.Close() // the server goes on with the commit
	default:
		u.kept[c] = struct{}{}
		c.limit = time.AfterFunc(longestUnanswered, func() { u.cut(c) })
	}
}

// cut closes the connection of a COMMIT, unless it is over.
func (u *unanswered) cut(c *openCommit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !c.over {
		_ = c.socket.Close() // the server goes on with the commit
	}
}

// end says that a COMMIT is over: its connection may be used for something else.
func (u *unanswered) end(c *openCommit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	c.over = true
	delete(u.kept, c)
	if c.limit != nil {
		c.limit.Stop()
	}
}

func (u *unanswered) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.kept)
}

// close closes all connections, and those that would be kept from now on.
func (u *unanswered) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.shut = true
	for c := range u.kept {
		_ = c.socket.Close() // the server goes on with the commit
	}
}

// mostUnanswered is how many COMMITs may be unanswered before no other write begins: the rest is for reading.
func (s *server) mostUnanswered() int { return int(s.pool.Config().MaxConns) / 2 }

// checkAnswers returns an error if too many COMMITs are unanswered.
func (s *server) checkAnswers() error {
	if n := s.unanswered.count(); n > 0 && n >= s.mostUnanswered() {
		return &failure{err: errBarred, unsent: true}
	}
	return nil
}

// commit commits the transaction of t, and gives its connection back with release. A commit is never cancelled:
// PostgreSQL would stop waiting for its synchronous standby, and the write would be there until a failover. If there
// is no answer within s.commitPatience, or one that confirms nothing, it settles what came of it, for as long again.
// The failure is lost if the work may be repeated, and unsure if nobody knows whether it will last.
func (s *server) commit(t *tx, conn *pgxpool.Conn, release func()) error {
	c := &openCommit{socket: conn.Conn().PgConn().Conn(), answered: make(chan answer, 1)}
	l := linkOf(conn)
	l.uncancellable.Store(true)
	l.warning = nil
	go func() {
		a := sendCommit(conn, l)
		s.unanswered.end(c)
		if !conn.Conn().IsClosed() { // it was answered
			l.uncancellable.Store(s.shared)
		}
		release()
		c.answered <- a
	}()
	a := s.awaitAnswer(c)
	if a.err == nil {
		return nil
	}
	return s.settle(t, a, c)
}

// awaitAnswer waits for the answer to a COMMIT: for s.commitPatience or, once the database is to be closed, for
// closePatience.
func (s *server) awaitAnswer(c *openCommit) answer {
	patience := time.NewTimer(s.commitPatience)
	defer patience.Stop()
	select {
	case a := <-c.answered:
		return a
	case <-patience.C:
		return answer{err: errUnanswered}
	case <-s.life.Done():
	}
	late := time.NewTimer(closePatience)
	defer late.Stop()
	select {
	case a := <-c.answered:
		return a
	case <-late.C:
		return answer{err: errUnanswered}
	}
}

// sendCommit sends COMMIT and waits for its answer. PostgreSQL warns of nothing else there than that it does not wait
// for a standby any longer, in words that depend on its language.
func sendCommit(conn *pgxpool.Conn, l *link) answer {
	tag, err := conn.Exec(context.Background(), "COMMIT") // without a context, it is not cancelled
	switch {
	case err != nil:
		return answer{err: err, refused: isRefusal(err) && !conn.Conn().IsClosed()}
	case tag.String() != "COMMIT":
		return answer{err: fmt.Errorf("the server answers COMMIT with %s", tag)}
	case l.warning != nil:
		return answer{err: l.warning, committed: true}
	}
	return answer{}
}

// settle finds out, until s.commitPatience is over, what came of a COMMIT that was not confirmed: by its answer, if it
// still comes, or by asking the server.
func (s *server) settle(t *tx, a answer, c *openCommit) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), s.commitPatience)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	if !errors.Is(a.err, errUnanswered) && !a.refused && !a.committed {
		s.pool.Reset() // the others may be lost, too
	}
	for {
		if a.refused {
			return &failure{err: a.err}
		}
		var state string
		var err error
		switch {
		case a.committed:
			state = committed
		case t.proof.query == "" && errors.Is(a.err, errUnanswered):
			s.unanswered.keep(c, s.mostUnanswered())
			return &failure{err: a.err, unsure: true}
		case t.proof.query == "":
			return &failure{err: a.err, lost: true, unsure: true}
		default:
			state, err = s.stateOf(ctx, t)
		}
		switch {
		case err != nil || state == inProgress:
		case state == committed:
			s.unanswered.cut(c) // its session waits no longer
			if s.confirm(ctx) == nil {
				return nil
			}
		case state == aborted:
			s.unanswered.cut(c)
			return &failure{err: a.err, lost: true}
		default:
			s.unanswered.cut(c)
			return &failure{err: a.err, unsure: true}
		}
		select {
		case a = <-c.answered:
			if a.err == nil {
				return nil
			}
			continue
		case <-ctx.Done():
			s.unanswered.keep(c, s.mostUnanswered())
			return &failure{err: a.err, unsure: true}
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
// of a lost one to another: a number counts as committed only if the transaction's rows are there. A standby knows less
// than its primary.
func (s *server) stateOf(ctx context.Context, lost *tx) (state string, err error) {
	err = s.withConn(ctx, func(t *tx) error {
		found, err := queryRows(t, scanValue[string], `
			SELECT CASE WHEN pg_is_in_recovery() THEN '`+inProgress+`'
			ELSE coalesce(pg_xact_status($1::text::xid8), '') END`, lost.proof.xid)
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

// confirm commits a transaction that writes to the WAL and nowhere else. When it returns nil, whatever could be read
// before is as durable as a write that was confirmed: standbys confirm the WAL in its order.
func (s *server) confirm(ctx context.Context) error {
	conn, release, err := s.acquireToWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	l := linkOf(conn)
	l.warning = nil
	// Nothing is lost if this commit is cancelled, so the context may do so.
	_, err = conn.Exec(ctx, "BEGIN; "+s.local+"; SELECT pg_logical_emit_message(true, 'sibyl', ''); COMMIT")
	if err == nil {
		err = l.warning
	}
	return err
}

var _ journal.Confirmer = (*Server)(nil)

// Confirm implements journal.Confirmer.
func (s *Server) Confirm(ctx context.Context) error {
	return s.ifOpen(ctx, func(ctx context.Context, _ func(*tx) error) error {
		bounded, cancel := context.WithTimeout(ctx, s.server.commitPatience)
		defer cancel()
		if err := s.server.confirm(bounded); err != nil {
			return s.server.explain(ctx, &failure{err: err, unsure: true})
		}
		return nil
	}, nil)
}

// prepareConnection prepares the configuration of one connection of the pool.
func (s *server) prepareConnection(c *pgconn.Config) {
	l := &link{}
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.uncancellable.Load() { // the driver dials for a CancelRequest
			return nil, errUncancelled
		}
		return dial(ctx, network, address)
	}
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			l.warning = (*pgconn.PgError)(n)
		}
	}
	c.AfterConnect = func(ctx context.Context, conn *pgconn.PgConn) error {
		conn.CustomData()[linkKey] = l
		l.uncancellable.Store(s.shared)
		return s.setUp(ctx, conn)
	}
}
