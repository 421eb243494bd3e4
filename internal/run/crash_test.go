package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
)

// writesOf is how many records the long tree's run is written in: its beginning, and one a batch.
const writesOf = 11

// death is a write, counted from 1, at which a process dies: before it took effect, or after. 0: it lives.
type death struct {
	at    int
	after bool
}

// survive brings a run to its end in a process that may die as well, and then in one that does not. It gives the
// end and how often the process died.
func survive(
	t *testing.T, w *world, store journal.Store, first, second death,
) (id string, end run.EndRecord, deaths int) {
	t.Helper()
	deaths = 1
	id = crash(t, w, store, longTree, first.at, first.after)
	if id == "" {
		id = crash(t, w, store, longTree, 0, false)
	}
	if second.at > 0 {
		dying := w.engine(&journaltest.Mortal{Store: store, At: second.at, After: second.after}, "dies too")
		if live, err := dying.Resume(t.Context(), ada, id); err == nil {
			if _, err := live.Wait(t.Context()); err != nil {
				deaths++
			}
		}
		pass(lease)
	}
	if r := statusOf(t, store, id); r.Status == journal.Running {
		end, _ = wait(t, resume(t, w.engine(store, "survivor"), id))
		return id, end, deaths
	}
	end = assert.Must(run.ReadEnd(t.Context(), store, ada, id))(t)
	return id, end, deaths
}

func TestCrashAtAnyWriteLosesNothingAndRepeatsNoWrite(t *testing.T) {
	check := func(t *testing.T, store journal.Store, first, second death) {
		t.Helper()
		w := newWorld(t)
		id, end, deaths := survive(t, w, store, first, second)
		where := fmt.Sprintf("first death %d %v, second %d %v: ", first.at, first.after, second.at, second.after)
		same(t, where+"status", end.Status, journal.Done)
		same(t, where+"outcome", resultOf(t, end), result{Ended: "SUCCESS", Got: longGot})
		same(t, where+"keys written", len(w.writes), 2)
		for key, n := range w.writes {
			same(t, where+"times that "+key+" was written", n, 1)
		}
		recs := records(t, store, id)
		repeated := map[uint64]int{}
		resumed := all[run.ResumeRecord](t, recs, run.KindResume)
		assert.That(t, len(resumed) <= deaths, "%sresumed %d times after %d deaths", where, len(resumed), deaths)
		for _, again := range resumed {
			for _, op := range again.Repeated {
				repeated[op]++
			}
		}
		times := map[string]int{}
		var writes []string
		for _, label := range w.begun() {
			times[label]++
			if strings.HasPrefix(label, "write") {
				writes = append(writes, label)
			}
		}
		same(t, where+"writes in their order", writes, []string{"write d", "write f"})
		for _, c := range all[run.CompletionRecord](t, recs, run.KindCompletion) {
			if most := 1 + repeated[c.Op]; !c.Once && times[c.Label] > most {
				t.Errorf("%s%s was performed %d times, and counted %d times", where, c.Label, times[c.Label], most)
			}
		}
	}
	for at := 1; at <= writesOf; at++ {
		seconds := []death{{}}
		// Who goes on writes that it does, and what is left: a death at a later write would be none.
		for again := 1; again <= writesOf-at+3; again++ {
			seconds = append(seconds, death{again, false}, death{again, true})
		}
		for _, after := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) { // each opens its own database, which takes longer than the runs
				store := newStore(t)
				for _, second := range seconds {
					check(t, store, death{at, after}, second)
				}
				runs, err := store.Runs(t.Context(), ada, journal.Filter{})
				assert.That(t, err == nil && len(runs) == len(seconds),
					"first death %d %v: %d runs, want %d, %v", at, after, len(runs), len(seconds), err)
			})
		}
	}
}

func TestCrashMatrixCoversEveryWriteOfItsRun(t *testing.T) {
	w := newWorld(t)
	counting := &journaltest.Mortal{Store: newStore(t)}
	wait(t, start(t, w.engine(counting, "one"), longTree))
	same(t, "writes of the run", counting.Writes(), writesOf)
}

// A run of this tree that dies at its third write, after it took effect, has marked the write and not performed it; at
// its fourth, before, it has performed it and kept no receipt.
const writeTree = `<Do what="r:a w:b r:c" lenient="true" got="{got}"/>`

func TestMarkIsWrittenBeforeTheEffectIsPerformed(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	var before []string
	w.do["b"] = func(ctx context.Context, job run.Job) (any, error) {
		recs, err := store.Records(ctx, ada, job.View.ID, 0)
		before = kinds(recs)
		return "B", err
	}
	live := start(t, w.engine(store, "one"), writeTree)
	wait(t, live)
	same(t, "records before the write", before, []string{"start", "completion", "mark"})
	marks := all[run.MarkRecord](t, records(t, store, live.ID), run.KindMark)
	receipts := all[run.CompletionRecord](t, records(t, store, live.ID), run.KindCompletion)
	same(t, "marks", marks, []run.MarkRecord{{Op: receipts[1].Op, Leaf: "Do", Digest: receipts[1].Digest}})
}

func TestMarkedWriteIsLookedUpAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		at     int
		after  bool
		found  func(*world)
		want   string
		why    string
		writes int
	}{
		"it was performed": {4, false, func(*world) {}, `write b: "B" found`, "", 1},
		"it was not":       {3, true, func(*world) {}, `write b: "B"`, "", 1},
		"it can't be looked up": {4, false, func(w *world) {
			w.found = nil
		}, `write b:  !unknown`, "took effect", 1},
		"it can't, and was not": {3, true, func(w *world) {
			w.found = nil
		}, `write b:  !unknown`, "took effect", 0},
		"the look fails": {4, false, fails, `write b:  !unknown`, ": no answer", 1},
		"the look panics": {3, true, panics, `write b:  !unknown`, "looking it up panicked: no answer",
			0},
		"what is found does not encode": {4, false, findsNoJSON, `write b:  !unknown`, "unsupported type: chan int", 1},
		"nobody performs it any more": {4, false, func(w *world) {
			w.without = "write"
		}, `write b:  !unknown`, "took effect", 1},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, writeTree, c.at, c.after)
			same(t, "records before the crash", kinds(records(t, store, id)), []string{"start", "completion", "mark"})
			c.found(w)
			live := resume(t, w.engine(store, "two"), id)
			wait(t, live)
			receipts := all[run.CompletionRecord](t, records(t, store, id), run.KindCompletion)
			same(t, "receipt", describe(receipts[1]), c.want)
			if f := receipts[1].Err; f != nil && !strings.HasSuffix(f.Reason, c.why) {
				t.Errorf("the fault's reason is %q; want %q in it", f.Reason, c.why)
			}
			same(t, "writes", len(w.writes), c.writes)
			same(t, "records after the crash", kinds(records(t, store, id))[3:],
				[]string{"resume", "completion", "completion", "trace", "end"})
			same(t, "repeated", all[run.ResumeRecord](t, records(t, store, id), run.KindResume)[0].Repeated, nil)
		})
	}
}

func fails(w *world) {
	w.found = func(context.Context, run.Job) (any, bool, error) { return nil, false, errors.New("no answer") }
}

func panics(w *world) {
	w.found = func(context.Context, run.Job) (any, bool, error) { panic("no answer") }
}

func findsNoJSON(w *world) {
	w.found = func(context.Context, run.Job) (any, bool, error) { return make(chan int), true, nil }
}

func TestParallelWritesAreEachLookedUp(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store,
			`<Parallel><Do what="w:a" got="{got}"/><Do what="w:b" got="{b}"/><Do what="r:c" got="{c}"/></Parallel>`,
			3, false)
		same(t, "records", kinds(records(t, store, id)), []string{"start", "mark", "mark"})
		live := resume(t, w.engine(store, "two"), id)
		wait(t, live)
		same(t, "writes", len(w.writes), 2)
		for key, n := range w.writes {
			same(t, "times that "+key+" was written", n, 1)
		}
		recs := records(t, store, id)
		same(t, "repeated", all[run.ResumeRecord](t, recs, run.KindResume)[0].Repeated, []uint64{3})
		for _, c := range all[run.CompletionRecord](t, recs, run.KindCompletion) {
			same(t, "found "+c.Label, c.Found, c.Once)
		}
	})
}

// changed gives other contents than were kept.
type changed struct {
	journal.Store
	from, to string
}

func (c changed) Blob(ctx context.Context, owner journal.Owner, hash string) ([]byte, error) {
	content, err := c.Store.Blob(ctx, owner, hash)
	return bytes.ReplaceAll(content, []byte(c.from), []byte(c.to)), err
}

func TestJournalThatDoesNotFitItsTreeIsNotGoneOnFrom(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		at       int
		want     string
	}{
		"a receipt of another request": {"r:a", "r:x", 3, "record 1 is the completion of operation 1 of Do"},
		"a receipt of nothing": {`<Do what="r:a w:b r:c" lenient="true" got="{got}"/>`, "<AlwaysSuccess/>", 3,
			"which the tree does not ask for"},
		"a mark of another write": {"w:b", "w:x", 4, "record 2 is the mark of operation 2 of Do"},
		"a mark of nothing":       {"w:b ", "", 4, "record 2 is the mark of operation 2 of Do"},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, writeTree, c.at, true)
			before := w.begun()
			_, err := w.engine(changed{store, c.from, c.to}, "two").Resume(t.Context(), ada, id)
			assert.That(t, errors.Is(err, run.ErrDiverged) && strings.Contains(fmt.Sprint(err), c.want),
				"resuming gives %v; want %v with %q", err, run.ErrDiverged, c.want)
			same(t, "effects", w.begun(), before)
			r := statusOf(t, store, id)
			same(t, "status", r.Status, journal.Running)
			same(t, "holder of the lease", r.LeaseHolder, "")
			_, got := wait(t, resume(t, w.engine(store, "two"), id))
			same(t, "outcome with the right tree", got.Got, "A B C")
		})
	}
}
