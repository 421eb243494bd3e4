package run_test

import (
	"encoding/json"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

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
