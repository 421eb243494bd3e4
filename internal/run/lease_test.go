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
	"sibyl/internal/run"
)

func refused(t *testing.T, e *run.Engine, id string) {
	t.Helper()
	_, err := e.Resume(t.Context(), ada, id)
	assert.That(t, errors.Is(err, journal.ErrLeased), "resuming gives %v; want %v", err, journal.ErrLeased)
}

func TestRunIsItsDriversWhileTheLeaseIsRenewed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		first, second := w.engine(store, "one"), w.engine(store, "two")
		live := start(t, first, `<Do what="r:a" got="{got}"/>`)
		for range 120 {
			refused(t, second, live.ID)
			left := time.Until(statusOf(t, store, live.ID).LeaseUntil)
			assert.That(t, left >= lease/2, "%s are left of the lease", left)
			pass(500 * time.Millisecond)
		}
		release()
		wait(t, live)
		for _, e := range []*run.Engine{first, second} {
			_, err := e.Resume(t.Context(), ada, live.ID)
			assert.That(t, errors.Is(err, journal.ErrEnded), "resuming an ended run gives %v", err)
		}
	})
}

func TestJournalThatIsBackWithinALeaseLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := remote(newStore(t))
		release := w.holds("a", false)
		live := start(t, w.engine(store, "one"), `<Do what="r:a w:b" got="{got}"/>`)
		synctest.Wait()
		store.set(true)
		release()
		pass(lease - time.Second)
		store.set(false)
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
		same(t, "effects", w.begun(), []string{"read a", "write b"})
	})
}

