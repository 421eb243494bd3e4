package run_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

// writing is a child that reads and writes once.
var writing = children{"a": `<Do what="r:x w:b" got="{got}"/>`}

// writesWithin is how many writes a parent has whose child is of writing: two beginnings, the child's receipt, mark,
// receipt and end, and the parent's receipt and end.
const writesWithin = 8

// orders are the ways in which processes take up a parent and its child that nobody drives: each gives who is resumed,
// before the parent is.
var orders = map[string]func(t *testing.T, w *world, store journal.Store, child string){
	"the parent first": func(*testing.T, *world, journal.Store, string) {},
	"the child first, by another process": func(t *testing.T, w *world, store journal.Store, child string) {
		t.Helper()
		_, err := w.parents(store, "third", writing).ResumeFound(t.Context(),
			journal.Key{Owner: ada, Run: child})
		assert.That(t, err == nil || errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrEnded),
			"taking up the child: %v", err)
	},
}

func TestCrashAtAnyWriteLeavesOneChildThatGoesOn(t *testing.T) {
	for at := 1; at <= writesWithin; at++ {
		for _, after := range []bool{false, true} {
			for order, before := range orders {
				inWorldOf(t, fmt.Sprintf("write %d %v %s", at, after, order), func(t *testing.T, w *world, store journal.Store) {
					dying := &journaltest.Mortal{Store: store, At: at, After: after}
					live, err := w.parents(dying, "dead", writing).Start(t.Context(), spec(oneChild))
					if err == nil {
						stopsShort(t, live, journaltest.ErrDead)
					}
					pass(lease)
					id := parentOf(t, store)
					if id == "" {
						return
					}
					before(t, w, store, childOf(id, 1))
					survivor := w.parents(store, "survivor", writing)
					if statusOf(t, store, id).Status == journal.Running {
						waitSoon(t, "the parent", resume(t, survivor, id))
					}
					_, r := ends(t, store, id)
					same(t, "outcome", r, result{Ended: "SUCCESS", Got: "X B"})
					same(t, "runs", count(t, store), 2)
					same(t, "writes", w.writes, map[string]int{childOf(id, 1) + "/2": 1})
					repeated := len(all[run.ResumeRecord](t, records(t, store, childOf(id, 1)), run.KindResume))
					n := times(w.begun(), "read x")
					assert.That(t, n >= 1 && n <= 1+repeated, "it was read %d times, and resumed %d times", n, repeated)
				})
			}
		}
	}
}

// parentOf is the run that was begun first; "" if there is none.
func parentOf(t *testing.T, store journal.Store) string {
	t.Helper()
	runs := assert.Must(store.Runs(t.Context(), ada, journal.Filter{Session: session}))(t)
	if len(runs) == 0 {
		return ""
	}
	return runs[0].ID
}

func times(all []string, one string) (n int) {
	for _, s := range all {
		if s == one {
			n++
		}
	}
	return n
}

func TestCrashMatrixCoversEveryWriteOfAParentAndItsChild(t *testing.T) {
	w := newWorld(t)
	counting := &journaltest.Mortal{Store: newStore(t)}
	waitSoon(t, "the parent", start(t, w.parents(counting, "one", writing), oneChild))
	same(t, "writes", counting.Writes(), writesWithin)
}

func TestProcessThatDrainsLeavesParentAndChildAndOthersFinishBoth(t *testing.T) {
	for order, before := range orders {
		inWorldOf(t, order, func(t *testing.T, w *world, store journal.Store) {
			release := w.holds("x", false)
			defer release()
			e := w.parents(store, "one", writing)
			live := start(t, e, oneChild)
			synctest.Wait()
			child := e.Live(childOf(live.ID, 1))
			began := time.Now()
			drained(t, e)
			took := time.Since(began)
			assert.That(t, took <= grace, "it took %v until nothing was driven", took)
			stopsShort(t, live, run.ErrLeft)
			stopsShort(t, child, run.ErrLeft)
			for _, id := range []string{live.ID, child.ID} {
				same(t, "records", kinds(records(t, store, id)), []string{"start", "leave"})
				same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "")
			}
			before(t, w, store, child.ID)
			release()
			_, r := waitSoon(t, "the parent", resume(t, w.parents(store, "two", writing), live.ID))
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "X B"})
			same(t, "runs", count(t, store), 2)
			same(t, "writes", w.writes, map[string]int{child.ID + "/2": 1})
		})
	}
}

