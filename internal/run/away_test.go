package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

func TestJournalThatIsAwayForLongerThanALeaseLeavesTheRunToOthers(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		wire := remote(store)
		release := w.holds("a", false)
		live := start(t, w.engine(wire, "one"), `<Do what="r:a" got="{got}"/>`)
		synctest.Wait()
		wire.set(true)
		release()
		began := time.Now()
		stopsShort(t, live, journal.ErrUnreachable)
		took := time.Since(began)
		assert.That(t, took <= lease+grace, "it was tried for %v", took)
		pass(lease)
		w.mu.Lock()
		delete(w.do, "a")
		w.mu.Unlock()
		_, r := wait(t, resume(t, w.engine(store, "two"), live.ID))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	})
}

func TestEffectThatCanNotReadTheJournalIsNoFaultOfTheRun(t *testing.T) {
	for _, cause := range []error{journal.ErrUnreachable, journal.ErrLocked, journal.ErrUnsure} {
		inWorld(t, func(t *testing.T, w *world, store journal.Store) {
			w.do["b"] = func(context.Context, run.Job) (any, error) {
				return nil, fmt.Errorf("what it is asked: %w", cause)
			}
			live := start(t, w.engine(store, "one"), `<Sequence><Do what="w:a r:b" got="{got}"/></Sequence>`)
			stopsShort(t, live, cause)
			same(t, "it may be taken up at once", waits(statusOf(t, store, live.ID)), true)
			delete(w.do, "b")
			_, r := wait(t, resume(t, w.engine(store, "two"), live.ID))
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
			same(t, "effects", w.begun(), []string{"write a", "read b", "read b"})
		})
	}
}

func TestRunThatCanNotReadWhatItOpensWithStaysOpen(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	w.opened = func(context.Context, *run.View) error { return fmt.Errorf("its words: %w", errUnreachable) }
	s := spec(`<Do what="r:a" got="{got}"/>`)
	s.ID = "begun"
	_, err := w.engine(store, "one").Start(t.Context(), s)
	assert.That(t, errors.Is(err, journal.ErrUnreachable), "it began with %v", err)
	same(t, "it may be taken up at once", waits(statusOf(t, store, s.ID)), true)
	w.opened = nil
	_, r := wait(t, resume(t, w.engine(store, "two"), s.ID))
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
}

func TestWriteThatCanNotReachTheJournalHasAReceiptThatSaysSo(t *testing.T) {
	w := newWorld(t)
	w.do["a"] = func(context.Context, run.Job) (any, error) { return nil, errUnreachable }
	end, r := wait(t, start(t, w.engine(newStore(t), "one"), `<Do what="w:a" got="{got}"/>`))
	same(t, "status", end.Status, journal.Failed)
	assert.That(t, r.Fault != nil && strings.Contains(r.Fault.Reason, errUnreachable.Error()), "the fault is %v", r.Fault)
}

// away is a journal whose texts can't be read for a while.
type away struct {
	journal.Store
	until time.Time
}

func (a *away) Blob(ctx context.Context, o journal.Owner, hash string) ([]byte, error) {
	if time.Now().Before(a.until) {
		return nil, journal.ErrUnreachable
	}
	return a.Store.Blob(ctx, o, hash)
}

func TestTextOfARunIsWaitedForWhileTheJournalIsAway(t *testing.T) {
	for name, c := range map[string]struct {
		away  time.Duration
		short bool
	}{"for seconds": {5 * time.Second, false}, "for longer than a lease": {time.Minute, true}} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			store := &away{Store: newStore(t)}
			w.do["a"] = func(ctx context.Context, job run.Job) (any, error) {
				text, err := job.View.Text(ctx, "words")
				return string(text), err
			}
			s := spec(`<Do what="r:a" got="{got}"/>`)
			s.Texts = []run.Text{{Name: "words", Content: []byte("kept")}}
			store.until = time.Now().Add(c.away)
			live := assert.Must(w.engine(store, "one").Start(t.Context(), s))(t)
			if c.short {
				stopsShort(t, live, journal.ErrUnreachable)
				pass(c.away)
				live = resume(t, w.engine(store, "two"), live.ID)
			}
			_, r := wait(t, live)
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: "kept"})
		})
	}
}

// waits says whether a run waits to be taken up by whoever has room.
func waits(r journal.Run) bool {
	now := journal.LeaseTimes{Now: time.Now()}
	return r.Status == journal.Running && !r.SetAside() && !r.Driven(now) && !r.Rests(now)
}
