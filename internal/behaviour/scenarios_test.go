package behaviour_test

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/journal"
	"sibyl/internal/store/pgtest"
)

// How much each scenario is: runs in all, people who ask for them, and how many of each at once.
const (
	longRuns, longPeople   = 200, 20
	shortRuns, shortPeople = 60, 20
	atOnce                 = 3
	room                   = 64 // of a node: all runs that go on have room in those that are left
)

// few is how many runs a node drives at least when something happens to it.
const few = 3

// each has something happen to one node after another while people ask for notes: in the long form to each, else to the
// first.
func (c *cluster) each(happens func(p *process)) {
	c.Helper()
	victims, notes := c.nodes[:1], shortRuns
	if needs.Every() {
		victims, notes = c.nodes, longRuns
	}
	for n, p := range victims {
		share := notes / len(victims)
		if n < notes%len(victims) {
			share++
		}
		done := c.load(share, atOnce)
		c.drives(p, few)
		happens(p)
		done()
	}
}

func postgresCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	return newCluster(t, arrangement{database: pgtest.New(t), nodes: 3, people: shortPeople, most: room})
}

func sqliteCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	return newCluster(t, arrangement{database: "sqlite:" + filepath.Join(t.TempDir(), "sibyl.db"), nodes: 2,
		people: shortPeople, most: room})
}

// killed kills a node, and starts it again when others have taken up its runs.
func (c *cluster) killed(p *process) {
	c.Helper()
	holder := p.known()
	lost := c.drivenBy(holder) // looked up beforehand: on a busy machine others take them up while one looks
	c.handedOver(lost, holder, p.kill())
	p.start()
}

// stoppedPastItsLease stops a node, and lets it go on when others have taken up its runs.
func (c *cluster) stoppedPastItsLease(p *process) {
	c.Helper()
	lost := c.drivenBy(p.known())
	c.handedOver(lost, p.known(), p.signal(syscall.SIGSTOP))
	p.signal(syscall.SIGCONT)
}

// restartedInTurn ends a node in order and starts it again.
func (c *cluster) restartedInTurn(p *process) {
	c.Helper()
	took := p.terminate(patience)
	c.note("%s ended in %v", p.name, took)
	p.start()
}

func TestNodeIsKilledAndItsRunsGoOnElsewhere(t *testing.T) {
	c := postgresCluster(t)
	c.each(c.killed)
	c.sound()
}

func TestNodeIsStoppedPastItsLeaseAndGoesOn(t *testing.T) {
	c := postgresCluster(t)
	c.each(c.stoppedPastItsLease)
	c.sound()
}

func TestNodeIsCutOffFromTheDatabaseAndComesBack(t *testing.T) {
	t.Parallel()
	var proxies []*proxy
	c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 3, people: shortPeople, most: room,
		by: func(_ int, database string) string {
			p, address := cableTo(t, database)
			proxies = append(proxies, p)
			return address
		}})
	n := 0
	c.each(func(p *process) {
		holder, at := p.known(), time.Now()
		if n == 1 {
			proxies[n].refuse()
		} else {
			proxies[n].cut()
		}
		c.note("%s is cut off", p.name)
		c.handedOver(c.drivenBy(holder), holder, at)
		proxies[n].heal()
		c.note("%s is no longer cut off", p.name)
		n++
	})
	c.sound()
}

func TestNodesAreRestartedInTurnUnderLoad(t *testing.T) {
	c := postgresCluster(t)
	c.each(c.restartedInTurn)
	c.sound()
}

// A restart that takes less than a lease is waited for by those who drive: nothing is performed again.
func TestPostgresIsRestartedInTheMiddle(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{Durable: true})
	c := newCluster(t, arrangement{database: server.New(t), nodes: 3, people: shortPeople, most: room})
	ends := []func(testing.TB){server.Stop}
	if needs.Every() {
		ends = append(ends, server.Crash)
	}
	n := 0
	c.each(func(*process) {
		c.note("PostgreSQL is stopped")
		ends[n%len(ends)](t)
		server.Restart(t)
		c.note("PostgreSQL runs again")
		n++
	})
	c.sound()
}

func TestPostgresIsAwayForLongerThanALease(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{Durable: true})
	c := newCluster(t, arrangement{database: server.New(t), nodes: 3, people: shortPeople, most: room})
	c.each(func(*process) {
		open := c.runs(journal.Filter{Status: journal.Running})
		c.note("PostgreSQL is stopped")
		server.Stop(t)
		assert.NoError(t, rest(t.Context(), lease+2*time.Second))
		at := time.Now()
		server.Restart(t)
		c.note("PostgreSQL runs again")
		c.handedOver(open, "", at)
	})
	c.sound()
}

func TestNodeOnSQLiteIsKilledAndItsRunsGoOnElsewhere(t *testing.T) {
	c := sqliteCluster(t)
	c.each(c.killed)
	c.sound()
}

// SQLite's lock is the operating system's: a process that is stopped in the middle of a write keeps it, and nobody else
// writes until it goes on. Outside of a write it keeps nobody from anything.
func TestNodeOnSQLiteIsStoppedPastItsLeaseAndGoesOn(t *testing.T) {
	c := sqliteCluster(t)
	c.each(func(p *process) {
		at := c.stopped(p, false)
		c.handedOver(c.drivenBy(p.known()), p.known(), at)
		p.signal(syscall.SIGCONT)
	})
	c.sound()
}

func TestNodeOnSQLiteIsStoppedInAWriteAndAllGoOnWhenItDoes(t *testing.T) {
	c := sqliteCluster(t)
	c.each(func(p *process) {
		at := c.stopped(p, true)
		lost := c.drivenBy(p.known())
		c.wait("the leases of "+p.name+" to run out", func() bool {
			return time.Since(at) > lease && len(c.drivenBy(p.known())) == len(lost)
		})
		p.signal(syscall.SIGCONT)
	})
	c.sound()
}

// lease is how long a node has a run without a sign of it.
const lease = 8 * time.Second

// stopped stops a node while it writes, or while it does not, and gives when.
func (c *cluster) stopped(p *process, writing bool) (at time.Time) {
	c.Helper()
	c.wait(fmt.Sprintf("node %s to be stopped in a write: %v", p.name, writing), func() bool {
		at = p.signal(syscall.SIGSTOP)
		if c.locked() == writing {
			return true
		}
		p.signal(syscall.SIGCONT)
		return false
	})
	return at
}

// lockTime is how long a lock is waited for that nobody has for long.
const lockTime = time.Second

// locked says that somebody keeps the database from being written to.
func (c *cluster) locked() bool {
	ctx, cut := context.WithTimeout(c.Context(), lockTime)
	defer cut()
	_, err := c.db.TakeDuty(ctx, "look for a lock", time.Now(), 0)
	return err != nil
}
