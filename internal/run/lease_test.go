package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// remote is a store that can't be reached while it is cut off.
type remote struct {
	journal.Store
	mu       sync.Mutex
	off      bool
	cutAfter string // a kind: once a record of it is taken, it is cut off
}

var errUnreachable = fmt.Errorf("no answer: %w", journal.ErrUnreachable)

func (r *remote) cutOff(off bool) {
	r.mu.Lock()
	r.off = off
	r.mu.Unlock()
}

func (r *remote) reach() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off {
		return errUnreachable
	}
	return nil
}

func (r *remote) Append(ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End) error {
	if err := r.reach(); err != nil {
		return err
	}
	err := r.Store.Append(ctx, o, id, recs, end)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && recs[0].Kind == r.cutAfter {
		r.off, r.cutAfter = true, ""
	}
	return err
}

// cutOffAfter has it cut off once it has taken a record of a kind.
func (r *remote) cutOffAfter(kind string) {
	r.mu.Lock()
	r.cutAfter = kind
	r.mu.Unlock()
}

func (r *remote) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	if err := r.reach(); err != nil {
		return journal.Run{}, err
	}
	return r.Store.Run(ctx, o, id)
}

func (r *remote) Standing(ctx context.Context, runs []journal.Key) ([]journal.Standing, error) {
	if err := r.reach(); err != nil {
		return nil, err
	}
	return r.Store.Standing(ctx, runs)
}

func (r *remote) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	if err := r.reach(); err != nil {
		return err
	}
	return r.Store.Renew(ctx, holder, runs, until)
}

func (r *remote) Acquire(ctx context.Context, o journal.Owner, id, holder string, now, until time.Time) error {
	if err := r.reach(); err != nil {
		return err
	}
	return r.Store.Acquire(ctx, o, id, holder, now, until)
}

func refused(t *testing.T, e *run.Engine, id string) {
	t.Helper()
	if _, err := e.Resume(t.Context(), ada, id); !errors.Is(err, journal.ErrLeased) {
		t.Errorf("resuming gives %v; want %v", err, journal.ErrLeased)
	}
}

func TestRunIsItsDriversWhileTheLeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		release := w.holds("a", false)
		first, second := w.engine(store, "one"), w.engine(store, "two")
		live := start(t, first, `<Do what="r:a" got="{got}"/>`)
		for range 120 {
			refused(t, second, live.ID)
			if left := time.Until(statusOf(t, store, live.ID).LeaseUntil); left < lease/2 {
				t.Errorf("%s are left of the lease", left)
			}
			pass(500 * time.Millisecond)
		}
		release()
		wait(t, live)
		for _, e := range []*run.Engine{first, second} {
			if _, err := e.Resume(t.Context(), ada, live.ID); !errors.Is(err, journal.ErrEnded) {
				t.Errorf("resuming an ended run gives %v", err)
			}
		}
	})
}

func TestHeartbeatThatFailsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := &remote{Store: newStore(t)}
		release := w.holds("a", false)
		live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
		store.cutOff(true)
		pass(9 * time.Second)
		store.cutOff(false)
		pass(time.Minute)
		refused(t, w.engine(store, "two"), live.ID)
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}

func TestJournalThatIsBackWithinALeaseLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := &remote{Store: newStore(t)}
		release := w.holds("a", false)
		live := start(t, w.engine(store, "one"), `<Do what="r:a w:b" got="{got}"/>`)
		synctest.Wait()
		store.cutOff(true)
		release()
		pass(lease - time.Second)
		store.cutOff(false)
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
		same(t, "effects", w.begun(), []string{"read a", "write b"})
	})
}

// hanging is a store that does not answer where a run begins, or is taken up.
type hanging struct{ journal.Store }

func (hanging) Begin(ctx context.Context, _ journal.Beginning) error {
	<-ctx.Done()
	return ctx.Err()
}

func (hanging) Acquire(ctx context.Context, _ journal.Owner, _, _ string, _, _ time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestBeginningThatTakesLongerThanItsLeaseIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		e := w.engine(hanging{store}, "one")
		began := time.Now()
		if _, err := e.Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != lease {
			t.Errorf("starting gives %v after %v", err, time.Since(began))
		}
		began = time.Now()
		if _, err := e.TakeUp(t.Context(), journal.Key{Owner: ada, Run: id}); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != lease {
			t.Errorf("taking up gives %v after %v", err, time.Since(began))
		}
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				store := newStore(t)
				wire := &remote{Store: store}
				release := w.holds("a", false)
				defer release()
				zombie := start(t, w.engine(wire, "one"), `<Do what="r:a w:b" got="{got}"/>`)
				synctest.Wait()
				wire.cutOff(true)
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
				wire.cutOff(false)
				c.notices(release)
				stopsShort(t, zombie, journal.ErrConflict)
				same(t, "holder of the lease", statusOf(t, store, zombie.ID).LeaseHolder, "two")
				hold()
				_, r := wait(t, taken)
				same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
				same(t, "effects", w.begun(), []string{"read a", "read a", "write b"})
			})
		})
	}
}

