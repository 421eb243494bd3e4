package run_test

import (
	"context"
	"errors"
	"slices"
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

func stopped(reason string, under ...string) result {
	return result{Ended: "IDLE", Cancelled: true, Under: under, Fault: &bt.Fault{Kind: run.KindCancelled,
		Reason: reason}}
}

func TestWishToStopKeepsWhatHadArrived(t *testing.T) {
	for name, request := range map[string]func(*run.Engine, *run.Live, context.CancelCauseFunc){
		"of the live run": func(_ *run.Engine, l *run.Live, _ context.CancelCauseFunc) {
			l.Cancel("enough")
			l.Cancel("more than enough")
		},
		"of the engine": func(e *run.Engine, l *run.Live, _ context.CancelCauseFunc) {
			if err := e.Cancel(context.Background(), ada, l.ID, "enough"); err != nil {
				l.Cancel(err.Error())
			}
		},
		"of its context": func(_ *run.Engine, _ *run.Live, cut context.CancelCauseFunc) { cut(errors.New("enough")) },
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			store := localStore(t)
			defer w.holds("b", false)()
			ctx, cut := context.WithCancelCause(t.Context())
			defer cut(nil)
			e := w.engine(store, "one")
			live := assert.Must(e.Start(ctx, spec(`<Do what="r:a r:b" got="{got}"/>`)))(t)
			synctest.Wait()
			request(e, live, cut)
			end, r := wait(t, live)
			same(t, "status", end.Status, journal.Cancelled)
			same(t, "outcome", r, stopped("enough", `read b: "half of b" !cancelled`))
			recs := records(t, store, live.ID)
			same(t, "records", kinds(recs), []string{"start", "completion", "cancel", "stopped", "trace", "end"})
			same(t, "what is open after the run", w.open, 0)
		})
	}
}

func TestRunningWriteIsGivenTimeToFinish(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		want  string
		waits time.Duration
	}{
		"it finishes":   {grace / 2, `write a: "A"`, grace / 2},
		"it takes long": {time.Hour, `write a:  !unknown`, grace},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			release := w.holds("a", false)
			store := localStore(t)
			live := start(t, w.engine(store, "one"), `<Do what="w:a" got="{got}"/>`)
			synctest.Wait()
			timer := time.AfterFunc(c.takes, release)
			defer timer.Stop()
			began := time.Now()
			live.Cancel("enough")
			end, r := wait(t, live)
			same(t, "outcome", r, stopped("enough", c.want))
			same(t, "time waited", time.Since(began), c.waits)
			kept := all[run.StoppedRecord](t, records(t, store, live.ID), run.KindStopped)[0]
			same(t, "run times", []int64{kept.Under[0].Now, kept.Now, end.Now},
				slices.Repeat([]int64{c.waits.Milliseconds()}, 3))
		})
	}
}

func TestEffectThatHeedsNoContextDoesNotHoldUpTheEnd(t *testing.T) {
	for _, kind := range []string{"r", "w"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			release := w.holds("a", true)
			defer release()
			live := start(t, w.engine(localStore(t), "one"), `<Do what="`+kind+`:a" got="{got}"/>`)
			synctest.Wait()
			began := time.Now()
			live.Cancel("enough")
			end, _ := wait(t, live)
			same(t, "status", end.Status, journal.Cancelled)
			same(t, "time waited", time.Since(began), 2*grace)
		})
	}
}