func TestBeginningThatTakesLongerThanItsLeaseIsNone(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		e := w.engine(hanging(store), "one")
		began := time.Now()
		_, err := e.Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`))
		assert.That(t, errors.Is(err, context.DeadlineExceeded) && time.Since(began) == lease,
			"starting gives %v after %v", err, time.Since(began))
		began = time.Now()
		_, err = e.ResumeFound(t.Context(), journal.Key{Owner: ada, Run: id})
		assert.That(t, errors.Is(err, context.DeadlineExceeded) && time.Since(began) == lease,
			"taking up gives %v after %v", err, time.Since(began))
	})
}

func TestDriverThatLostItsRunPerformsNothingMore(t *testing.T) {
	for name, c := range map[string]struct {
		other   string               // how far the other has come: the effect that it performs
		notices func(release func()) // how it comes to know
	}{
		"at its next append":                       {"b", func(release func()) { release() }},
		"at its next append, when little was done": {"a", func(release func()) { release() }},
		"at its next heartbeat":                    {"b", func(func()) { pass(2 * time.Second) }},
		"at its next heartbeat, as early":          {"a", func(func()) { pass(2 * time.Second) }},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			wire := remote(store)
			release := w.holds("a", false)
			defer release()
			zombie := start(t, w.engine(wire, "one"), `<Do what="r:a w:b" got="{got}"/>`)
			synctest.Wait()
			wire.set(true)
			second := w.engine(store, "two")
			pass(lease - time.Second)
			refused(t, second, zombie.ID)
			pass(time.Second)
			w.mu.Lock()
			delete(w.do, "a")
			w.mu.Unlock()
			w.mu.Lock()
			hold := w.holds(c.other, false)
			w.mu.Unlock()
			taken := resume(t, second, zombie.ID)
			synctest.Wait()
			wire.set(false)
			c.notices(release)
			stopsShort(t, zombie, journal.ErrConflict)
			same(t, "holder of the lease", statusOf(t, store, zombie.ID).LeaseHolder, "two")
			hold()
			_, r := wait(t, taken)
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
			same(t, "effects", w.begun(), []string{"read a", "read a", "write b"})
		})
	}
}

func TestDriverWhoseLeaseWasTakenStopsBeforeTheOtherAppends(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		wire := remote(store)
		defer w.holds("a", false)()
		zombie := start(t, w.engine(wire, "one"), `<Do what="r:a" got="{got}"/>`)
		wire.set(true)
		pass(lease)
		now := time.Now()
		assert.NoError(t, store.Acquire(t.Context(), ada, zombie.ID, "two", now, now.Add(lease)))
		wire.set(false)
		stopsShort(t, zombie, journal.ErrLeased)
		same(t, "holder of the lease", statusOf(t, store, zombie.ID).LeaseHolder, "two")
	})
}

func TestJournalThatConflictsWithoutAReasonStopsTheDriver(t *testing.T) {
	w := newWorld(t)
	live := start(t, w.engine(busy(newStore(t)), "one"), `<Do what="r:a" got="{got}"/>`)
	stopsShort(t, live, journal.ErrConflict)
}

func TestOneProcessDrivesARunOnceOnly(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		release := w.holds("a", false)
		opening := make(chan struct{})
		w.opened = func(context.Context, *run.View) error { <-opening; return nil }
		e := w.engine(store, "one")
		first := make(chan *run.Live)
		go func() {
			live, err := e.Resume(t.Context(), ada, id)
			assert.Nil(t, err)
			first <- live
		}()
		synctest.Wait()
		refused(t, e, id) // while it is taken up
		close(opening)
		live := <-first
		refused(t, e, id) // while it is driven
		assert.That(t, e.Live(id) == live, "the run that is driven is not the live one")
		pass(time.Minute)
		same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "one")
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
		assert.That(t, e.Live(id) == nil, "an ended run is live")
	})
}

func TestRunIsNotFreedWhileAWriteGoesOn(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		full := full(store)
		release := w.holds("b", true)
		defer release()
		w.do["a"] = func(context.Context, run.Job) (any, error) { full.set(true); return "A", nil }
		e := w.engine(full, "one")
		live := start(t, e, `<Parallel><Do what="w:b" got="{got}"/><Delay delay_msec="1000"><Do what="r:a" got="{a}"/></Delay></Parallel>`)
		began := time.Now()
		stopsShort(t, live, journal.ErrFull)
		same(t, "time until the write is left behind", time.Since(began), time.Second+grace)
		full.set(false)
		refused(t, e, live.ID)
		refused(t, w.engine(store, "two"), live.ID)
		release()
		synctest.Wait()
		delete(w.do, "a")
		_, r := wait(t, resume(t, w.engine(store, "two"), live.ID))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "B"})
		same(t, "writes", w.writes, map[string]int{live.ID + "/1": 1})
	})
}

func TestLeaseOfADeadProcessIsNotWaitedFor(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		now := time.Now()
		assert.NoError(t, store.Acquire(t.Context(), ada, id, "gone", now, now.Add(lease)))
		refused(t, w.engine(store, "two"), id)
		knows := w.engine(store, "three", func(c *run.Config) {
			c.Dead = func(holder string) bool { return holder == "gone" }
		})
		for name, c := range map[string]struct {
			r    journal.Run
			want bool
		}{
			"a dead process's": {statusOf(t, store, id), false},
			"a living one's": {journal.Run{Status: journal.Running, LeaseHolder: "two",
				LeaseUntil: now.Add(time.Second)}, true},
			"one run out": {journal.Run{Status: journal.Running, LeaseHolder: "two", LeaseUntil: now}, false},
			"nobody's":    {journal.Run{Status: journal.Running}, false},
			"an ended run's": {journal.Run{Status: journal.Done, LeaseHolder: "two",
				LeaseUntil: now.Add(time.Second)}, false},
		} {
			same(t, "whether a run is driven, by a lease that is "+name, knows.Driven(c.r), c.want)
		}
		_, r := wait(t, resume(t, knows, id))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}

// A clock that was a year ahead has set a lease, and a rest, that nobody waits for.
func TestLeaseOrRestFurtherAheadThanAnyIsOver(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, set := range map[string]func(ctx context.Context, s journal.Store, id string) error{
		"lease": func(ctx context.Context, s journal.Store, id string) error {
			return s.Acquire(ctx, ada, id, "ahead", time.Now(), time.Now().Add(year))
		},
		"rest": func(ctx context.Context, s journal.Store, id string) error {
			if err := s.Acquire(ctx, ada, id, "ahead", time.Now(), time.Now().Add(lease)); err != nil {
				return err
			}
			return s.Release(ctx, ada, id, "ahead", time.Now().Add(year))
		},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
			assert.NoError(t, set(t.Context(), store, id))
			e := w.engine(store, "right")
			if row := statusOf(t, store, id); e.Driven(row) || row.Rests(e.LeaseTimes()) {
				t.Errorf("driven %v, rests %v", e.Driven(row), row.Rests(e.LeaseTimes()))
			}
			stranded, err := store.Stranded(t.Context(), e.LeaseTimes(), 5)
			same(t, "stranded", fmt.Sprint(len(stranded), err), "1 <nil>")
			live := assert.Must(e.ResumeFound(t.Context(), journal.Key{Owner: ada, Run: id}))(t)
			_, r := wait(t, live)
			same(t, "outcome", r.Got, "A")
		})
	}
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		assert.NoError(t, store.Acquire(t.Context(), ada, id, "a little ahead", time.Now(),
			time.Now().Add(lease+time.Second)))
		_, err := w.engine(store, "right").ResumeFound(t.Context(), journal.Key{Owner: ada, Run: id})
		assert.That(t, errors.Is(err, journal.ErrLeased), "a lease of a clock that is a second ahead is taken with %v", err)
	})
}

func TestHeartbeatThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := remote(newStore(t))
		release := w.holds("a", false)
		live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
		store.set(true)
		pass(9 * time.Second)
		store.set(false)
		pass(time.Minute)
		refused(t, w.engine(store, "two"), live.ID)
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}
