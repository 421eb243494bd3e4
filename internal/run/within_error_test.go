package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

func TestRunThatIsSuspendedSuspendsTheOneItPerformsAnEffectOf(t *testing.T) {
	for order, before := range orders {
		inWorldOf(t, order, func(t *testing.T, w *world, store journal.Store) {
			free := w.busy("x")
			live := start(t, w.parents(store, "one", writing), oneChild)
			end, r := waitSoon(t, "the parent", live)
			same(t, "status", end.Status, journal.Running)
			same(t, "what had arrived", r.Under, []string{`child a: "running" !overloaded`})
			child := childOf(live.ID, 1)
			same(t, "records", kinds(records(t, store, live.ID)), []string{"start", "suspend"})
			same(t, "records of the child", kinds(records(t, store, child)), []string{"start", "suspend"})
			for _, id := range []string{live.ID, child} {
				row := statusOf(t, store, id)
				assert.That(t, row.Rests(journal.LeaseTimes{Now: time.Now()}), "run %s does not rest: %+v", id, row)
			}
			free()
			before(t, w, store, child)
			_, r = waitSoon(t, "the parent", resume(t, w.parents(store, "two", writing), live.ID))
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "X B"})
			same(t, "runs", count(t, store), 2)
		})
	}
}

func TestSuspendedRunThatIsStoppedEndsTheSuspendedRunOfItsEffect(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.busy("a")
		e := w.parents(store, "one", nil)
		live := start(t, e, oneChild)
		waitSoon(t, "the parent", live)
		assert.NoError(t, e.Cancel(t.Context(), ada, live.ID, "enough"))
		for _, id := range []string{live.ID, childOf(live.ID, 1)} {
			end, _ := ends(t, store, id)
			same(t, "status", end.Status, journal.Cancelled)
		}
	})
}

// within performs an effect that nobody's run asks for.
func within(t *testing.T, e *run.Engine, spec func(context.Context) (run.Spec, error)) (run.EndRecord, error) {
	t.Helper()
	ctx, cut := context.WithTimeout(t.Context(), soon)
	defer cut()
	end, err := e.Within(ctx, journal.Key{Owner: ada, Run: "child"}, spec)
	assert.Require(t, ctx.Err() == nil, "waiting for an effect to be performed: %v", err)
	return end, err
}

func childSpec(context.Context) (run.Spec, error) { return children(nil).spec("child", "a"), nil }

func TestErrorOfWhatARunIsToBeginWithReachesTheEffectAsItIs(t *testing.T) {
	for _, wrong := range []error{errors.New("no such oracle"), journal.ErrLeased, journal.ErrEnded, journal.ErrExists,
		journal.ErrNotFound, journal.ErrConflict,
		run.ErrDraining, run.ErrLeft, run.ErrIncompatible} {
		synctest.Test(t, func(t *testing.T) {
			asked, wrong := 0, fmt.Errorf("usage: %w", wrong)
			e := newWorld(t).engine(localStore(t), "one")
			_, err := within(t, e, func(context.Context) (run.Spec, error) { asked++; return run.Spec{}, wrong })
			if err != wrong { //nolint:errorlint // it is to be this very error
				t.Errorf("the effect gets %v; want %v", err, wrong)
			}
			same(t, "times that it was asked", asked, 1)
		})
	}
}

func TestRunThatCanNotBeginIsAnErrorOfTheEffect(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, store journal.Store, e *run.Engine)
		change func(*run.Spec)
		want   error
		says   string
	}{
		"its session is gone": {func(t *testing.T, store journal.Store, e *run.Engine) {
			t.Helper()
			assert.Must(within(t, e, childSpec))(t)
			assert.NoError(t, store.DeleteSession(t.Context(), ada, "of child", journal.ByPerson, time.Now()))
		}, func(*run.Spec) {}, journal.ErrExists, "of child"},
		"its session is nowhere": {nil, func(s *run.Spec) {
			s.Session, s.NewSession = "nowhere", nil
		}, journal.ErrNotFound, "nowhere"},
		"nobody knows its kind": {nil, func(s *run.Spec) { s.Assistant = "stranger" }, nil, "stranger"},
		"its tree is none":      {nil, func(s *run.Spec) { s.Tree = []byte(tree(`<Nothing/>`)) }, nil, "Nothing"},
		"it does not fit its tree": {nil, func(s *run.Spec) {
			s.Given = nil
			s.Tree = []byte(tree(`<Do what="{unset}" got="{got}"/>`))
		}, nil, "unset"},
		"what it uses up is gone": {nil, func(s *run.Spec) { s.Consume = []string{"p1"} }, journal.ErrConsumed, "p1"},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			e := w.engine(store, "one")
			if c.before != nil {
				c.before(t, store, e)
			}
			asked, runs := 0, count(t, store)
			_, err := within(t, e, func(ctx context.Context) (run.Spec, error) {
				s, err := childSpec(ctx)
				if asked++; asked > 2 {
					return s, fmt.Errorf("it is tried again and again: %w", journaltest.ErrDead)
				}
				c.change(&s)
				return s, err
			})
			assert.That(t, err != nil && (c.want == nil || errors.Is(err, c.want)) && strings.Contains(err.Error(), c.says),
				"the effect gets %v; want %v with %q", err, c.want, c.says)
			same(t, "runs", count(t, store), runs)
			drained(t, e) // nothing of it is counted as driven
		})
	}
}

