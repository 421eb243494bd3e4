package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

// untouched is a store that must only be read.
func untouched(t *testing.T, store journal.Store) journal.Store {
	return before(store, func(context.Context) error {
		t.Error("the store was written to")
		return errors.New("read only")
	}, "Begin", "Append", "Acquire", "Renew", "Release")
}

// replayBy takes a run through a tree ("": its own) in a process.
func replayBy(
	t *testing.T, e *run.Engine, id, body string, change ...func(*replay.Options),
) (*replay.Result, error) {
	t.Helper()
	o := replay.Options{}
	if body != "" {
		o.TreeFile, o.Tree = "changed.xml", []byte(tree(body))
	}
	for _, f := range change {
		f(&o)
	}
	return replay.Run(t.Context(), e, ada, id, o)
}

// mustReplayBy is replayBy where nothing can go wrong.
func mustReplayBy(t *testing.T, e *run.Engine, id, body string, change ...func(*replay.Options)) *replay.Result {
	t.Helper()
	found, err := replayBy(t, e, id, body, change...)
	assert.NoErrorf(t, err, "replaying")
	return found
}

// replay takes a run through a tree ("": its own) in a process that can only read, and sees to it that nothing is
// performed.
func (w *world) replay(store journal.Store, id, body string, change ...func(*replay.Options)) (*replay.Result, error) {
	w.t.Helper()
	w.mu.Lock()
	performed, opened := len(w.performed), w.opened
	w.opened = func(context.Context, *run.View) error { w.t.Error("a replay opened the world"); return nil }
	w.mu.Unlock()
	found, err := replayBy(w.t, w.engine(untouched(w.t, store), "replays"), id, body, change...)
	w.mu.Lock()
	defer w.mu.Unlock()
	same(w.t, "effects performed by the replay", len(w.performed)-performed, 0)
	w.opened = opened
	return found, err
}

func pastFirst(o *replay.Options) { o.PastFirst = true }

// mustReplay is replay where nothing can go wrong.
func (w *world) mustReplay(store journal.Store, id, body string, change ...func(*replay.Options)) *replay.Result {
	w.t.Helper()
	found, err := w.replay(store, id, body, change...)
	assert.NoErrorf(w.t, err, "replaying")
	return found
}

// asRecorded wants a replay through the run's own tree to decide all steps as they are recorded.
func (w *world) asRecorded(store journal.Store, id string, want replay.Reach) *replay.Result {
	w.t.Helper()
	found := w.mustReplay(store, id, "")
	same(w.t, "differences", tell(found), nil)
	same(w.t, "where the replay ended", found.Reached, want)
	assert.That(w.t, found.OtherTrace == nil, "the own tree went another way: %+v", found.OtherTrace)
	told := assert.Must(w.engine(untouched(w.t, store), "explains").Explain(w.t.Context(), ada, id))(w.t)
	same(w.t, "traces", found.Trace, told)
	return found
}

// tell gives differences in a line each.
func tell(found *replay.Result) []string {
	var lines []string
	for _, d := range found.Differences {
		line := fmt.Sprintf("%d %s", d.Record, d.Kind)
		if d.Timer > 0 {
			line = fmt.Sprintf("%d+%dms %s", d.Record, d.Timer, d.Kind)
		}
		for _, c := range d.Requests {
			for _, v := range c.Changes {
				line += fmt.Sprintf(" %s: %s %s→%s", c.Would.Leaf, v.Path, v.Was, v.Would)
			}
		}
		for _, a := range d.Missing {
			line += " -" + a.Name()
		}
		for _, a := range d.Extra {
			line += " +" + a.Name()
			if a.Record > 0 {
				line += fmt.Sprint("@", a.Record)
			}
		}
		for _, a := range d.Kept {
			line += " keeps " + a.Name()
		}
		for _, a := range d.Withdrawn {
			line += " withdraws " + a.Name()
		}
		if d.Ending != nil {
			line += " " + d.Ending.Was + "→" + d.Ending.Would
		}
		for _, v := range d.Outcome {
			line += fmt.Sprintf(" %s: %s→%s", v.Path, v.Was, v.Would)
		}
		lines = append(lines, line)
	}
	return lines
}

