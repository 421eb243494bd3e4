package run_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"strings"

	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
	"sibyl/internal/server/node"
	"sibyl/internal/store/teststore"
)

// soon is how long anything here may take that nobody holds up.
const soon = time.Minute

// A run that asks for one child, and for two at once.
const (
	oneChild    = `<Do what="c:a" got="{got}"/>`
	twoChildren = `<Do what="c:a c:b" got="{got}"/>`
)

// childOf is the id of the run that performs an effect.
func childOf(parent string, op int) string { return fmt.Sprintf("%s-%d", parent, op) }

// children is what begins the run of the effect of a name: it does what its tree says, else it reads the name.
type children map[string]string

func (c children) spec(id, name string) run.Spec {
	body := c[name]
	if body == "" {
		body = fmt.Sprintf(`<Do what="r:%s" got="{got}"/>`, name)
	}
	s := spec(body)
	now := time.Now()
	s.Session = "of " + id
	s.NewSession = &journal.Session{ID: s.Session, Owner: ada, CreatedAt: now, UpdatedAt: now}
	return s
}

// parents is an engine whose effects "c:x" are performed by runs of their own. Their results are what these got, or how
// they ended.
func (w *world) parents(store journal.Store, holder string, c children, change ...func(*run.Config)) *run.Engine {
	w.t.Helper()
	return w.parentsBy(store, holder, func(_ context.Context, id, name string) (run.Spec, error) {
		return c.spec(id, name), nil
	}, change...)
}

// parentsBy is parents where spec says what the run of an effect begins with.
func (w *world) parentsBy(store journal.Store, holder string, spec func(ctx context.Context, id, name string) (run.Spec,
	error),
	change ...func(*run.Config),
) *run.Engine {
	w.t.Helper()
	var e *run.Engine
	key := func(job run.Job) journal.Key {
		return journal.Key{Owner: job.View.Owner, Run: strings.ReplaceAll(job.Key, "/", "-")}
	}
	child := run.Performer{Withdraw: func(ctx context.Context, job run.Job) error { return e.Withdraw(ctx, key(job)) },
		Do: func(ctx context.Context, job run.Job) (any, error) {
			k := key(job)
			end, err := e.Within(ctx, k, func(ctx context.Context) (run.Spec, error) {
				return spec(ctx, k.Run, nameIn(job))
			})
			if end.Outcome == nil {
				return nil, err
			}
			if r := resultOf(w.t, end); end.Status == journal.Done {
				return r.Got, err
			}
			return string(end.Status), err
		}}
	with := func(c *run.Config) {
		open := c.Assistants[0].Open
		c.Assistants[0].Open = func(ctx context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			performers, closeAll, err := open(ctx, v)
			if err == nil {
				performers["child"] = child
			}
			return performers, closeAll, err
		}
	}
	e = w.engine(store, holder, append([]func(*run.Config){with}, change...)...)
	return e
}

// waitSoon is wait with a deadline.
func waitSoon(t *testing.T, what string, live *run.Live) (run.EndRecord, result) {
	t.Helper()
	ctx, cut := context.WithTimeout(t.Context(), soon)
	defer cut()
	end, err := live.Wait(ctx)
	assert.NoErrorf(t, err, "waiting for %s", what)
	return end, resultOf(t, end)
}

// ends waits until a run has ended, whoever drives it, and gives its end.
func ends(t *testing.T, store journal.Store, id string) (run.EndRecord, result) {
	t.Helper()
	for until := time.Now().Add(soon); ; pass(100 * time.Millisecond) {
		r, err := store.Run(t.Context(), ada, id)
		if err == nil && r.Status != journal.Running {
			break
		}
		assert.Require(t, !time.Now().After(until), "waiting for the end of run %s: %+v, %v", id, r, err)
	}
	end := assert.Must(run.ReadEnd(t.Context(), store, ada, id))(t)
	return end, resultOf(t, end)
}

// count is how many runs there are.
func count(t *testing.T, store journal.Store) int {
	t.Helper()
	runs := assert.Must(store.Runs(t.Context(), ada, journal.Filter{}))(t)
	return len(runs)
}

// works has an engine take up runs, as a node, until the test is over.
func works(t *testing.T, store journal.Store, e *run.Engine) {
	t.Helper()
	ctx, cut := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- node.Work(ctx, node.Config{Self: node.Node{Holder: e.Holder}, Engine: e,
			Registry: teststore.Empty(t), Clock: &node.Clock{},
			Log: slog.New(slog.DiscardHandler)})
	}()
	t.Cleanup(func() {
		cut()
		err := <-over
		assert.That(t, err == nil, "a node: %v", err)
	})
}

func TestRunsThatWaitForRunsNeverWaitForEachOthersRoom(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.takes("a", time.Second)
		w.takes("b", 2*time.Second)
		one := func(c *run.Config) { c.MostRuns = 1 }
		engines := []*run.Engine{w.parents(store, "one", nil, one), w.parents(store, "two", nil, one)}
		for _, e := range engines {
			works(t, store, e)
		}
		var all []string
		for i := range 8 {
			k, _, err := engines[i%2].Submit(t.Context(), spec(twoChildren))
			assert.NoError(t, err)
			all = append(all, k.Run)
		}
		for _, id := range all {
			_, r := ends(t, store, id)
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "a b"})
		}
		synctest.Wait()
		same(t, "runs", count(t, store), 3*len(all))
		same(t, "effects", len(w.begun()), 2*len(all))
		for _, e := range engines {
			same(t, "room in the end", e.Room(), 1)
		}
	})
}

