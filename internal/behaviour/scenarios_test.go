package behaviour_test

import (
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

func TestNodesAreRestartedInTurnUnderLoad(t *testing.T) {
	c := postgresCluster(t)
	c.each(c.restartedInTurn)
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

// lease is how long a node has a run without a sign of it.
const lease = 8 * time.Second
