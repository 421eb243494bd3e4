package behaviour_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	records "sibyl/internal/run"
	"sibyl/internal/store/pgtest"
)

// beginAt begins a run of a person at one node.
func (c *cluster) beginAt(p *process, u *person) journal.Run {
	c.Helper()
	u.asked++
	body := assert.Must(json.Marshal(map[string]any{"assistant": "oracle",
		"words":   words(u.name+".md", fmt.Sprintf("%s-%d-1", u.name, u.asked)),
		"options": map[string]any{"vault": "notes"}}))(c)
	r := u.call(c.Context(), p, p.currentAddress(), http.MethodPost, "/api/runs", string(body))
	var begun struct{ Run string }
	if err := json.Unmarshal(r.body, &begun); err != nil || r.status != http.StatusCreated {
		c.Fatalf("a run is begun at %s with %d: %s", p.name, r.status, r.body)
	}
	run := assert.Must(c.db.Run(c.Context(), journal.Owner(u.name), begun.Run))(c)
	return run
}

// has waits until a run has a record of a kind.
func (c *cluster) has(r journal.Run, kind string) {
	c.Helper()
	c.wait("run "+r.ID+" to have a record "+kind, func() bool {
		return slices.ContainsFunc(c.recordsOf(r), func(rec journal.Record) bool { return rec.Kind == kind })
	})
}

// waitForEnd waits until a run has ended.
func (c *cluster) waitForEnd(r journal.Run) (now journal.Run) {
	c.Helper()
	c.wait("the end of run "+r.ID, func() bool {
		var err error
		now, err = c.db.Run(c.Context(), r.Owner, r.ID)
		return err == nil && now.Status != journal.Running
	})
	return now
}

// post asks for something to be done with a run.
func (c *cluster) post(p *process, u *person, r journal.Run, what string) answered {
	return u.call(c.Context(), p, p.currentAddress(), http.MethodPost, "/api/runs/"+r.ID+"/"+what, "")
}

// A node that is gone can be seen to be gone by others on its machine, and one that is only still can't.
func TestRunWhoseNodeIsLostCanBeCancelledAtAnother(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 2, people: 1, most: room})
			one, two, u := c.nodes[0], c.nodes[1], c.people[0]
			c.slowly(time.Second)
			r := c.beginAt(one, u)
			at := one.signal(lose)
			a := c.post(two, u, r, "cancel")
			assert.That(t, a.status == http.StatusAccepted, "cancelling is answered %d: %s", a.status, a.body)
			r = c.waitForEnd(r)
			assert.That(t, r.Status == journal.Cancelled, "the run is %s (%s)", r.Status, r.Reason)
			t.Logf("ended %v after its node was %s", r.EndedAt.Sub(at).Round(time.Millisecond), name)
			if lose == syscall.SIGSTOP {
				one.signal(syscall.SIGCONT)
			} else {
				one.over()
				one.start()
			}
			c.endAll()
			notes := c.notes()
			assert.That(t, len(notes) == 0, "notes were written: %v", notes)
			if again, err := c.db.Run(t.Context(), r.Owner, r.ID); err != nil || again.Records != r.Records {
				t.Errorf("a run that had ended has grown from %d records to %d, %v", r.Records, again.Records, err)
			}
		})
	}
}

func TestRunsThatWaitForRoomOutliveTheRestartOfEveryNode(t *testing.T) {
	t.Parallel()
	c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 2, people: 6, most: 1})
	done := c.load(18, 3)
	for range 2 {
		for _, p := range c.nodes {
			c.wait("runs to wait", func() bool { return len(c.drivenBy("")) > 3 })
			p.terminate(patience)
			p.start()
		}
		one := c.nodes[0]
		one.kill()
		one.start()
		if len(c.drivenBy("")) <= 3 {
			break
		}
	}
	done()
	c.sound()
}

// leaveTime is how long a node may take to end that can't reach its database: it waits for the answer to what it has
// sent.
const leaveTime = 110 * time.Second

func TestNodeThatIsCutOffAndToldToStopLeavesItsRunsToOthers(t *testing.T) {
	t.Parallel()
	var cable *proxy
	c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 2, people: 10, most: room,
		by: func(n int, database string) string {
			if n > 0 {
				return database
			}
			var address string
			cable, address = cableTo(t, database)
			return address
		}})
	one := c.nodes[0]
	done := c.load(40, atOnce)
	c.drives(one, few)
	holder, at := one.known(), time.Now()
	cable.cut()
	lost := c.drivenBy(holder)
	one.signal(syscall.SIGTERM)
	c.handedOver(lost, holder, at)
	if !needs.Every() {
		cable.heal()
	}
	one.wantEnd(leaveTime)
	t.Logf("a node that was cut off has ended %v after SIGTERM", time.Since(at).Round(time.Millisecond))
	cable.heal()
	one.start()
	done()
	c.sound()
}

// A write that was marked waits for the vault when its node is lost, and goes on there while another node looks what
// became of it.
func TestWriteThatIsUnderWayWhenItsNodeIsLostIsWrittenOnce(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "stopped", "cut off"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			var cable *proxy
			c := newCluster(t, arrangement{database: pgtest.New(t), nodes: 2, people: 3, most: room,
				by: func(n int, database string) string {
					if n > 0 {
						return database
					}
					var address string
					cable, address = cableTo(t, database)
					return address
				}})
			unlock := c.lockVault()
			one := c.nodes[0]
			var runs []journal.Run
			for _, u := range c.people {
				runs = append(runs, c.beginAt(one, u))
			}
			for _, r := range runs {
				c.has(r, records.KindMark)
			}
			holder, at := one.known(), time.Now()
			back := func() {}
			switch how {
			case "killed":
				one.kill()
				back = one.start
			case "stopped":
				one.signal(syscall.SIGSTOP)
				back = func() { one.signal(syscall.SIGCONT) }
			case "cut off":
				cable.cut()
				back = cable.heal
			}
			c.handedOver(runs, holder, at)
			unlock()
			back()
			c.sound()
		})
	}
}

// lockVault keeps everybody from writing to the vault.
func (c *cluster) lockVault() (unlock func()) {
	c.Helper()
	root := assert.Must(os.OpenRoot(c.vault))(c)
	defer func() { _ = root.Close() }()
	assert.NoError(c, os.MkdirAll(filepath.Join(c.vault, ".sibyl"), 0o700))
	unlock = assert.Must(files.Lock(c.Context(), root, ".sibyl/lock", patience))(c)
	c.Cleanup(func() { unlock() })
	return unlock
}
