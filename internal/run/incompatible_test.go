package run_test

import (
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

// nextBuild is a build without the leaf Add.
func nextBuild(c *run.Config) {
	c.Build = "next"
	newWorld(nil).lacking("Add")(c)
}

// oldTree writes once, and can't be loaded by nextBuild. It crashes at its 4th write: the write b was performed.
const oldTree = `<Sequence><Do what="w:b" got="{got}"/><Add add="!" got="{got}"/></Sequence>`

func TestResumingARunOfAnotherBuildSaysWhatEndsIt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, oldTree, 3, false)
		_, err := w.engine(store, "two", nextBuild).Resume(t.Context(), ada, id)
		assert.That(t, errors.Is(err, run.ErrIncompatible), "resuming gives %v", err)
		assert.Contains(t, "the error of resuming", fmt.Sprint(err),
			id, `build "test" wrote it`, `"next"`, "sibyl run stop "+id, "Add")
		same(t, "records", kinds(records(t, store, id)), []string{"start", "mark"})
		_, r := wait(t, resume(t, w.engine(store, "old"), id))
		same(t, "outcome in its own build", r.Got, "B!")
	})
}

func TestCancellingARunThatThisBuildCannotFoldEndsIt(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*run.Config)
		from    string // of the kept tree, another text is there
		to      string
		outcome func(*run.View, run.Ending) run.Outcome
		why     string
		want    string
	}{
		"a leaf is gone":     {nextBuild, "", "", outcomeOf, "there is no node <Add>", `{"ended":"IDLE"`},
		"its leaf asks else": {func(*run.Config) {}, "w:b", "w:x", outcomeOf, "for which the tree asks", `{"ended":"IDLE"`},
		"its assistant is gone": {func(c *run.Config) {
			c.Assistants = nil
		}, "", "", outcomeOf, `no such assistant: "tester"`, `{}`},
		"its key is gone": {func(c *run.Config) {
			c.Assistants[0].Options.Given = nil
		}, "", "", outcomeOf, "has no key {what}", `{"ended":"IDLE"`},
		"its outcome breaks, too": {nextBuild, "", "", func(*run.View, run.Ending) run.Outcome {
			panic("no words")
		}, "there is no node <Add>", `{}`},
	} {
		inWorldOf(t, name, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, oldTree, 3, false)
			before := w.begun()
			w.outcome = c.outcome
			e := w.engine(changed{store, c.from, c.to}, "two", c.change)
			assert.NoError(t, e.Cancel(t.Context(), ada, id, "enough"))
			r := statusOf(t, store, id)
			same(t, "status", r.Status, journal.Cancelled)
			same(t, "holder of the lease", r.LeaseHolder, "")
			same(t, "effects", w.begun(), before)
			same(t, "records", kinds(records(t, store, id)), []string{"start", "mark", "cancel", "stopped", "end"})
			end := assert.Must(run.ReadEnd(t.Context(), store, ada, id))(t)
			same(t, "status of the end", end.Status, journal.Cancelled)
			same(t, "fault", end.Fault.Kind, run.KindCancelled)
			assert.Contains(t, "the end", end.Fault.Reason, "enough", `build "test" wrote`, c.why,
				"operation 1 of Do had begun, and nobody can tell")
			assert.That(t, strings.HasPrefix(string(end.Outcome), c.want), "the outcome is %s; want %s…", end.Outcome, c.want)
			err := e.Cancel(t.Context(), ada, id, "again")
			assert.That(t, errors.Is(err, journal.ErrEnded), "cancelling it again gives %v; want that it has ended", err)
		})
	}
}

func TestCancellingARunThatThisBuildCannotFoldKeepsWhatHadArrived(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		defer w.holds("a", false)()
		live := start(t, w.engine(&journaltest.Mortal{Store: store, At: 4}, "one"),
			`<Sequence><Do what="r:a" got="{got}"/><Add add="!" got="{got}"/></Sequence>`)
		synctest.Wait()
		live.Cancel("the first request") // the stop is recorded, the end is not
		stopsShort(t, live, journaltest.ErrDead)
		pass(lease)
		assert.NoError(t, w.engine(store, "two", nextBuild).Cancel(t.Context(), ada, live.ID,
			"the second request"))
		end := assert.Must(run.ReadEnd(t.Context(), store, ada, live.ID))(t)
		same(t, "what was under way", resultOf(t, end).Under, []string{`read a: "half of a" !cancelled`})
		same(t, "stops", countOf(t, store, live.ID, run.KindStopped), 1)
		assert.That(t, strings.HasPrefix(end.Fault.Reason, "the first request; "), "the end says %q", end.Fault.Reason)
	})
}

func TestWishThatComesBetweenEndsARunThatThisBuildCannotFold(t *testing.T) {
	for times, want := range map[int]error{2: nil, 1000: journal.ErrConflict} {
		inWorld(t, func(t *testing.T, w *world, store journal.Store) {
			id := crash(t, w, store, oldTree, 3, false)
			left := times
			e := w.engine(beforeKind(store, run.KindEnd, func(first journal.Record) error {
				if left--; left < 0 {
					return nil
				}
				request := journal.Record{Seq: first.Seq, At: first.At, Kind: run.KindCancel,
					Data: []byte(`{"reason":"another"}`)}
				return store.Append(t.Context(), ada, id, []journal.Record{request}, nil)
			}), "two", nextBuild)
			err := e.Cancel(t.Context(), ada, id, "enough")
			assert.That(t, errors.Is(err, want), "after %d wishes: %v; want %v", times, err, want)
			same(t, "whether it has ended", statusOf(t, store, id).Status == journal.Cancelled, want == nil)
			same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "")
		})
	}
}