func TestWishOfAnotherProcessIsTakenIn(t *testing.T) {
	for name, c := range map[string]struct {
		wishes int
		then   func(release func())
		under  string
		wait   time.Duration
	}{
		"at a heartbeat":                   {1, func(func()) {}, `read b: "half of b" !cancelled`, time.Second},
		"two of them":                      {2, func(func()) {}, `read b: "half of b" !cancelled`, time.Second},
		"with the receipt that is in hand": {1, func(release func()) { release() }, `read b: "B"`, 0},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			release := w.holds("b", false)
			defer release()
			live := start(t, w.engine(store, "one"), `<Do what="r:a r:b w:c" got="{got}"/>`)
			synctest.Wait()
			began := time.Now()
			for range c.wishes {
				assert.NoError(t, w.engine(store, "two").Cancel(t.Context(), ada, live.ID, "enough"))
			}
			c.then(release)
			_, r := wait(t, live)
			same(t, "outcome", r, stopped("enough", c.under))
			same(t, "time waited", time.Since(began), c.wait)
			same(t, "effects", slices.Sorted(slices.Values(w.begun())), []string{"read a", "read b"})
		})
	}
}

func TestWishThatComesBetweenEndsTheRunAllTheSame(t *testing.T) {
	const body = `<Do what="r:a w:b" got="{got}"/>`
	for kind, want := range map[string]result{
		run.KindCompletion: stopped("enough", `read a: "A"`),
		run.KindMark:       stopped("enough"),
		run.KindResume:     stopped("enough"),
		run.KindCancel:     stopped("enough", `write b: "B"`),
		run.KindStopped:    stopped("mine", `write b: "B"`),
		run.KindEnd:        {Ended: "SUCCESS", Got: "A B"}, // too late
	} {
		inWorldOf(t, "a "+kind, func(t *testing.T, w *world, store journal.Store) {
			var id string
			if kind == run.KindResume {
				id = crash(t, w, store, body, 2, false)
			}
			var once sync.Once
			other := func() {
				if id == "" {
					runs, err := store.Runs(t.Context(), ada, journal.Filter{})
					if err != nil || len(runs) != 1 {
						t.Errorf("%d runs, %v", len(runs), err)
						return
					}
					id = runs[0].ID
				}
				assert.Nil(t, w.engine(store, "two").Cancel(t.Context(), ada, id, "enough"))
			}
			e := w.engine(beforeKind(store, kind, func(journal.Record) error { once.Do(other); return nil }), "one")
			var live *run.Live
			if kind == run.KindResume {
				live = resume(t, e, id)
			} else {
				if kind == run.KindCancel || kind == run.KindStopped {
					release := w.holds("b", false)
					time.AfterFunc(time.Second, release)
				}
				live = start(t, e, body)
			}
			synctest.Wait()
			live.Cancel("mine")
			_, r := wait(t, live)
			same(t, "outcome", r, want)
			same(t, "stopped records", countOf(t, store, live.ID, run.KindStopped), whether(want.Cancelled))
			same(t, "ends", countOf(t, store, live.ID, run.KindEnd), 1)
			for key, n := range w.writes {
				same(t, "times that "+key+" was written", n, 1)
			}
		})
	}
}

func TestCancellingARunThatNobodyDrivesEndsItAndPerformsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		at     int
		after  bool
		change func(*world)
		want   result
		writes int
	}{
		"a read was under way":  {2, false, func(*world) {}, stopped("enough"), 0},
		"a write was asked for": {2, true, func(*world) {}, stopped("enough"), 0},
		"a write was marked":    {3, true, func(*world) {}, stopped("enough", "write b:  !cancelled"), 0},
		"a write was performed": {4, false, func(*world) {}, stopped("enough", `write b: "B" found`), 1},
		"a write can't be looked up": {4, false, func(w *world) {
			w.found = nil
		}, stopped("enough", "write b:  !unknown"), 1},
		"what it needs is gone": {4, false, func(w *world) {
			w.opened = func(context.Context, *run.View) error { return errUnreachable }
		}, stopped("enough", "write b:  !unknown"), 1},
		"the tree had ended": {5, false, func(*world) {}, result{Ended: "SUCCESS", Got: "A B"}, 1},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, `<Do what="r:a w:b" got="{got}"/>`, c.at, c.after)
			before := w.begun()
			c.change(w)
			assert.NoError(t, w.engine(store, "two").Cancel(t.Context(), ada, id, "enough"))
			end := assert.Must(run.ReadEnd(t.Context(), store, ada, id))(t)
			same(t, "outcome", resultOf(t, end), c.want)
			same(t, "effects", w.begun(), before)
			same(t, "resume records", countOf(t, store, id, run.KindResume), 0)
			same(t, "writes", len(w.writes), c.writes)
		})
	}
}