// waitsForNothing reads a, and then waits for what nothing brings about.
const waitsForNothing = `<Sequence><Do what="r:a" got="{got}"/><Script code="x:=1"/><Precondition if="x==2" else="RUNNING"><AlwaysSuccess/></Precondition></Sequence>`

func TestUnchangedReplayDecidesAsRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		reach replay.Reach
	}{
		"effects in parallel": {longTree, replay.ReachedEnd},
		"timers": {
			`<Sequence><Delay delay_msec="1500"><Do what="r:a" got="{got}"/></Delay><Timeout msec="700"><Delay delay_msec="9000"><AlwaysSuccess/></Delay></Timeout></Sequence>`, replay.ReachedEnd},
		"withdrawn and asked anew": {
			`<Fallback><Timeout msec="700"><Do what="r:slow" got="{got}"/></Timeout><Do what="r:slow" got="{got}"/></Fallback>`, replay.ReachedEnd},
		"faults": {
			`<Fallback><Do what="r:a x:b" got="{got}"/><Do what="x:c" lenient="true" got="{got}"/></Fallback>`,
			replay.ReachedEnd},
		"a failure": {`<Sequence><Do what="r:a" got="{got}"/><AlwaysFailure/></Sequence>`,
			replay.ReachedEnd},
		"waits for nothing":  {waitsForNothing, replay.ReachedEnd},
		"a leaf that panics": {`<Sequence><Do what="r:a" got="{got}"/><Boom/></Sequence>`, replay.ReachedEnd},
		"the same asked twice": {
			`<Parallel><Do what="r:a r:slow" got="{a}"/><Do what="r:slow r:a" got="{got}"/></Parallel>`,
			replay.ReachedEnd},
		"a stop": {
			`<Parallel><Do what="r:a w:b" got="{got}"/><Do what="r:held" got="{c}"/></Parallel>`, replay.ReachedStop},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			w.takes("slow", 5*time.Second)
			defer w.holds("held", false)()
			w.outcome = func(v *run.View, e run.Ending) run.Outcome {
				o := outcomeOf(v, e)
				state, err := json.Marshal(e.State)
				assert.Nil(t, err)
				o.Result = []any{o.Result, kinds(v.Records()), state}
				return o
			}
			store := newStore(t)
			live := start(t, w.engine(store, "one"), c.body)
			synctest.Wait()
			if name == "a stop" {
				live.Cancel("enough")
			}
			assert.Must(live.Wait(t.Context()))(t)
			found := w.asRecorded(store, live.ID, c.reach)
			if name == "a stop" {
				same(t, "why it ended there", found.Why, "the run was stopped: enough")
			}
		})
	}
}

func TestReplayOfARunThatHasNotEndedComparesItsLastStepToo(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`,
			3, false)
		same(t, "records", kinds(records(t, store, id)), []string{"start", "completion"})
		found := w.mustReplay(store, id, "")
		same(t, "where it ended", found.Reached, replay.ReachedOpen)
		same(t, "effects", found.Effects, 2)
		changed := w.mustReplay(store, id,
			`<Sequence><Do what="r:a" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`)
		same(t, "differences", tell(changed), []string{`1 request Do: name "b"→"c"`})
	})
}

func TestReplayOfARunThatCouldNotBeOpenedSaysSo(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	w.opened = func(context.Context, *run.View) error { return errors.New("no model answers") }
	_, err := w.engine(store, "one").Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`))
	assert.Require(t, err != nil, "the run began")
	runs := assert.Must(store.Runs(t.Context(), ada, journal.Filter{}))(t)
	found := w.mustReplay(store, runs[0].ID, "")
	same(t, "differences", tell(found), nil)
	same(t, "where it ended", found.Reached, replay.ReachedStop)
	same(t, "why", found.Why, "the run ended though its tree had not: no model answers")
}

