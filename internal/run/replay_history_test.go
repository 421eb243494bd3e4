package run_test

import (
	"testing"

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
