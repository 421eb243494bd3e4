package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/task"
)

// replicated is a primary with a synchronous standby, and a database on both.
type replicated struct {
	t                *testing.T
	primary, standby *pgtest.Server
	name             string
	done             []string // titles of the tasks whose addition was answered as done
}

func newReplicated(t *testing.T) *replicated {
	t.Helper()
	t.Parallel()
	p := &replicated{t: t, primary: pgtest.Start(t, pgtest.Options{})}
	p.name = assert.Must(p.primary.Create(t.Context()))(t)
	p.standby = p.primary.Standby(t)
	return p
}

// open opens the database at the address of both servers.
func (p *replicated) open(settings string) *Server {
	p.t.Helper()
	return serverAt(p.t, p.primary.DSN(p.name, p.standby)+settings)
}

// impatient has commits wait for a short time only, until the function that it returns is called.
func impatient(db *Server) (patient func()) {
	db.server.commitPatience = 200 * time.Millisecond
	return func() { db.server.commitPatience = defaultPatience }
}

// add adds a task, whose title is its key.
func (p *replicated) add(ctx context.Context, db *Server, title string) error {
	_, _, err := tasksIn(db).Add(ctx, task.By{Owner: "ada", Key: title}, title, nil)
	if err == nil {
		p.done = append(p.done, title)
	}
	return err
}

// direct is a connection to the primary that waits for no standby.
func (p *replicated) direct() *pgx.Conn {
	p.t.Helper()
	return connect(p.t, p.primary.DSN(p.name)+"&synchronous_commit=local")
}

// waiting counts the sessions that wait for a standby.
func waiting(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	assert.NoError(t, conn.QueryRow(t.Context(),
		`SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`).Scan(&n))
	return n
}

func awaitWaiting(t *testing.T, conn *pgx.Conn, want int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); waiting(t, conn) != want; time.Sleep(5 * time.Millisecond) {
		assert.Require(t, time.Now().Before(deadline), "waited for %d sessions that wait for a standby", want)
	}
}

// failOver has the standby take the place of the primary, which is gone for good.
func (p *replicated) failOver() {
	p.t.Helper()
	p.primary.Kill(p.t)
	p.standby.Restart(p.t)
	p.standby.Promote(p.t)
}

// kept wants each task that was answered as done to be there once.
func (p *replicated) kept(db *Server) {
	p.t.Helper()
	all := assert.Must(db.Tasks(p.t.Context(), "ada", task.Filter{}))(p.t)
	for _, title := range p.done {
		n := 0
		for _, one := range all {
			if one.Title == title {
				n++
			}
		}
		assert.That(p.t, n == 1, "the task %q was answered as added, and is there %d times", title, n)
	}
}

func unsure(t *testing.T, err error, format string, args ...any) {
	t.Helper()
	assert.That(t, errors.Is(err, journal.ErrUnsure), "%s: error is %v, want ErrUnsure", fmt.Sprintf(format, args...),
		err)
}

func TestNothingThatWasAnsweredAsDoneIsLostAtAFailover(t *testing.T) {
	p := newReplicated(t)
	db := p.open("")
	assert.NoError(t, p.add(t.Context(), db, "with a standby"))
	p.standby.Stop(t)
	patient := impatient(db)
	unsure(t, p.add(t.Context(), db, "without a standby"), "a commit that is not answered")
	direct := p.direct()
	awaitWaiting(t, direct, 1) // it was not cancelled

	// What no key proves is not repeated either: its locks are still held.
	unsure(t, db.Keep(t.Context(), node.Node{Holder: "here"}), "a write without a proof")
	awaitWaiting(t, direct, 2)

	failed := assert.Must(db.Tasks(t.Context(), "ada", task.Filter{}))(t)
	assert.That(t, len(failed) == 1, "%d tasks can be seen while they are unsure, want 1", len(failed))
	p.failOver()
	patient()
	p.kept(db)
	assert.NoError(t, p.add(t.Context(), db, "without a standby")) // its key makes that safe
	assert.NoError(t, p.add(t.Context(), db, "with a standby"))
	p.kept(db)
	assert.Contains(t, "the name", db.server.name, ", ")
}

