package run_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// busy makes a read fail for now, until the function it returns is called.
func (w *world) busy(name string) (free func()) {
	was := w.do[name]
	w.do[name] = func(context.Context, run.Job) (any, error) {
		return "half of " + name, &run.Suspended{Fault: &bt.Fault{Kind: "overloaded", Reason: "try later"}}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.do, name); was != nil {
			w.do[name] = was
		}
	}
}

func TestSuspendedRunShowsWhatCameAndGoesOnWhereItWasWhenItIsResumed(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	free := w.busy("c")
	e := w.engine(store, "one")
	live := start(t, e, `<Sequence><Do what="w:a r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`)
	end, r := wait(t, live)
	same(t, "status", end.Status, journal.Running)
	same(t, "what there is to show", r, result{Ended: "RUNNING", Got: "A B", Fault: &bt.Fault{Kind: "overloaded",
		Reason: "try later"}, Under: []string{`read c: "half of c" !overloaded`}})
	row := statusOf(t, store, live.ID)
	same(t, "status in the journal", row.Status, journal.Running)
	assert.That(t, !e.Driven(row), "its lease is still held")
	same(t, "records", kinds(records(t, store, live.ID)), []string{"start", "mark", "completion", "completion",
		"suspend"})
	same(t, "what is open", w.open, 0)

	again := resume(t, e, live.ID)
	end, _ = wait(t, again)
	assert.That(t, end.Status == journal.Running, "resumed while it is still busy, it has status %s", end.Status)
	free()
	end, r = wait(t, resume(t, w.engine(store, "two"), live.ID))
	same(t, "status", end.Status, journal.Done)
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B C"})
	same(t, "effects", w.begun(), []string{"write a", "read b", "read c", "read c", "read c"})
	for _, n := range w.writes {
		same(t, "times it was written", n, 1)
	}
}

func TestSuspendedRunFinishesTheWritesThatAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := localStore(t)
		release := w.holds("a", true)
		free := w.busy("b")
		live := start(t, w.engine(store, "one"),
			`<Parallel><Do what="w:a" got="{a}"/><Do what="r:b" got="{got}"/></Parallel>`)
		synctest.Wait()
		release()
		end, _ := wait(t, live)
		same(t, "status", end.Status, journal.Running)
		same(t, "records", kinds(records(t, store, live.ID)), []string{"start", "mark", "suspend", "completion"})
		free()
		end, _ = wait(t, resume(t, w.engine(store, "two"), live.ID))
		same(t, "status", end.Status, journal.Done)
		same(t, "effects", w.begun()[2:], []string{"read b"})
	})
}

func TestEffectThatIsWithdrawnSuspendsNothing(t *testing.T) {
	w := newWorld(t)
	w.do["a"] = func(ctx context.Context, _ run.Job) (any, error) {
		<-ctx.Done()
		return nil, &run.Suspended{Fault: &bt.Fault{Kind: "overloaded", Reason: "try later"}}
	}
	live := start(t, w.engine(localStore(t), "one"),
		`<Fallback><Timeout msec="1"><Do what="r:a" got="{got}"/></Timeout><Do what="r:b" got="{got}"/></Fallback>`)
	end, r := wait(t, live)
	same(t, "status", end.Status, journal.Done)
	same(t, "outcome", r.Got, "B")
}

func TestRequestToStopThatComesWhileARunIsBeingSuspendedEndsIt(t *testing.T) {
	for name, stop := range map[string]func(w *world, store journal.Store, live *run.Live) error{
		"from here": func(_ *world, _ journal.Store, live *run.Live) error {
			live.Cancel("enough")
			return nil
		},
		"from another process": func(w *world, store journal.Store, live *run.Live) error {
			return w.engine(store, "two").Cancel(w.t.Context(), ada, live.ID, "enough")
		},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			release := w.holds("a", true)
			w.busy("b")
			live := start(t, w.engine(store, "one"),
				`<Parallel><Do what="w:a" got="{a}"/><Do what="r:b" got="{got}"/></Parallel>`)
			synctest.Wait()
			assert.NoError(t, stop(w, store, live))
			release()
			end := assert.Must(live.Wait(t.Context()))(t)
			same(t, "status", end.Status, journal.Cancelled)
		})
	}
}

func TestWhatArrivedBeforeARunWasSuspendedIsAReceiptOfItOnce(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	free := w.busy("b")
	e := w.engine(store, "one")
	live := start(t, e, `<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`)
	wait(t, live)
	left := func(recs []journal.Record) (all []string) {
		for seq, c := range run.Receipts(recs) {
			all = append(all, fmt.Sprintf("%d %s", seq, c.Result))
		}
		return all
	}
	recs := records(t, store, live.ID)
	same(t, "while it waits", left(recs), []string{`1 "A"`, `2 "half of b"`})
	stopped := recs[2]
	stopped.Seq, stopped.Kind = 4, run.KindStopped
	stopped.Data = []byte(`{"now":1,"under":[{"op":2,"kind":"read","result":"half of b"}]}`)
	request := journal.Record{Seq: 3, Kind: run.KindCancel, Data: []byte(`{"reason":"enough"}`)}
	same(t, "stopped at that moment", left(append(recs[:3:3], request, stopped)), []string{`1 "A"`, `4 "half of b"`})
	free()
	wait(t, resume(t, e, live.ID))
	same(t, "once it has gone on", left(records(t, store, live.ID)), []string{`1 "A"`, `2 "half of b"`, `4 "B"`})
}

func TestUsageKeptWithTheEndIsThatOfAllReceipts(t *testing.T) {
	metered := func(c *run.Config) { // each receipt takes as many tokens as its result has bytes
		c.Assistants[0].Used = func(c *run.CompletionRecord) (journal.Used, bool) {
			return journal.Used{Model: c.Kind + "\x00", Input: len(c.Result), Output: 1}, true
		}
	}
	for name, c := range map[string]struct {
		err  error // of b at first, with which half of its answer comes
		end  func(t *testing.T, w *world, e *run.Engine, live *run.Live)
		want journal.Used
	}{
		"of a run that was suspended and went on": {&run.Suspended{Fault: &bt.Fault{Kind: "overloaded"}},
			func(t *testing.T, w *world, e *run.Engine, live *run.Live) {
				wait(t, live)
				delete(w.do, "b")
				wait(t, resume(t, e, live.ID))
			}, journal.Used{Model: "read", Input: len(`"A"` + `"half of b"` + `"B"`), Output: 3}},
		"of one that was stopped": {context.Canceled, func(t *testing.T, _ *world, _ *run.Engine, live *run.Live) {
			synctest.Wait()
			live.Cancel("enough")
			assert.Must(live.Wait(t.Context()))(t)
		}, journal.Used{Model: "read", Input: len(`"A"` + `"half of b"`), Output: 2}},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			w.do["b"] = func(ctx context.Context, _ run.Job) (any, error) {
				if errors.Is(c.err, context.Canceled) {
					<-ctx.Done()
				}
				return "half of b", c.err
			}
			e := w.engine(store, "one", metered)
			live := start(t, e, `<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`)
			c.end(t, w, e, live)
			key := journal.Key{Owner: ada, Run: live.ID}
			kept, others, err := store.UsedBy(t.Context(), []journal.Key{key})
			assert.NoError(t, err)
			same(t, "usage", kept[key], []journal.Used{c.want})
			same(t, "runs whose usage is not kept", len(others), 0)
		})
	}
}
