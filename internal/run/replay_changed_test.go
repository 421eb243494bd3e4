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