// drained has an engine leave what it drives, at once.
func drained(t *testing.T, e *run.Engine) {
	t.Helper()
	now, cut := context.WithCancel(t.Context())
	cut()
	over := make(chan struct{})
	go func() {
		e.Drain(now)
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(soon):
		t.Fatal("waiting for the process to leave its runs")
	}
}

func TestEffectHasNoReceiptBecauseItsProcessLeaves(t *testing.T) {
	for name, late := range map[string]bool{"its run can't begin any more": true, "its run is left first": false} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // whether its driver hears of the effect or of the leave first is chance
				synctest.Test(t, func(t *testing.T) { leavesNoReceipt(t, late) })
			}
		})
	}
}

// leavesNoReceipt has a process leave whose driver is busy with a receipt, before the child is begun or while it goes
// on.
func leavesNoReceipt(t *testing.T, late bool) {
	t.Helper()
	w := newWorld(t)
	release := w.holds("a", false)
	goOn := make(chan struct{})
	store := beforeKind(newStore(t), run.KindCompletion, func(journal.Record) error { <-goOn; return nil })
	begin := make(chan struct{})
	e := w.parentsBy(store, "one", func(_ context.Context, id, name string) (run.Spec, error) {
		if late {
			<-begin
		}
		return children(nil).spec(id, name), nil
	})
	live := start(t, e, `<Parallel><Do what="r:b" got="{b}"/><Do what="c:a" got="{got}"/></Parallel>`)
	synctest.Wait()
	over := make(chan struct{})
	go func() {
		defer close(over)
		drained(t, e)
	}()
	synctest.Wait()
	close(begin)
	synctest.Wait()
	close(goOn)
	<-over
	stopsShort(t, live, run.ErrLeft)
	same(t, "records", kinds(records(t, store, live.ID)), []string{"start", "completion", "leave"})
	release()
	_, r := waitSoon(t, "the parent", resume(t, w.parents(store, "two", nil), live.ID))
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	same(t, "runs", count(t, store), 2)
}

func TestRunThatIsBeingOpenedWhenItsProcessLeavesIsLeftToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		defer w.holds("a", false)()
		w.opened = func(_ context.Context, v *run.View) error {
			if v.Session != session {
				pass(time.Second)
			}
			return nil
		}
		e := w.parents(store, "one", nil)
		live := start(t, e, oneChild)
		synctest.Wait()
		drained(t, e)
		stopsShort(t, live, run.ErrLeft)
		same(t, "status of the child", statusOf(t, store, childOf(live.ID, 1)).Status, journal.Running)
		same(t, "holder of the lease", statusOf(t, store, childOf(live.ID, 1)).LeaseHolder, "")
	})
}

func TestRunThatIsBeingOpenedWhenItsEffectIsWithdrawnIsStopped(t *testing.T) {
	for name, c := range map[string]struct{ crash bool }{"begun": {false}, "resumed": {true}} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			defer w.holds("a", false)()
			dying := &journaltest.Mortal{Store: store}
			e := w.parents(dying, "one", nil)
			first := true
			slowly := func(ctx context.Context, v *run.View) error {
				if v.Session == session || !first {
					return nil
				}
				first = false
				<-ctx.Done() // it heeds its context, and would take for ever
				return ctx.Err()
			}
			if !c.crash {
				w.opened = slowly
			}
			live := start(t, e, oneChild)
			synctest.Wait()
			if c.crash {
				dying.Die()
				pass(lease)
				w.opened = slowly
				live = resume(t, w.parents(store, "two", nil), live.ID)
				synctest.Wait()
			}
			live.Cancel("enough")
			end, _ := waitSoon(t, "the parent", live)
			same(t, "status", end.Status, journal.Cancelled)
			end, _ = ends(t, store, childOf(live.ID, 1))
			same(t, "status of the child", end.Status, journal.Cancelled)
		})
	}
}

