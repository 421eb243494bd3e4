package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

func TestOneHeartbeatLooksAfterAllRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var mu sync.Mutex
		asked := map[string]int{}
		times := func(call string) int {
			mu.Lock()
			defer mu.Unlock()
			return asked[call]
		}
		store := tapped{newStore(t), func(_ context.Context, call string, _ []journal.Record, do func() error) error {
			mu.Lock()
			asked[call]++
			mu.Unlock()
			return do()
		}}
		release := w.holds("a", false)
		e := w.engine(store, "one")
		var all []*run.Live
		for range 20 {
			all = append(all, start(t, e, `<Do what="r:a" got="{got}"/>`))
		}
		pass(time.Minute + time.Millisecond)
		same(t, "looks in a minute", times("Snapshots"), 60)
		same(t, "renewals in a minute, each after a third of a lease", times("Renew"), 12)
		release()
		for _, live := range all {
			wait(t, live)
		}
		looked := times("Snapshots")
		pass(time.Minute)
		same(t, "looks when nothing is driven", times("Snapshots"), looked)
	})
}

func TestRunsBeyondTheLimitWaitAndOwnersTakeTurns(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		for _, owner := range []journal.Owner{"bob", "eve"} {
			b := journal.Beginning{Run: journal.Run{ID: "first of " + string(owner), Session: string(owner),
				Owner: owner}, Session: &journal.Session{ID: string(owner), Owner: owner},
				Records: []journal.Record{{Kind: "start"}}}
			assert.NoError(t, store.Begin(t.Context(), b))
		}
		e := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 1 })
		var mu sync.Mutex
		var order []string
		w.do["a"] = func(_ context.Context, job run.Job) (any, error) {
			mu.Lock()
			order = append(order, string(job.View.Owner))
			mu.Unlock()
			pass(time.Second)
			return "A", nil
		}
		var group sync.WaitGroup
		begin := func(ctx context.Context, owner journal.Owner, want error) {
			group.Go(func() {
				s := spec(`<Do what="r:a" got="{got}"/>`)
				if s.Owner = owner; owner != ada {
					s.Session = string(owner)
				}
				live, err := e.Start(ctx, s)
				assert.That(t, errors.Is(err, want), "starting gives %v; want %v", err, want)
				if err == nil {
					wait(t, live)
				}
			})
			synctest.Wait()
		}
		for range 4 {
			begin(t.Context(), ada, nil)
		}
		begin(t.Context(), "bob", nil)
		impatient, cut := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cut()
		begin(impatient, "eve", context.DeadlineExceeded)
		begin(t.Context(), "bob", nil)
		group.Wait()
		same(t, "whose runs went on, in turn", order, []string{"ada", "ada", "bob", "ada", "bob", "ada"})
		runs, err := store.Runs(t.Context(), "eve", journal.Filter{})
		assert.That(t, err == nil && len(runs) == 1, "of a run that found no room, something is recorded: %v, %v", runs, err)
	})
}

