package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/server/node"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/store/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a journal and a registry that several processes share, and the personas that they all ask.
type cluster struct {
	*testing.T
	store    journal.Store
	registry teststore.Store
	tree     string

	mu    sync.Mutex
	asked []string      // holder and persona
	takes time.Duration // until a persona answers
	log   strings.Builder
}

func inCluster(t *testing.T, test func(c *cluster)) {
	t.Helper()
	text := assert.Must(servicetest.Trees.ReadFile("panel.xml"))(t)
	synctest.Test(t, func(t *testing.T) {
		one := teststore.Empty(t)
		test(&cluster{T: t, store: one, registry: one, tree: string(text)})
	})
}

// process is an engine with its use cases, and a node that works until stop is called.
type process struct {
	*service.Service
	engine *run.Engine
	clock  *node.Clock
	stop   func()
}

func (c *cluster) process(holder string, most int, duties ...node.Duty) *process {
	c.Helper()
	p := c.idle(holder, most, c.store)
	ctx, cut := context.WithCancel(c.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		err := node.Work(ctx, node.Config{Self: node.Node{Holder: holder, Name: holder}, Engine: p.engine,
			Registry: c.registry, Clock: p.clock,
			Duties: duties, Log: slog.New(slog.NewTextHandler(locked{c}, nil))})
		assert.That(c, err == nil, "node %s: %v", holder, err)
	}()
	synctest.Wait()
	p.stop = sync.OnceFunc(func() { cut(); <-over })
	c.Cleanup(p.stop)
	return p
}

// idle is a process that looks for no runs.
func (c *cluster) idle(holder string, most int, store journal.Store) *process {
	c.Helper()
	a := assert.Must(servicetest.Describe(store, run.Performer{Do: func(ctx context.Context, job run.Job) (any, error) {
		var asked servicetest.Asked
		if err := json.Unmarshal(job.Effect.Payload, &asked); err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.asked = append(c.asked, holder+" "+asked.Persona)
		c.mu.Unlock()
		select {
		case <-time.After(c.takes):
			return strings.ToUpper(asked.Persona), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}))(c)
	if holder == "unfit" {
		a.Open = func(context.Context, *run.View) (map[string]run.Performer, func(), error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.asked = append(c.asked, "unfit tries")
			return nil, nil, errors.New("a folder is missing")
		}
	}
	clock := &node.Clock{}
	engine, err := run.NewEngine(run.Config{Store: store, Build: "test", Holder: holder, MostRuns: most, Clock: clock,
		Assistants: []*run.Assistant{a.Assistant},
		Dead:       func(holder string) bool { return holder == "killed" }})
	assert.NoError(c, err)
	s := assert.Must(service.New(service.Config{Store: store, Engine: engine, Assistants: []*assistant.Assistant{a},
		Redact: func(s string) string { return s },
		Tree:   func(string) (string, []byte, error) { return "panel.xml", []byte(c.tree), nil }}))(c)
	return &process{Service: s, engine: engine, clock: clock}
}

// locked writes to the cluster's log.
type locked struct{ *cluster }

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.log.Write(p)
}

// submit begins a run of an owner, who asks a persona.
func (p *process) submit(c *cluster, owner journal.Owner, persona string) string {
	c.Helper()
	<-time.After(time.Millisecond) // so that the order of runs is known
	begun := assert.Must(p.Submit(context.WithoutCancel(c.Context()), owner, service.Request{Assistant: "panel",
		Words: "?", Options: persona}))(c)
	return begun.Run
}

// passes lets so much time pass.
func passes(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func (c *cluster) ended(owner journal.Owner, id string) bool {
	c.Helper()
	r := assert.Must(c.store.Run(c.Context(), owner, id))(c)
	return r.Status == journal.Done
}

func (c *cluster) said() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.asked)
}

func TestRunsThatWaitAreTakenUpInTurnsBetweenOwnersByNodesThatHaveRoom(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.takes = 10 * time.Second
		one := c.process("one", 1)
		ids := map[string]journal.Owner{}
		for _, persona := range []string{"a1", "a2", "a3", "a4"} {
			ids[one.submit(c, "ada", persona)] = "ada"
		}
		ids[one.submit(c, "bob", "b1")] = "bob"
		c.process("two", 1)
		passes(45 * time.Second)
		got, want := c.said(), []string{"one a1", "two b1", "one a2", "two a3",
			"one a4"}
		assert.That(t, slices.Equal(withoutHolders(got), withoutHolders(want)), "the order was %v; want %v", got, want)
		for id, owner := range ids {
			assert.That(t, c.ended(owner, id), "run %s of %s has not ended", id, owner)
		}
	})
}

// withoutHolders leaves out which node did it: two that have room at the same moment may be either.
func withoutHolders(asked []string) (all []string) {
	for _, a := range asked {
		_, persona, _ := strings.Cut(a, " ")
		all = append(all, persona)
	}
	return all
}

// failing is a store that a process has lost after so many writes.
type failing struct {
	journal.Store
	mu   sync.Mutex
	left int
}

var errLost = errors.New("the database is out of reach")

func (f *failing) write() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left--; f.left < 0 {
		return errLost
	}
	return nil
}

func (f *failing) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	if err := f.write(); err != nil {
		return err
	}
	return f.Store.Append(ctx, o, id, recs, end)
}

func (f *failing) Release(context.Context, journal.Owner, string, string, time.Time) error {
	return errLost
}