func TestSecretsDoNotShowInAReplay(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
	wait(t, live)
	const secret = "hunter2hunter2"
	redact := func(c *run.Config) {
		c.Redact = func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), secret, "[redacted]")) }
	}
	found := mustReplayBy(t, w.engine(untouched(t, store), "two", redact), live.ID, `<Sequence><Add add="`+secret+
		`" got="{got}"/><Do what="r:`+secret+` r:a" got="{got}"/></Sequence>`, pastFirst)
	raw := assert.Must(json.Marshal(found))(t)
	assert.That(t, !strings.Contains(string(raw), secret) && strings.Contains(string(raw), "[redacted]"),
		"the report is %s", raw)
}

func TestHistoryGroupsRunsByTheNodeThatDiffersFirst(t *testing.T) {
	differs := func(id, was, would string) *replay.Result {
		trace := replay.TraceDiff{Same: 1, Was: []run.TraceEvent{{Rule: "Main/A"}, {Rule: was}},
			Would: []run.TraceEvent{{Rule: "Main/A"}, {Rule: would}}}
		return &replay.Result{Run: id, Differences: []replay.Difference{{Kind: replay.OtherDecision,
			Moment: replay.Moment{Step: 2, Record: 5}, Trace: &trace}}}
	}
	earlier := differs("4", "Main/X", "Main/Y")
	earlier.OtherTrace = &replay.OtherTrace{Moment: replay.Moment{Record: 1},
		Trace: replay.TraceDiff{Was: []run.TraceEvent{{Rule: "Main/B"}}}}
	h := replay.NewHistory()
	for _, r := range []*replay.Result{{Run: "1"}, earlier, differs("2", "Main/B", "Main/C"),
		differs("3", "Main/B", "Main/C")} {
		h.Add(r)
	}
	same(t, "the history", h, replay.History{Runs: 4, Same: 1, Unfit: []replay.Unfit{}, Groups: []replay.Group{
		{Kind: replay.OtherDecision, Was: "Main/B", Would: "Main/C", Runs: []replay.Place{{Run: "2", Step: 2},
			{Run: "3", Step: 2}}},
		{Kind: replay.OtherDecision, Was: "Main/B", Runs: []replay.Place{{Run: "4", Step: 2}}}}})
}

// The page writes events in the same way: web/src/lib/trace.test.ts.
func TestEventIsTracedByItsTypeAndFieldsWhateverTheyAre(t *testing.T) {
	for _, c := range []struct {
		event run.TraceEvent
		want  string
	}{
		{run.TraceEvent{Type: "class.chosen", Data: json.RawMessage(`{"query_type":"code","confidence":0.9,` +
			`"words":"two words","keywords":["a","b"],"why":"it is","why_code":"a.b","why_values":{"x":{}},"none":""}`)},
			`class.chosen query_type=code confidence=0.9 words="two words" keywords=["a","b"] why="it is" why_code=a.b ` +
				`none=""`},
		{run.TraceEvent{Type: "of.a.later.build", Data: json.RawMessage(`{}`)}, "of.a.later.build"},
		{run.TraceEvent{Type: "of.an.older.one"}, "of.an.older.one"},
		{run.TraceEvent{Type: "that.is.damaged", Data: json.RawMessage(`{"a":`)}, `that.is.damaged {"a":`},
		{run.TraceEvent{Key: "turn", Value: "1"}, "turn := 1"},
		{run.TraceEvent{Reason: "nothing to doubt"}, "nothing to doubt"},
		{run.TraceEvent{}, ""},
	} {
		assert.Equalf(t, c.event.String(), c.want, "%+v is traced as", c.event)
	}
}
