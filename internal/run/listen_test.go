package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

// announcing is a store that tells what is appended, unless it is mute or the connection is lost.
type announcing struct {
	journal.Store
	mu    sync.Mutex
	began []time.Time // each time of listening
	heard map[int]func(journal.Key)
	lost  chan struct{} // closed while there is no connection
	mute  bool
	fails error
	reads int
}

func announces(store journal.Store) *announcing {
	return &announcing{Store: store, heard: map[int]func(journal.Key){}, lost: make(chan struct{})}
}

func (a *announcing) Announced(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	a.mu.Lock()
	n := len(a.began)
	a.began = append(a.began, time.Now())
	a.heard[n] = heard
	lost := a.lost
	a.mu.Unlock()
	began(false)
	defer func() {
		a.mu.Lock()
		delete(a.heard, n)
		a.mu.Unlock()
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-lost:
		return journaltest.ErrDead
	}
}

func (a *announcing) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	err := a.Store.Append(ctx, o, id, recs, end)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, heard := range a.heard {
		if !a.mute {
			heard(journal.Key{Owner: o, Run: id})
		}
	}
	return err
}

func (a *announcing) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	a.mu.Lock()
	a.reads++
	err := a.fails
	a.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return a.Store.Records(ctx, o, id, from)
}

// change sets what the store does from now on.
func (a *announcing) change(do func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	do()
}

// beginnings are the times at which somebody began to listen.
func (a *announcing) beginnings() []time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.began)
}

// listening is how many listen, once everybody came to rest.
func (a *announcing) listening() int {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.heard)
}

// lags are how long after they were made the records of a run are seen, until it ends.
func lags(t *testing.T, e *run.Engine, id string) (all []time.Duration) {
	for u, err := range e.Watch(t.Context(), ada, id, 0) {
		assert.Nil(t, err)
		if u.Record != nil {
			all = append(all, time.Since(u.Record.At))
		}
	}
	return all
}

// everySecond is a tree of so many reads, one a second and a bit.
func (w *world) everySecond(n int) string {
	w.takes("a", 1090*time.Millisecond)
	return "<Sequence>" + strings.Repeat(`<Do what="r:a" got="{got}"/>`, n) + "</Sequence>"
}

func TestAnnouncedRecordIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		live := start(t, w.engine(newShared(store), "one"), w.everySecond(20))
		seen := make(chan []time.Duration)
		go func() { seen <- lags(t, w.engine(store, "two"), live.ID) }()
		wait(t, live)
		for i, lag := range <-seen {
			assert.That(t, lag < time.Millisecond, "record %d was seen %s after it was made", i, lag)
		}
		store.mu.Lock()
		defer store.mu.Unlock()
		assert.That(t, store.reads <= 2*21, "within 20 s of announcements it was read %d times", store.reads)
	})
}

func TestRecordThatWasNotAnnouncedIsFoundWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		live := start(t, w.engine(newShared(store), "one"), w.everySecond(20))
		seen := make(chan []time.Duration)
		go func() { seen <- lags(t, w.engine(store, "two"), live.ID) }()
		pass(5 * time.Second)
		store.change(func() { store.mute = true })
		wait(t, live)
		slowest := slices.Max(<-seen)
		assert.That(t, slowest <= time.Second && slowest != 0,
			"the slowest record was seen after %s; want some time, and at most a second", slowest)
	})
}

func TestLostConnectionIsMadeUpForAndListeningIsTriedAgainAfterGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		live := start(t, w.engine(newShared(store), "one"), w.everySecond(40))
		seen := make(chan []time.Duration)
		go func() { seen <- lags(t, w.engine(store, "two"), live.ID) }()
		pass(5 * time.Second)
		store.change(func() { close(store.lost) })
		pass(20 * time.Second)
		var pauses []time.Duration
		began := store.beginnings()
		for i := range began[1:] {
			pauses = append(pauses, began[i+1].Sub(began[i]))
		}
		ms := time.Millisecond
		same(t, "pauses", pauses[1:], []time.Duration{200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 6400 * ms})
		store.change(func() { store.lost = make(chan struct{}) })
		wait(t, live)
		all := <-seen
		if slowest := slices.Max(all); slowest > time.Second || slowest == 0 {
			t.Errorf("the slowest record was seen after %s; want some time, and at most a second", slowest)
		}
		if slowest := slices.Max(all[7:]); slowest > 200*ms { // it takes a look until they are often again
			t.Errorf("the slowest record of later ones was seen after %s", slowest)
		}
		same(t, "lag of the last record", all[len(all)-1], 0)
		same(t, "who listens when nobody watches", store.listening(), 0)
	})
}

func TestWatcherOutlastsAStoreThatFailsForSecondsAndIsToldOfOneThatGoesOnFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		release := w.holds("b", false)
		live := start(t, w.engine(newShared(store), "one"),
			`<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`)
		two := w.engine(store, "two")
		seen, failed := make(chan []string), make(chan error)
		go func() { seen <- follow(t, two, live.ID, 0) }()
		pass(time.Second)
		store.change(func() { store.fails = journaltest.ErrDead })
		release()
		wait(t, live)
		pass(9 * time.Second)
		store.change(func() { store.fails = nil })
		same(t, "what was seen", <-seen, []string{"start", "completion", "completion", "completion", "trace", "end"})

		again := w.holds("d", false)
		live = start(t, w.engine(newShared(store), "one"), `<Do what="r:d" got="{got}"/>`)
		go func() {
			var last error
			for _, err := range two.Watch(t.Context(), ada, live.ID, 0) {
				last = err
			}
			failed <- last
		}()
		pass(1500 * time.Millisecond) // between two looks
		store.change(func() { store.fails = journaltest.ErrDead })
		again()
		began := time.Now()
		err := <-failed
		assert.That(t, errors.Is(err, journaltest.ErrDead) && time.Since(began) >= 10*time.Second &&
			time.Since(began) <= 12*time.Second, "the watch ends after %s with %v", time.Since(began), err)
		wait(t, live)
	})
}

func TestManyWatchersListenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		live := start(t, w.engine(newShared(store), "one"), w.everySecond(5))
		two := w.engine(store, "two")
		var group sync.WaitGroup
		want := []string{"start", "completion", "completion", "completion", "completion", "completion", "trace", "end"}
		for range 50 {
			group.Go(func() { same(t, "what was seen", follow(t, two, live.ID, 0), want) })
		}
		group.Wait()
		wait(t, live)
		same(t, "times that somebody listened", len(store.beginnings()), 1)
	})
}

// newShared is the store as another process has it: what that reads is not counted.
func newShared(a *announcing) journal.Store { return &uncounted{Store: a.Store, a: a} }

type uncounted struct {
	journal.Store
	a *announcing
}

func (u *uncounted) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	return u.a.Append(ctx, o, id, recs, end)
}

func TestRunThatWaitsIsSeenByItsWatchersWhereverItIsTakenUp(t *testing.T) {
	for _, taker := range []string{"here", "elsewhere"} {
		inWorldOf(t, taker, func(t *testing.T, w *world, store journal.Store) {
			release := w.holds("a", false)
			w.streams("b", "one two three")
			engines := map[string]*run.Engine{"here": w.engine(store, "here", func(c *run.Config) {
				c.MostRuns = 1
			}), "elsewhere": w.engine(store, "elsewhere")}
			first := start(t, engines["here"], `<Do what="r:a" got="{got}"/>`)
			k, live, err := engines["here"].Submit(t.Context(),
				spec(`<Sequence><Do what="r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`))
			assert.Require(t, err == nil && live == nil, "submitted without room: %v, %v", live, err)
			got := make(chan *seen)
			go func() {
				s := &seen{}
				for u, err := range engines["here"].Watch(t.Context(), ada, k.Run, 0) {
					assert.Nil(t, err)
					s.add(u)
					assert.That(t, !u.Left, "it was left")
				}
				got <- s
			}()
			pass(time.Second)
			release()
			wait(t, first)
			live = assert.Must(engines[taker].ResumeFound(t.Context(), k))(t)
			wait(t, live)
			want := &seen{Kinds: []string{"start", "resume", "completion", "completion", "trace", "end"}}
			if taker == "here" {
				want.Text, want.Pieces = map[uint64]string{1: "one two three "}, 3
			}
			same(t, "what was seen", <-got, want)
		})
	}
}

func TestWatcherIsToldWhenItsProcessLeavesARunAndSeesItTakenUpAgain(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.streams("a", "one two three four")
		one, two := w.engine(store, "one"), w.engine(store, "two")
		live := start(t, one, `<Do what="r:a" got="{got}"/>`)
		got := make(chan []string)
		go func() {
			var all []string
			for u, err := range one.Watch(t.Context(), ada, live.ID, 0) {
				switch {
				case err != nil:
					t.Error(err)
				case u.Record != nil:
					all = append(all, u.Record.Kind)
				case u.Piece != nil:
					all = append(all, fmt.Sprintf("%q", u.Draft))
				case u.Left:
					all = append(all, "left")
				}
			}
			got <- all
		}()
		pass(1500 * time.Millisecond)
		ctx, cut := context.WithTimeout(t.Context(), 0)
		defer cut()
		one.Drain(ctx)
		wait(t, resume(t, two, live.ID))
		same(t, "what was seen", <-got, []string{"start", `"one "`, `"one two "`, "leave", "left", "resume",
			"completion", "trace", "end"})
	})
}

func TestEngineThatListensHearsForWhoBeginsToWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		two := w.engine(store, "two")
		stop := two.Listen()
		pass(10 * time.Second)
		live := start(t, w.engine(newShared(store), "one"), w.everySecond(3))
		for i, lag := range lags(t, two, live.ID)[1:] {
			assert.That(t, lag < time.Millisecond, "record %d was seen %s after it was made", i+1, lag)
		}
		wait(t, live)
		same(t, "times that somebody listened", len(store.beginnings()), 1)
		stop()
		same(t, "who listens afterwards", store.listening(), 0)
	})
}

func TestRunsOfAnOwnerAreHeardOf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := announces(newStore(t))
		one, two := w.engine(store, "one"), w.engine(store, "two")
		var mu sync.Mutex
		var heard []string
		hear := func(owner journal.Owner) (stop func()) {
			return two.Hear(owner, func(run string) {
				mu.Lock()
				heard = append(heard, run)
				mu.Unlock()
			})
		}
		stop, stopOther := hear(ada), hear("eve")
		synctest.Wait()
		same(t, "what is announced", two.Announced(), run.AnnouncesMost)
		there := start(t, one, `<Do what="r:a" got="{got}"/>`)
		wait(t, there)
		here := start(t, two, `<Do what="r:a" got="{got}"/>`)
		wait(t, here)
		same(t, "runs", slices.Compact(slices.Clone(heard)), []string{there.ID, here.ID})
		stop()
		stopOther()
		wait(t, start(t, two, `<Do what="r:a" got="{got}"/>`))
		same(t, "runs, once nobody wants to hear", slices.Compact(slices.Clone(heard)), []string{there.ID, here.ID})
	})
}