func TestRunThatCanNotBeOpenedIsTheSameToItsEffectAfterACrash(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.opened = func(context.Context, *run.View) error { return errors.New("no such model") }
		for _, holder := range []string{"one", "two"} {
			end := assert.Must(within(t, w.engine(store, holder), childSpec))(t)
			same(t, "status", end.Status, journal.Failed)
			same(t, "fault", end.Fault, &bt.Fault{Kind: "open", Reason: "no such model"})
		}
	})
}

func TestEffectThatFailsLeavesNoRunBehindThatGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		store func(store journal.Store) journal.Store
		open  error
		want  string
	}{
		"its run can't be opened here": {func(s journal.Store) journal.Store {
			return s
		}, errors.New("no such folder"), "no such folder"},
		"its run does not fit": {func(s journal.Store) journal.Store {
			return changed{s, "r:a", "r:b"}
		}, nil, "does not fit"},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			body := `<Sequence><Do what="r:a" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`
			spec := func(context.Context) (run.Spec, error) { return children{"a": body}.spec("child", "a"), nil }
			_, err := within(t, w.engine(&journaltest.Mortal{Store: store, At: 3}, "dead"), spec)
			assert.Require(t, errors.Is(err, journaltest.ErrDead), "the process died with %v", err)
			pass(lease)
			w.opened = func(context.Context, *run.View) error { return c.open }
			_, err = within(t, w.engine(c.store(store), "two"), spec)
			assert.That(t, err != nil && strings.Contains(err.Error(), c.want), "the effect gets %v; want %q", err, c.want)
			same(t, "status of its run", statusOf(t, store, "child").Status, journal.Cancelled)
		})
	}
}

func TestRunThatBreaksIsAnErrorOfTheEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		e := w.engine(endless(newStore(t), journal.ErrInvalid), "one")
		_, err := within(t, e, childSpec)
		assert.That(t, errors.Is(err, journal.ErrInvalid), "the effect gets %v", err)
		drained(t, e)
	})
}

func TestJournalThatIsAwayForAMomentIsWaitedFor(t *testing.T) {
	for _, cause := range []error{journal.ErrUnreachable, journal.ErrLocked, journal.ErrUnsure} {
		for what, c := range map[string]struct {
			writes int // of the process before, which died at the next; 0: there was none
			left   map[string]int
			took   bool
		}{
			"when it is looked for":                      {0, map[string]int{"Run": 4}, false},
			"when it begins":                             {0, map[string]int{"Begin": 4}, false},
			"when it begins, which nobody heard":         {0, map[string]int{"Begin": 1}, true},
			"when it is taken up":                        {1, map[string]int{"Acquire": 4}, false},
			"when its records are read":                  {1, map[string]int{"Records": 4}, false},
			"when its end is read":                       {3, map[string]int{"Records": 4}, false},
			"when its end is read, and before, and then": {3, map[string]int{"Records": 2, "Run": 3}, false},
		} {
			inWorldOf(t, fmt.Sprint(cause, " ", what), func(t *testing.T, w *world, store journal.Store) {
				if c.writes > 0 {
					_, err := within(t, w.engine(&journaltest.Mortal{Store: store, At: c.writes + 1}, "dead"),
						childSpec)
					assert.Require(t, c.writes >= 3 || errors.Is(err, journaltest.ErrDead), "the process died with %v", err)
					pass(lease)
				}
				var mu sync.Mutex
				flaky := tapped{store, func(_ context.Context, call string, _ []journal.Record, do func() error) error {
					mu.Lock()
					defer mu.Unlock()
					if c.left[call]--; c.left[call] < 0 {
						return do()
					}
					if c.took {
						if err := do(); err != nil {
							return err
						}
					}
					return cause
				}}
				end := assert.Must(within(t, w.engine(flaky, "one"), childSpec))(t)
				same(t, "outcome", resultOf(t, end), result{Ended: "SUCCESS", Got: "A"})
				same(t, "runs", count(t, store), 1)
			})
		}
	}
}

func TestOfTwoThatBeginTheSameRunBothGetItsEnd(t *testing.T) {
	for name, holders := range map[string][2]string{"of one process": {"one", "one"}, "of two": {"one", "two"}} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			w.takes("a", time.Second)
			var all, both sync.WaitGroup
			meet := func(context.Context) error { // those who begin wait for each other
				all.Done()
				all.Wait()
				return nil
			}
			engines := map[string]*run.Engine{}
			for _, holder := range holders {
				if engines[holder] == nil {
					all.Add(1)
					engines[holder] = w.engine(before(store, meet, "Begin"), holder)
				}
			}
			for _, holder := range holders {
				both.Go(func() {
					end, err := within(t, engines[holder], childSpec)
					if err != nil {
						t.Error(err)
						return
					}
					same(t, "outcome", resultOf(t, end), result{Ended: "SUCCESS", Got: "a"})
				})
			}
			both.Wait()
			same(t, "runs", count(t, store), 1)
			same(t, "effects", w.begun(), []string{"read a"})
		})
	}
}