func TestCancellingWhatCannotBeSaysWhy(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	e := w.engine(store, "one")
	live := start(t, e, `<Do what="r:a" got="{got}"/>`)
	wait(t, live)
	for name, c := range map[string]struct {
		owner journal.Owner
		id    string
		want  error
	}{
		"an ended run":  {ada, live.ID, journal.ErrEnded},
		"no run":        {ada, "none", journal.ErrNotFound},
		"another's run": {"bob", live.ID, journal.ErrNotFound},
	} {
		err := e.Cancel(t.Context(), c.owner, c.id, "enough")
		assert.That(t, errors.Is(err, c.want), "cancelling %s gives %v; want %v", name, err, c.want)
	}
}

func TestAnothersRunIsNotLive(t *testing.T) {
	w := newWorld(t)
	e := w.engine(localStore(t), "one")
	release := w.holds("a", false)
	live := start(t, e, `<Do what="r:a" got="{got}"/>`)
	assert.ErrorIsf(t, e.Cancel(t.Context(), "bob", live.ID, "enough"), journal.ErrNotFound, "cancelling another's run")
	_, err := e.Resume(t.Context(), "bob", live.ID)
	assert.That(t, errors.Is(err, journal.ErrNotFound), "resuming another's run gives %v", err)
	for _, err := range e.Watch(t.Context(), "bob", live.ID, 0) {
		assert.That(t, errors.Is(err, journal.ErrNotFound), "watching another's run gives %v", err)
	}
	release()
	_, r := wait(t, live)
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
}

func TestCrashWhileStoppingStopsOnceAndKeepsWhatHadArrived(t *testing.T) {
	const cancel, stop, end = 4, 5, 6 // the writes; before them: the start, a's receipt, b's mark
	kept := stopped("enough", `write b: "B"`)
	for name, c := range map[string]struct {
		death  death
		writes int // by the time of the death
		want   result
	}{
		"the request is lost, and the run goes on": {death{cancel, false}, 0, result{Ended: "SUCCESS", Got: "A B"}},
		"the request is kept, the write cut short": {death{cancel, true}, 0, stopped("enough", "write b:  !cancelled")},
		"what had arrived is lost, and found":      {death{stop, false}, 1, stopped("enough", `write b: "B" found`)},
		"what had arrived is kept":                 {death{stop, true}, 1, kept},
		"only the end is lost":                     {death{end, false}, 1, kept},
		"nothing is lost":                          {death{end, true}, 1, kept},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			release := w.holds("b", false)
			defer release()
			live := start(t, w.engine(&journaltest.Mortal{Store: store, At: c.death.at, After: c.death.after}, "one"),
				`<Do what="r:a w:b" got="{got}"/>`)
			synctest.Wait()
			time.AfterFunc(time.Second, release)
			live.Cancel("enough")
			stopsShort(t, live, journaltest.ErrDead)
			pass(lease)
			looks, find := 0, w.found
			w.found = func(ctx context.Context, job run.Job) (any, bool, error) { looks++; return find(ctx, job) }
			same(t, "writes", len(w.writes), c.writes)
			if statusOf(t, store, live.ID).Status == journal.Running {
				delete(w.do, "b")
				wait(t, resume(t, w.engine(store, "two"), live.ID))
			}
			last := assert.Must(run.ReadEnd(t.Context(), store, ada, live.ID))(t)
			same(t, "outcome", resultOf(t, last), c.want)
			same(t, "stopped records", countOf(t, store, live.ID, run.KindStopped), whether(c.want.Cancelled))
			same(t, "resume records", countOf(t, store, live.ID, run.KindResume), whether(!c.want.Cancelled))
			same(t, "whether it was looked up", looks, whether(c.death == death{cancel, false} ||
				c.death == death{cancel, true} || c.death == death{stop, false}))
			if c.want.Under != nil && c.want.Under[0] == kept.Under[0] {
				same(t, "run time at the end", last.Now, int64(1000))
			}
			for key, n := range w.writes {
				same(t, "times that "+key+" was written", n, 1)
			}
		})
	}
}