func TestDrainingFinishesWhatCanBeAndLeavesTheRestOpen(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.takes("quick", 5*time.Second)
		release := w.holds("slow", false)
		w.takes("write", 11*time.Second)
		e := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 3 })
		quick := start(t, e, `<Do what="r:quick" got="{got}"/>`)
		slow := start(t, e, `<Do what="r:slow" got="{got}"/>`)
		writes := start(t, e, `<Do what="w:write r:then" got="{got}"/>`)
		waiting := make(chan error)
		go func() {
			_, err := e.Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`))
			waiting <- err
		}()
		synctest.Wait()
		ctx, cut := context.WithTimeout(t.Context(), 10*time.Second)
		defer cut()
		began := time.Now()
		e.Drain(ctx)
		same(t, "time until nothing is driven", time.Since(began), 11*time.Second) // the write was under way
		err := <-waiting
		assert.That(t, errors.Is(err, run.ErrDraining), "a run that waited for room gets %v", err)
		_, err = e.Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`))
		assert.That(t, errors.Is(err, run.ErrDraining), "starting gives %v", err)
		_, r := wait(t, quick)
		same(t, "outcome of what ended in time", r, result{Ended: "SUCCESS", Got: "quick"})
		for _, live := range []*run.Live{slow, writes} {
			stopsShort(t, live, run.ErrLeft)
			row := statusOf(t, store, live.ID)
			same(t, "status", row.Status, journal.Running)
			same(t, "holder of the lease", row.LeaseHolder, "")
			assert.That(t, !slices.Contains(kinds(records(t, store, live.ID)), run.KindCancel), "it was cancelled")
		}
		same(t, "records of the write", kinds(records(t, store, writes.ID)), []string{"start", "mark", "completion",
			"leave"})
		release()
		stranded, err := store.Stranded(t.Context(), journal.LeaseTimes{Now: time.Now()}, 10)
		assert.That(t, err == nil && len(stranded) == 2, "%d runs are left for others, %v", len(stranded), err)
		two := w.engine(store, "two")
		for _, c := range []struct{ id, got string }{{slow.ID, "SLOW"}, {writes.ID, "write THEN"}} {
			_, r := wait(t, resume(t, two, c.id))
			same(t, "outcome elsewhere", r, result{Ended: "SUCCESS", Got: c.got})
		}
		effects := w.begun()
		slices.Sort(effects)
		same(t, "effects", effects, []string{"read quick", "read slow", "read slow", "read then", "write write"})
	})
}

func TestDrainingLeavesAWriteBehindThatTakesTooLong(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("b", true)
		e := w.engine(store, "one")
		live := start(t, e, `<Do what="w:b" got="{got}"/>`)
		synctest.Wait()
		ctx, cut := context.WithCancel(t.Context())
		cut()
		go func() {
			pass(time.Minute)
			release()
		}()
		began := time.Now()
		e.Drain(ctx)
		same(t, "time until nothing is driven", time.Since(began), 2*grace)
		stopsShort(t, live, run.ErrLeft)
		synctest.Wait()
		pass(2 * time.Minute)
		_, r := wait(t, resume(t, w.engine(store, "two"), live.ID))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "B"})
		same(t, "writes", w.writes, map[string]int{live.ID + "/1": 1})
	})
}

func TestPendingRowsAndClaimsPassThroughRuns(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	w.outcome = func(v *run.View, e run.Ending) run.Outcome {
		o := outcomeOf(v, e)
		o.Status = journal.NeedsUser
		o.Pending = []journal.Pending{{ID: "p1", Kind: "confirm", Data: []byte(`"delete it?"`), ExpiresAt: time.Now().
			Add(time.Hour)}}
		return o
	}
	e := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 1 + 1 })
	release := w.holds("a", false)
	s := spec(`<Do what="r:a" got="{got}"/>`)
	s.Claims = []string{"only one"}
	first := assert.Must(e.Start(t.Context(), s))(t)
	var claimed *journal.ClaimedError
	_, err := e.Start(t.Context(), s)
	assert.That(t, errors.As(err, &claimed) && claimed.Run == first.ID, "a second run with the claim gives %v", err)
	release()
	wait(t, first)
	pending, err := store.Pending(t.Context(), ada, session, time.Now())
	assert.Require(t, err == nil && len(pending) == 1 && pending[0].Run == first.ID && !pending[0].CreatedAt.IsZero(),
		"%+v, %v", pending, err)
	w.outcome = outcomeOf
	s.Claims, s.Consume = nil, []string{"p1"}
	second := assert.Must(e.Start(t.Context(), s))(t)
	wait(t, second)
	same(t, "what it used up", all[run.StartRecord](t, records(t, store, second.ID), run.KindStart)[0].Consumed,
		[]string{"p1"})
	_, err = e.Start(t.Context(), s)
	assert.That(t, errors.Is(err, journal.ErrConsumed), "a second yes gives %v", err)
	third, err := e.Start(t.Context(), spec(`<Do what="r:b" got="{got}"/>`))
	assert.Require(t, err == nil, "%v", fmt.Errorf("room is kept by a beginning that failed: %w", err))
	wait(t, third)
}