// However many writes wait for a standby: reading goes on, and the server's connections are not used up.
func TestMissingStandbyLeavesConnectionsToReadWith(t *testing.T) {
	p := newReplicated(t)
	db := p.open("&pool_max_conns=4")
	assert.NoError(t, p.add(t.Context(), db, "first"))
	p.standby.Stop(t)
	patient := impatient(db)
	refused := 0
	for n := range 12 {
		err := p.add(t.Context(), db, fmt.Sprint("task ", n))
		if errors.Is(err, journal.ErrUnreachable) {
			refused++
			assert.Contains(t, "the error", err.Error(), "standby", "nothing was sent", db.server.name)
			continue
		}
		unsure(t, err, "task %d", n)
	}
	direct := p.direct()
	n := waiting(t, direct)
	assert.That(t, n == 2 && refused == 10, "%d sessions wait for the standby, want 2; %d writes were refused, want 10", n,
		refused)
	_, err := db.Tasks(t.Context(), "ada", task.Filter{})
	assert.Nilf(t, err, "reading")

	p.standby.Restart(t)
	awaitWaiting(t, direct, 0)
	patient()
	for deadline := time.Now().Add(time.Minute); p.add(t.Context(), db, "afterwards") != nil; time.Sleep(5 * time.Millisecond) {
		assert.Require(t, time.Now().Before(deadline), "waited for writes to be done again")
	}
	for n := range 2 {
		assert.NoError(t, p.add(t.Context(), db, fmt.Sprint("task ", n)))
	}
	p.kept(db)
}

// While all writes of a burst still wait for a standby, people read, and writes that nobody has begun go on afterwards.
func TestBurstOfWritesThatWaitForAStandbyLeavesConnectionsToReadWith(t *testing.T) {
	p := newReplicated(t)
	db := p.open("&pool_max_conns=5")
	assert.NoError(t, p.add(t.Context(), db, "first"))
	p.standby.Stop(t)
	db.server.patience, db.server.commitPatience = time.Minute, time.Minute
	const burst = 12
	added := make(chan error)
	for n := range burst {
		go func() {
			_, _, err := tasksIn(db).Add(t.Context(), task.By{Owner: "ada", Key: fmt.Sprint(n)}, fmt.Sprint("task ", n), nil)
			added <- err
		}()
	}
	direct := p.direct()
	awaitWaiting(t, direct, 3)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		seen, err := db.Tasks(ctx, "ada", task.Filter{})
		cancel()
		assert.That(t, err == nil && len(seen) == 1, "%d tasks are read, error %v", len(seen), err)
	}
	assert.Equalf(t, waiting(t, direct), 3, "sessions that wait for the standby")
	p.standby.Restart(t)
	for range burst {
		assert.NoError(t, <-added)
	}
	assert.Equal(t, len(assert.Must(db.Tasks(t.Context(), "ada", task.Filter{}))(t)), burst+1)
}

