package run_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

func TestReplayThroughAChangedTreeTellsWhatDiffers(t *testing.T) {
	known := []string{"was", "would", "differs", "later", "reaches", "since"}
	texttest.PlayFile(t, "testdata/replay.txt", known, func(t *testing.T, lines []texttest.Line) {
		said := map[string][]string{}
		for _, l := range lines {
			said[l.Words] = append(said[l.Words], l.Rest)
		}
		inWorld(t, func(t *testing.T, w *world, store journal.Store) {
			w.takes("slow", 5*time.Second)
			w.takes("b", time.Second)
			live := start(t, w.engine(store, "one"), said["was"][0])
			wait(t, live)
			first := w.mustReplay(store, live.ID, said["would"][0])
			same(t, "the first difference", tell(first), said["differs"])
			found := w.mustReplay(store, live.ID, said["would"][0], pastFirst)
			same(t, "all differences", tell(found), append(said["differs"], said["later"]...))
			same(t, "where it ended", []string{string(found.Reached)}, said["reaches"])
			same(t, "why", found.Why, strings.Join(said["since"], ""))
		})
	})
}

func TestReplayShowsWhereTheTracesDiffer(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	live := start(t, w.engine(store, "one"),
		`<Sequence><Script code="n:=1"/><Script code="n:=2"/><Do what="r:a" got="{got}"/></Sequence>`)
	wait(t, live)
	found := w.mustReplay(store, live.ID,
		`<Sequence><Script code="n:=1"/><Script code="n:=3"/><Do what="r:b" got="{got}"/></Sequence>`)
	trace := found.Differences[0].Trace
	same(t, "the last equal event", trace.Was[trace.Same-1], run.TraceEvent{Number: 1, Rule: "Main/Script",
		Status: "SUCCESS"})
	same(t, "the recorded event", trace.Was[trace.Same], run.TraceEvent{Number: 2, Rule: "Main/Script",
		Key: "n", Value: "2"})
	same(t, "the other event", trace.Would[trace.Same], run.TraceEvent{Number: 2, Rule: "Main/Script",
		Key: "n", Value: "3"})
	same(t, "the step in explain", found.Differences[0].Step, 1)

	later := w.mustReplay(store, live.ID,
		`<Sequence><Script code="n:=3"/><Do what="r:b" got="{got}"/><AlwaysSuccess/></Sequence>`, pastFirst)
	same(t, "another trace past the first difference", later.OtherTrace, nil)

	other := w.mustReplay(store, live.ID,
		`<Sequence><Script code="n:=1"/><Script code="n:=2"/><AlwaysSuccess/><Do what="r:a" got="{got}"/></Sequence>`)
	same(t, "differences", tell(other), nil)
	same(t, "its record", other.OtherTrace.Record, int64(0))
	same(t, "where it differs", other.OtherTrace.Trace.Would[other.OtherTrace.Trace.Same].Rule, "Main/AlwaysSuccess")
}

// What people call a node is theirs to change: no decision is recorded or compared by it.
func TestRenamedNodesMakeNoDifference(t *testing.T) {
	const body = `<Sequence name="%[1]s"><Script name="%[1]s" code="n:=1"/><Fallback name="%[1]s"><AlwaysFailure name="%[1]s"/><Do name="%[1]s" what="r:a r:bad" got="{got}"/>` +
		`<Timeout name="%[1]s" msec="700"><Do name="%[1]s" what="r:slow" got="{got}"/></Timeout><Do name="%[1]s" lenient="true" what="r:a" got="{got}"/></Fallback></Sequence>`
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.takes("slow", 5*time.Second)
		w.do["bad"] = func(context.Context, run.Job) (any, error) { return nil, errors.New("it is bad") }
		store := newStore(t)
		live := start(t, w.engine(store, "one"), fmt.Sprintf(body, "as it was"))
		wait(t, live)
		found := w.mustReplay(store, live.ID, fmt.Sprintf(body, "renamed"))
		same(t, "differences", tell(found), nil)
		same(t, "another trace", found.OtherTrace, nil)
		same(t, "where it ended", found.Reached, replay.ReachedEnd)
		same(t, "it is the run's own tree", found.OwnTree, false)
		same(t, "steps", found.Steps, 5)
	})
}

func TestReplayedPayloadsHoldTheRecordNumbersOfTheirRun(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		e := w.engine(store, "one", withRefs(w))
		s := spec(`<Sequence><Do what="r:a r:b" got="{got}"/><Ask refs="{refs}"/><Ask refs="{refs}"/></Sequence>`)
		live := assert.Must(e.Start(t.Context(), s))(t)
		wait(t, live)
		found := mustReplayBy(t, w.engine(untouched(t, store), "two", withRefs(w)), live.ID, "")
		same(t, "differences", tell(found), nil)
		same(t, "effects", found.Effects, 4)
	})
}