func TestRunOfANodeThatIsGoneIsTakenUpWithinASecondOfItsLease(t *testing.T) {
	inCluster(t, func(c *cluster) {
		c.process("two", 0)
		passes(500 * time.Millisecond)
		dying := c.idle("dying", 0, &failing{Store: c.store})
		id := dying.submit(c, "ada", "a1")
		passes(8*time.Second - 2*time.Millisecond)
		got := c.said()
		assert.That(t, len(got) == 1, "before the lease had run out, %v were asked", got)
		passes(time.Second)
		if got := c.said(); !slices.Equal(got, []string{"dying a1", "two a1"}) || !c.ended("ada", id) {
			t.Errorf("asked were %v, and it ended: %v", got, c.ended("ada", id))
		}
	})
}

func TestRunOfANodeThatIsSeenToBeGoneIsTakenUpWithinASecond(t *testing.T) {
	inCluster(t, func(c *cluster) {
		killed := c.idle("killed", 0, &failing{Store: c.store})
		assert.NoError(c, c.registry.Keep(c.Context(), node.Node{Holder: "killed", StartedAt: killed.clock.Now(),
			SeenAt: killed.clock.Now()}))
		id := killed.submit(c, "ada", "a1")
		synctest.Wait() // until it is under way
		c.process("two", 0)
		passes(time.Second)
		if got := c.said(); !slices.Equal(got, []string{"killed a1", "two a1"}) || !c.ended("ada", id) {
			t.Errorf("asked were %v, and it ended: %v", got, c.ended("ada", id))
		}
		all, err := c.registry.Nodes(c.Context(), killed.clock.Now())
		assert.That(t, err == nil && len(all) == 1, "known are %v, %v", all, err)
	})
}

func TestRunThatANodeIsNotFitForStaysForOthersAndIsTriedAgainAfterAPause(t *testing.T) {
	inCluster(t, func(c *cluster) {
		full := c.idle("full", 1, c.store)
		c.takes = time.Hour
		blocking := full.submit(c, "bob", "b1")
		id := full.submit(c, "ada", "a1")
		unfit := c.process("unfit", 0)
		passes(50 * time.Second)
		tries := c.said()[1:]
		if len(tries) != 3 { // at once, after 15 s and after 30 more
			t.Errorf("within 50 s it was tried %d times; want 3", len(tries))
		}
		c.takes = 0
		c.process("fit", 0)
		passes(time.Second)
		assert.That(t, c.ended("ada", id), "a node that is fit did not take it up")
		unfit.stop()
		_ = full.Cancel(context.WithoutCancel(c.Context()), "bob", blocking, "enough")
		passes(time.Second)
	})
}

func TestNodeThatStopsSaysThatItDrainsAndTakesUpNothing(t *testing.T) {
	inCluster(t, func(c *cluster) {
		full := c.idle("full", 1, c.store)
		c.takes = 30 * time.Second
		full.submit(c, "bob", "b1")
		one := c.process("one", 0)
		one.stop()
		full.submit(c, "ada", "a1")
		passes(20 * time.Second)
		nodes, err := c.registry.Nodes(c.Context(), time.Now())
		assert.That(t, err == nil && len(nodes) == 1 && nodes[0].Draining, "nodes are %v, %v", nodes, err)
		got := c.said()
		assert.That(t, len(got) == 1, "asked were %v", got)
		passes(time.Minute)
	})
}

func TestDutyIsDoneByOneOfTheNodesEachTimeThatItIsDue(t *testing.T) {
	inCluster(t, func(c *cluster) {
		var mu sync.Mutex
		done := 0
		duty := node.Duty{Name: "sweep", Every: 5 * time.Minute, Do: func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			done++
			return errors.New("swept")
		}}
		c.process("one", 0, duty)
		two := c.process("two", 0, duty)
		passes(11 * time.Minute)
		two.stop()
		passes(5 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		assert.That(t, done == 4, "it was done %d times in 16 minutes; want 4", done)
	})
}

func TestNodeLivesWhileItIsSeen(t *testing.T) {
	inCluster(t, func(c *cluster) {
		one := c.process("one", 7)
		passes(time.Minute)
		seen := func() node.Node {
			nodes, err := c.registry.Nodes(c.Context(), time.Now())
			assert.Require(t, err == nil && len(nodes) == 1, "nodes are %v, %v", nodes, err)
			return nodes[0]
		}
		n := seen()
		assert.That(t, n.Lives(time.Now()) && n.Most == 7 && time.Since(n.StartedAt) >= time.Minute, "it is known as %+v", n)
		one.stop()
		passes(time.Minute)
		assert.That(t, !seen().Lives(time.Now()), "it lives a minute after it stopped")
	})
}

func TestClockGoesByTheDatabaseBeyondWhatIsTolerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c node.Clock
		there := func(off, takes time.Duration) func(context.Context) (time.Time, error) {
			return func(context.Context) (time.Time, error) {
				<-time.After(takes / 2)
				now := time.Now().Add(off)
				<-time.After(takes / 2)
				return now, nil
			}
		}
		for _, step := range []struct{ off, takes, corrected, ahead time.Duration }{
			{400 * time.Millisecond, 0, 0, 0},
			{-time.Minute, 0, -time.Minute, -time.Minute},
			{-time.Minute, 100 * time.Millisecond, 0, -time.Minute},
			{-59 * time.Second, 4 * time.Second, 0, -time.Minute}, // the answer took longer than it could be off
			{0, 0, time.Minute, 0},
		} {
			corrected, err := c.Set(t.Context(), there(step.off, step.takes))
			if ahead := time.Until(c.Now()); err != nil || corrected != step.corrected || ahead != step.ahead {
				t.Errorf("%+v: corrected by %s to %s, %v", step, corrected, ahead, err)
			}
		}
		_, err := c.Set(t.Context(), func(context.Context) (time.Time, error) {
			return time.Time{}, errLost
		})
		assert.That(t, errors.Is(err, errLost), "an unknown time gives %v", err)
	})
}