// However a wait for a standby ends, the write is unsure until a standby has it.
func TestCommitThatNoStandbyHasIsUnsureHoweverItsWaitEnds(t *testing.T) {
	p := newReplicated(t)
	assert.NoError(t, p.add(t.Context(), p.open(""), "with a standby"))
	direct := p.direct()
	p.standby.Stop(t)
	signal := func(function string) func(*Server) {
		return func(*Server) {
			awaitWaiting(t, direct, 1)
			assert.Must(direct.Exec(t.Context(), `SELECT `+function+`(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))(t)
		}
	}
	cutOff := func(what cut) (func(*Server), func() string) {
		return func(*Server) { awaitWaiting(t, direct, 1) }, func() string {
			_, through := before(t, p.primary.DSN(p.name), func(message []byte) cut {
				if isCommit(message) {
					return what
				}
				return nothing
			})
			return through
		}
	}
	gone, throughGone := cutOff(afterIt)
	silent, throughSilent := cutOff(afterItSilence)
	for name, c := range map[string]struct {
		then     func(db *Server)
		settings string
		through  func() string
		ends     bool // the wait has ended, and what was written can be seen
	}{
		"an operator cancels it":       {then: signal("pg_cancel_backend"), ends: true},
		"an operator ends the session": {then: signal("pg_terminate_backend"), ends: true},
		"the time-out of statements is over": {then: func(*Server) {
			awaitWaiting(t, direct, 1)
			assert.Must(direct.Exec(t.Context(), `SELECT pg_sleep(0.3)`))(t) // it does not count at COMMIT
		}, settings: "&statement_timeout=250ms"},
		"the connection is gone": {then: gone, through: throughGone},
		"the network is silent":  {then: silent, through: throughSilent},
		"the database is closed": {then: func(db *Server) {
			awaitWaiting(t, direct, 1)
			go func() { _ = db.Close() }()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			db := p.open(c.settings)
			if c.through != nil {
				db = serverAt(t, c.through())
			}
			impatient(db)
			ctx, cancel := context.WithCancel(t.Context())
			added := make(chan error)
			go func() { added <- p.add(ctx, db, name) }()
			c.then(db)
			cancel() // which does not interrupt a commit
			unsure(t, <-added, "it")
			closeDB(t, db.DB)
			if !c.ends {
				awaitWaiting(t, direct, 1)
			}
			var seen int
			assert.NoError(t, direct.QueryRow(t.Context(), `SELECT count(*) FROM task WHERE title = $1`, name).Scan(&seen))
			assert.Equalf(t, seen == 1, c.ends, "the task can be seen")
			if c.ends {
				again := p.open("")
				impatient(again)
				unsure(t, p.add(t.Context(), again, name), "the same again, while it can be seen")
			}
			// as if an operator had given the standby up for a moment
			assert.Must(direct.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))(t)
			awaitWaiting(t, direct, 0)
		})
	}
	p.failOver()
	db := p.open("")
	p.kept(db)
	all := assert.Must(db.Tasks(t.Context(), "ada", task.Filter{}))(t)
	assert.That(t, len(all) == 1, "%d tasks have outlasted the primary, want 1", len(all))
}

// A standby that comes back in time confirms what was in doubt.
func TestCommitInDoubtIsDoneWhenAStandbyHasIt(t *testing.T) {
	p := newReplicated(t)
	db := p.open("&synchronous_commit=remote_apply")
	db.server.commitPatience = time.Minute
	direct := p.direct()
	for _, end := range []string{"", "pg_cancel_backend", "pg_terminate_backend"} {
		p.standby.Stop(t)
		added := make(chan error)
		go func() { added <- p.add(t.Context(), db, fmt.Sprintf("ended by %q", end)) }()
		awaitWaiting(t, direct, 1)
		if end != "" {
			assert.Must(direct.Exec(t.Context(), `SELECT `+end+`(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))(t)
			awaitWaiting(t, direct, 1) // for the confirmation
		}
		p.standby.Restart(t)
		assert.Nilf(t, <-added, "ended by %q", end)
	}
	p.standby.Stop(t)
	p.failOver()
	p.kept(p.open(""))
}

// A primary that crashed has what was in doubt, and its standby may not.
func TestCommitInDoubtIsUnsureAfterARestartOfThePrimary(t *testing.T) {
	p := newReplicated(t)
	db := p.open("")
	p.standby.Stop(t)
	patient := impatient(db)
	db.server.commitPatience = 3 * time.Second
	direct := p.direct()
	added := make(chan error)
	go func() { added <- p.add(t.Context(), db, "a task") }()
	awaitWaiting(t, direct, 1)
	p.primary.Crash(t)
	p.primary.Restart(t)
	unsure(t, <-added, "it")
	seen := assert.Must(db.Tasks(t.Context(), "ada", task.Filter{}))(t)
	assert.That(t, len(seen) == 1, "the primary has %d tasks", len(seen))
	impatient(db)
	unsure(t, p.add(t.Context(), db, "a task"), "it is sent again")
	unsure(t, db.Confirm(t.Context()), "what can be read")
	p.failOver()
	patient()
	p.kept(db)
	assert.NoError(t, p.add(t.Context(), db, "a task"))
	assert.NoError(t, db.Confirm(t.Context()))
	p.kept(db)
}

// A standby that is not promoted knows less than its primary, so it is no witness.
func TestStandbyIsNotAskedWhatWasCommitted(t *testing.T) {
	p := newReplicated(t)
	assert.NoError(t, p.add(t.Context(), p.open("&synchronous_commit=remote_apply"), "first"))
	db := serverAt(t, p.standby.DSN(p.name))
	impatient(db)
	lost := &tx{ctx: t.Context(), proof: proof{xid: "4000000000", query: `SELECT FROM session`}}
	var f *failure
	err := settleLost(db, lost)
	assert.That(t, errors.As(err, &f) && f.unsure && !f.lost, "error is %v, want one that says that it is not known", err)
	err = p.add(t.Context(), db, "second")
	assert.That(t, errors.Is(err, journal.ErrReadOnly) && strings.Contains(err.Error(), "standby"),
		"error is %v, want ErrReadOnly", err)
}