// withRefs adds a leaf that asks with the record numbers of what it was told before.
func withRefs(w *world) func(*run.Config) {
	type in struct {
		Refs []int64 `port:"refs,optional"`
	}
	type out struct {
		Refs []int64 `port:"refs"`
	}
	ask := bt.Task("Ask", "asks with what it knows", func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: "read", Label: "ask", Payload: i}}, nil
	}, func(i in, done []bt.Completion, o *out) error {
		o.Refs = append(append([]int64(nil), i.Refs...), done[0].Ref)
		return done[0].Err
	})
	return w.with(append(leaves(), ask)...)
}

func TestReplayThatDoesNotFitSaysWhy(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
	wait(t, live)
	var broken *bt.LoadError
	_, err := w.replay(store, live.ID, `<NoSuchLeaf/>`)
	assert.That(t, errors.As(err, &broken) && strings.Contains(err.Error(), "changed.xml:1:"),
		"a tree that does not load gives %v", err)
	_, err = w.replay(store, "no run", "")
	assert.That(t, errors.Is(err, journal.ErrNotFound), "no run gives %v", err)
	given := func(key string) func(*run.Config) {
		return func(c *run.Config) {
			c.Assistants[0].Options.Given = append(c.Assistants[0].Options.Given, bt.Port{Name: key, Type: textType})
		}
	}
	_, err = replayBy(t, w.engine(untouched(t, store), "two", given("more")), live.ID, `<Do what="{more}" got="{got}"/>`)
	assert.That(t, errors.Is(err, run.ErrUnfit) &&
		strings.Contains(err.Error(), "reads {more}, which the run was not given: changed.xml:1:"),
		"a key that was not given gives %v", err)
	_, err = replayBy(t, w.engine(untouched(t, store), "number", func(c *run.Config) {
		c.Assistants[0].Options.Given[0].Type = reflect.TypeFor[int]()
	}), live.ID, `<Do what="r:a" got="{got}"/>`)
	assert.That(t, errors.Is(err, run.ErrUnfit) && strings.Contains(err.Error(), "key {what}"),
		"a key of another type gives %v", err)
	_, err = replayBy(t, w.engine(untouched(t, store), "three", func(c *run.Config) {
		c.Assistants[0].Name = "somebody else"
	}), live.ID, "")
	assert.That(t, errors.Is(err, run.ErrUnfit) && strings.Contains(err.Error(), `no assistant "tester"`),
		"an unknown assistant gives %v", err)
	_, err = replayBy(t, w.engine(untouched(t, store), "four", w.lacking("Do")), live.ID, "")
	assert.That(t, errors.As(err, &broken) && strings.Contains(err.Error(), "does not load in this build"),
		"a leaf type that this build has not gives %v", err)
	found := mustReplayBy(t, w.engine(untouched(t, store), "five", w.lacking("Do")), live.ID,
		`<Add add="x" got="{got}"/>`)
	same(t, "differences to a tree that does not load any more", tell(found),
		[]string{"0 decision -read a RUNNING→SUCCESS"})
}

func TestReplayNeedsNothingThatItsTreeDoesNotRead(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	s := spec(`<Do what="r:a" got="{got}"/>`)
	s.Given = struct {
		What string `port:"what"`
		More string `port:"more"`
	}{"r:a", "than this build gives"}
	live := assert.Must(w.engine(store, "one", func(c *run.Config) {
		c.Assistants[0].Options.Given = append(c.Assistants[0].Options.Given, bt.Port{Name: "more", Type: textType})
	}).Start(t.Context(), s))(t)
	wait(t, live)
	same(t, "differences", tell(w.mustReplay(store, live.ID, "")), nil)
}

func TestReplayKeepsWhatCameInBeforeATimerThatWasOverdue(t *testing.T) {
	const body = `<Timeout name="%s" msec="%d"><Parallel><Do what="r:a" got="{a}"/><Do what="r:b" got="{got}"/></Parallel></Timeout>`
	late := 0
	for range 40 { // whether the timer or the receipt comes in first is chance
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.takes("a", 1995*time.Millisecond)
			w.takes("b", 1999*time.Millisecond)
			store := newStore(t)
			// Its appends last, so that a timer may be overdue when something else comes in.
			slow := before(store, func(context.Context) error { pass(10 * time.Millisecond); return nil }, "Append")
			live := start(t, w.engine(slow, "one"), fmt.Sprintf(body, "limit", 2000))
			wait(t, live)
			w.asRecorded(store, live.ID, replay.ReachedEnd)
			receipts := all[run.CompletionRecord](t, records(t, store, live.ID), run.KindCompletion)
			if len(receipts) < 2 || receipts[1].Now <= 2000 {
				return
			}
			late++
			same(t, "differences with the same time",
				tell(w.mustReplay(store, live.ID, fmt.Sprintf(body, "other", 2000))), nil)
			same(t, "differences with less time", tell(w.mustReplay(store, live.ID, fmt.Sprintf(body, "other", 1999))),
				[]string{"1+1999ms decision withdraws read b RUNNING→FAILURE"})
		})
	}
	assert.That(t, late != 0, "no receipt came in late")
}

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