func TestDriverWhoseLeaseWasTakenStopsBeforeTheOtherAppends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		wire := &remote{Store: store}
		defer w.holds("a", false)()
		zombie := start(t, w.engine(wire, "one"), `<Do what="r:a" got="{got}"/>`)
		wire.cutOff(true)
		pass(lease)
		now := time.Now()
		if err := store.Acquire(t.Context(), ada, zombie.ID, "two", now, now.Add(lease)); err != nil {
			t.Fatal(err)
		}
		wire.cutOff(false)
		stopsShort(t, zombie, journal.ErrLeased)
		same(t, "holder of the lease", statusOf(t, store, zombie.ID).LeaseHolder, "two")
	})
}

func TestJournalThatConflictsWithoutAReasonStopsTheDriver(t *testing.T) {
	w := newWorld(t)
	live := start(t, w.engine(busy{newStore(t)}, "one"), `<Do what="r:a" got="{got}"/>`)
	stopsShort(t, live, journal.ErrConflict)
}

func TestOneProcessDrivesARunOnceOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		release := w.holds("a", false)
		opening := make(chan struct{})
		w.opened = func(context.Context, *run.View) error { <-opening; return nil }
		e := w.engine(store, "one")
		first := make(chan *run.Live)
		go func() {
			live, err := e.Resume(t.Context(), ada, id)
			if err != nil {
				t.Error(err)
			}
			first <- live
		}()
		synctest.Wait()
		refused(t, e, id) // while it is taken up
		close(opening)
		live := <-first
		refused(t, e, id) // while it is driven
		if e.Live(id) != live {
			t.Error("the run that is driven is not the live one")
		}
		pass(time.Minute)
		same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "one")
		release()
		_, r := wait(t, live)
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
		if e.Live(id) != nil {
			t.Error("an ended run is live")
		}
	})
}

func TestRunIsNotFreedWhileAWriteGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		full := &full{Store: store}
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
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		now := time.Now()
		if err := store.Acquire(t.Context(), ada, id, "gone", now, now.Add(lease)); err != nil {
			t.Fatal(err)
		}
		refused(t, w.engine(store, "two"), id)
		knows := w.engine(store, "three", func(c *run.Config) { c.Dead = func(holder string) bool { return holder == "gone" } })
		for name, c := range map[string]struct {
			r    journal.Run
			want bool
		}{
			"a dead process's": {statusOf(t, store, id), false},
			"a living one's":   {journal.Run{Status: journal.Running, LeaseHolder: "two", LeaseUntil: now.Add(time.Second)}, true},
			"one run out":      {journal.Run{Status: journal.Running, LeaseHolder: "two", LeaseUntil: now}, false},
			"nobody's":         {journal.Run{Status: journal.Running}, false},
			"an ended run's":   {journal.Run{Status: journal.Done, LeaseHolder: "two", LeaseUntil: now.Add(time.Second)}, false},
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
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				store := newStore(t)
				id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
				if err := set(t.Context(), store, id); err != nil {
					t.Fatal(err)
				}
				e := w.engine(store, "right")
				if row := statusOf(t, store, id); e.Driven(row) || row.Rests(e.When()) {
					t.Errorf("driven %v, rests %v", e.Driven(row), row.Rests(e.When()))
				}
				stranded, err := store.Stranded(t.Context(), e.When(), 5)
				same(t, "stranded", fmt.Sprint(len(stranded), err), "1 <nil>")
				live, err := e.TakeUp(t.Context(), journal.Key{Owner: ada, Run: id})
				if err != nil {
					t.Fatal(err)
				}
				_, r := wait(t, live)
				same(t, "outcome", r.Got, "A")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		id := crash(t, w, store, `<Do what="r:a" got="{got}"/>`, 2, false)
		if err := store.Acquire(t.Context(), ada, id, "a little ahead", time.Now(), time.Now().Add(lease+time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := w.engine(store, "right").TakeUp(t.Context(), journal.Key{Owner: ada, Run: id})
		if !errors.Is(err, journal.ErrLeased) {
			t.Errorf("a lease of a clock that is a second ahead is taken with %v", err)
		}
	})
}