// slow is a database that takes a while to record a child, and does so even if nobody waits for it any more.
type slow struct{ journal.Store }

func (s slow) Begin(ctx context.Context, b journal.Beginning) error {
	if b.Run.Session == session {
		return s.Store.Begin(ctx, b)
	}
	recorded := make(chan error, 1)
	go func() {
		pass(time.Second)
		recorded <- s.Store.Begin(context.WithoutCancel(ctx), b)
	}()
	select {
	case err := <-recorded:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func TestRunThatIsBeingRecordedWhenItsEffectIsWithdrawnIsStopped(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		defer w.holds("a", false)()
		live := start(t, w.parents(slow{store}, "one", nil), oneChild)
		synctest.Wait()
		live.Cancel("enough")
		end, _ := waitSoon(t, "the parent", live)
		same(t, "status", end.Status, journal.Cancelled)
		pass(2 * time.Second)
		end, _ = ends(t, store, childOf(live.ID, 1))
		same(t, "status of the child", end.Status, journal.Cancelled)
	})
}

func TestRunThatIsStoppedWhenNobodyDrivesItEndsTheRunsOfItsEffects(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, w *world, e *run.Engine, dying *journaltest.Mortal){
		"its process died": func(_ *testing.T, _ *world, _ *run.Engine, dying *journaltest.Mortal) {
			dying.Die()
			pass(lease)
		},
		"its process left":  func(t *testing.T, _ *world, e *run.Engine, _ *journaltest.Mortal) { drained(t, e) },
		"it waits to begin": nil,
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			dying := &journaltest.Mortal{Store: store}
			e := w.parents(dying, "one", nil, func(c *run.Config) { c.MostRuns = 1 })
			release := w.holds("a", false)
			defer release()
			live := start(t, e, oneChild)
			synctest.Wait()
			id, last := live.ID, e
			if leave == nil {
				k, _, err := e.Submit(t.Context(), spec(oneChild))
				assert.NoError(t, err)
				id = k.Run
			} else {
				leave(t, w, e, dying)
				last = w.parents(store, "two", nil)
			}
			synctest.Wait()
			assert.NoError(t, last.Cancel(t.Context(), ada, id, "enough"))
			same(t, "status", statusOf(t, store, id).Status, journal.Cancelled)
			if leave == nil {
				same(t, "runs, with the one that went on and its child", count(t, store), 3)
				return
			}
			end, _ := ends(t, store, childOf(id, 1))
			same(t, "status of the child", end.Status, journal.Cancelled)
			same(t, "times that it was read", w.begun(), []string{"read a"})
		})
	}
}

func TestRunOfAnEffectThatCanNotBeWithdrawnIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		withdraw func(context.Context, run.Job) error
		want     string
	}{
		"it fails": {func(context.Context, run.Job) error {
			return errors.New("no answer")
		}, "withdrawn, but it may go on: no answer"},
		"it panics": {func(context.Context, run.Job) error {
			panic("no answer")
		}, "withdrawn, but it may go on: withdrawing it panicked: no answer"},
		"it is": {func(ctx context.Context, _ run.Job) error { return ctx.Err() }, "withdrawn"},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
			e := w.engine(store, "two", func(conf *run.Config) {
				conf.Assistants[0].Open = func(context.Context, *run.View) (map[string]run.Performer, func(), error) {
					return map[string]run.Performer{"read": {Do: w.perform, Withdraw: c.withdraw}}, nil, nil
				}
			})
			assert.NoError(t, e.Cancel(t.Context(), ada, id, "enough"))
			under := all[run.StoppedRecord](t, records(t, store, id), run.KindStopped)[0].Under
			assert.Require(t, len(under) == 1 && under[0].Err != nil, "under way were %+v", under)
			same(t, "why there is no result", under[0].Err.Reason, c.want)
			same(t, "effects", w.begun(), []string{"read a"})
		})
	}
}
