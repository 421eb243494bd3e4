package replay

import (
	"cmp"
	"slices"

	"sibyl/internal/run"
)

// History is what a changed tree would have decided in many runs.
type History struct {
	Runs   int     `json:"runs" doc:"That were replayed."`
	Same   int     `json:"same" doc:"Of them decide the same."`
	Groups []Group `json:"groups" doc:"Those with most runs first."`
	Unfit  []Unfit `json:"unfit"`
	Left   int     `json:"left" doc:"That were not looked at, since there was no time."`
}

// Group is the runs that differ first in the same way, at the same node. Was and Would are the rules of the nodes that
// act there in the recorded run and in the replay; empty where none does.
type Group struct {
	Kind  DifferenceKind `json:"kind" enum:"decision,request,sending,outcome"`
	Was   string         `json:"was,omitempty" doc:"The rule of the node that acted there."`
	Would string         `json:"would,omitempty" doc:"The rule of the node that acts in the replay."`
	Runs  []Place        `json:"runs"`
}

// Place is where a run differs first.
type Place struct {
	Run string `json:"run"`
	// 0: the recorded run has no such step
	Step int `json:"step,omitempty" doc:"In its explanation, counted from 1."`
}

// Unfit is a run that can't be replayed with the tree.
type Unfit struct {
	Run string `json:"run"`
	Why string `json:"why"`
}

// NewHistory returns a history without runs.
func NewHistory() History { return History{Groups: []Group{}, Unfit: []Unfit{}} }

// Add adds the result of a replay. The groups with most runs come first.
func (h *History) Add(r *Result) {
	h.Runs++
	if len(r.Differences) == 0 {
		h.Same++
		return
	}
	first := r.Differences[0]
	g := Group{Kind: first.Kind}
	g.Was, g.Would = firstDifferingRules(r, first)
	at := slices.IndexFunc(h.Groups, func(known Group) bool {
		return known.Kind == g.Kind && known.Was == g.Was && known.Would == g.Would
	})
	if at < 0 {
		at, h.Groups = len(h.Groups), append(h.Groups, g)
	}
	h.Groups[at].Runs = append(h.Groups[at].Runs, Place{r.Run, first.Step})
	slices.SortStableFunc(h.Groups, func(a, b Group) int { return cmp.Compare(len(b.Runs), len(a.Runs)) })
}

// firstDifferingRules are the rules of the first nodes that act differently, in the step of the difference or before
// it.
func firstDifferingRules(r *Result, d Difference) (was, would string) {
	trace := d.Trace
	if o := r.OtherTrace; o != nil && o.Record < d.Record {
		trace = &o.Trace
	}
	if trace != nil && trace.hasDifference() {
		return ruleAt(trace.Was, trace.Same), ruleAt(trace.Would, trace.Same)
	}
	for _, c := range d.Requests {
		return c.Was.Leaf, c.Would.Leaf
	}
	for _, s := range d.Sent {
		return s.Request.Leaf, s.Request.Leaf
	}
	return "", ""
}

func ruleAt(events []run.TraceEvent, i int) string {
	if i < len(events) {
		return events[i].Rule
	}
	return ""
}