func TestRunThatIsStoppedEndsTheRunsOfItsEffects(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		defer w.holds("a", false)()
		e := w.parents(store, "one", nil)
		live := start(t, e, twoChildren)
		synctest.Wait()
		assert.NoError(t, e.Cancel(t.Context(), ada, live.ID, "enough"))
		end, r := waitSoon(t, "the parent", live)
		same(t, "status", end.Status, journal.Cancelled)
		same(t, "what was under way", r.Under, []string{"child a:  !cancelled"})
		end, r = ends(t, store, childOf(live.ID, 1))
		same(t, "status of the child", end.Status, journal.Cancelled)
		same(t, "what was under way in the child", r.Under, []string{`read a: "half of a" !cancelled`})
		why := all[run.CancelRecord](t, records(t, store, childOf(live.ID, 1)), run.KindCancel)
		same(t, "why it was asked to stop", why[0].Reason, "the run that it belongs to wants it no longer")
		end, _ = ends(t, store, childOf(live.ID, 2))
		same(t, "status of the child that had ended", end.Status, journal.Done)
	})
}

// where is how a run waits for its child: parent is driven by e, over wire.
type where struct {
	e      *run.Engine
	parent *run.Live
	child  string
	wire   *failing
	free   func() // has the child end
}

// inBoth tries something with a child that the process of its parent drives, and with one that another drives.
func inBoth(t *testing.T, body string, try func(t *testing.T, at where)) {
	t.Helper()
	for name, begin := range map[string]func(*testing.T, *world, journal.Store, *run.Engine, string) *run.Live{
		"the process of its parent": func(t *testing.T, _ *world, _ journal.Store, e *run.Engine,
			body string) *run.Live {
			return start(t, e, body)
		},
		"another process": apart,
	} {
		bubble(t, "driven by "+name, func(t *testing.T) {
			w := newWorld(t)
			wire := remote(newStore(t))
			release := w.holds("a", false)
			defer release()
			e := w.parents(wire, "one", nil)
			live := begin(t, w, wire.Store, e, body)
			synctest.Wait()
			try(t, where{e, live, childOf(live.ID, 1), wire, release})
		})
	}
}

// apart has e drive a parent, and another process its child: the process of both died, and these took them up.
func apart(t *testing.T, w *world, store journal.Store, e *run.Engine, body string) *run.Live {
	t.Helper()
	dying := &journaltest.Mortal{Store: store}
	dead := start(t, w.parents(dying, "dead", nil), body)
	synctest.Wait()
	dying.Die()
	pass(lease)
	resume(t, w.parents(store, "two", nil), childOf(dead.ID, 1))
	return resume(t, e, dead.ID)
}

func TestParentAndChildEndTogetherWhoeverDrivesTheChild(t *testing.T) {
	const patient = `<Fallback><Timeout msec="40000"><Do what="c:a" got="{got}"/></Timeout><Add add="late" got="{got}"/></Fallback>`
	cancelled := stopped("enough", "child a:  !cancelled")
	for name, c := range map[string]struct {
		body  string
		does  func(t *testing.T, at where)
		want  result
		child journal.Status
	}{
		"the child ends": {oneChild, func(_ *testing.T, at where) {
			at.free()
		}, result{Ended: "SUCCESS", Got: "A"}, journal.Done},
		"the tree gives it up": {patient, func(*testing.T, where) {}, result{Ended: "SUCCESS", Got: "late"},
			journal.Cancelled},
		"the parent is stopped": {oneChild, func(_ *testing.T, at where) {
			at.parent.Cancel("enough")
		}, cancelled, journal.Cancelled},
		"the child is stopped": {oneChild, func(t *testing.T, at where) {
			assert.Nil(t, at.e.Cancel(t.Context(), ada, at.child, "not this one"))
		}, result{Ended: "SUCCESS", Got: "cancelled"}, journal.Cancelled},
		"the parent is stopped while the journal is away": {oneChild, func(_ *testing.T, at where) {
			at.wire.setAfter(run.KindCancel)
			at.parent.Cancel("enough")
			pass(5 * time.Second)
			at.wire.set(false)
		}, stopped("enough"), journal.Cancelled},
		"the child ends while the journal is away": {oneChild, func(_ *testing.T, at where) {
			at.wire.set(true)
			at.free()
			pass(5 * time.Second)
			at.wire.set(false)
		}, result{Ended: "SUCCESS", Got: "A"}, journal.Done},
	} {
		t.Run(name, func(t *testing.T) {
			inBoth(t, c.body, func(t *testing.T, at where) {
				c.does(t, at)
				_, r := waitSoon(t, "the parent", at.parent)
				same(t, "outcome", r, c.want)
				end, _ := ends(t, at.wire, at.child)
				same(t, "status of the child", end.Status, c.child)
			})
		})
	}
}

func TestParentWaitsForAProcessThatLacksNothingToDriveItsChild(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		dying := &journaltest.Mortal{Store: store}
		dead := start(t, w.parents(dying, "dead", nil), oneChild)
		synctest.Wait()
		dying.Die()
		pass(lease)
		asked := 0
		lacking := w.parents(store, "lacking", nil, func(c *run.Config) {
			c.Assistants[0].Lacks = func(context.Context) error {
				if asked++; asked > 1 { // it was there when the parent was taken up
					return errors.New("the volume is gone")
				}
				return nil
			}
		})
		end, _ := waitSoon(t, "the parent", resume(t, lacking, dead.ID))
		same(t, "status and reason", []any{end.Status, end.Fault.Reason}, []any{journal.Running, "the volume is gone"})
		same(t, "status of the child", statusOf(t, store, childOf(dead.ID, 1)).Status, journal.Running)
		release()
		_, r := waitSoon(t, "the parent", resume(t, w.parents(store, "whole", nil), dead.ID))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}