func countOf(t *testing.T, store journal.Store, id, kind string) int {
	t.Helper()
	return len(slices.DeleteFunc(kinds(records(t, store, id)), func(k string) bool { return k != kind }))
}

func whether(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestWishThatReachesAProcessWhileItOpensARun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.opened = func(ctx context.Context, _ *run.View) error { <-ctx.Done(); return ctx.Err() }
		ctx, cut := context.WithTimeout(t.Context(), time.Minute)
		defer cut()
		_, err := w.engine(store, "one").Start(ctx, spec(`<Do what="r:a" got="{got}"/>`))
		assert.That(t, errors.Is(err, context.Canceled), "starting gives %v", err)
		runs := assert.Must(store.Runs(t.Context(), ada, journal.Filter{}))(t)
		same(t, "status", runs[0].Status, journal.Cancelled)

		id := crash(t, newWorld(t), store, `<Do what="r:a" got="{got}"/>`, 2, false)
		again, cut := context.WithTimeout(t.Context(), time.Minute)
		defer cut()
		_, err = w.engine(store, "one").Resume(again, ada, id)
		assert.That(t, errors.Is(err, context.Canceled), "resuming gives %v", err)
		r := statusOf(t, store, id)
		same(t, "status", r.Status, journal.Running)
		same(t, "holder of the lease", r.LeaseHolder, "")
		same(t, "effects", w.begun(), nil)
	})
}

func TestWishThatAnOpeningRunDoesNotHeedEndsItAllTheSame(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		ctx, cut := context.WithCancel(t.Context())
		w.opened = func(context.Context, *run.View) error { cut(); return nil }
		_, err := w.engine(store, "one").Start(ctx, spec(`<Do what="r:a" got="{got}"/>`))
		assert.That(t, errors.Is(err, context.Canceled), "starting gives %v", err)
		runs := assert.Must(store.Runs(t.Context(), ada, journal.Filter{}))(t)
		same(t, "status", runs[0].Status, journal.Cancelled)
		same(t, "what is open", w.open, 0)
		same(t, "effects", w.begun(), nil)
	})
}

func TestWishThatFindsNoRoomGivesUp(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	release := w.holds("a", false)
	live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
	err := w.engine(busy(store), "two").Cancel(t.Context(), ada, live.ID, "enough")
	assert.That(t, errors.Is(err, journal.ErrConflict), "cancelling gives %v", err)
	release()
	wait(t, live)
}

func TestSecretInAPartialResultReachesNeitherStoreNorOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := localStore(t)
		defer w.holds("hunter2", false)()
		var under []string
		w.outcome = func(v *run.View, e run.Ending) run.Outcome {
			under = append(under, string(e.Unfolded[0].Result), e.Fault.Reason)
			return outcomeOf(v, e)
		}
		live := start(t, w.engine(store, "one", func(c *run.Config) {
			c.Redact = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "hunter2", "[secret]")) }
		}), `<Do what="r:hunter2" got="{got}"/>`)
		synctest.Wait()
		live.Cancel("hunter2 is known")
		wait(t, live)
		same(t, "what the outcome saw", under, []string{`"half of [secret]"`, "[secret] is known"})
		for _, rec := range records(t, store, live.ID) {
			assert.That(t, !strings.Contains(string(rec.Data), "hunter2"), "record %d holds the secret: %s", rec.Seq, rec.Data)
		}
	})
}
