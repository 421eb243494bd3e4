package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// traces are the steps of a tree as they are told to people.
type traces []TraceStep

// event notes one event of the step that takes in record seq. Control nodes are noted only where they decided something of their own.
func (t *traces) event(tree *bt.Tree, seq int64, e bt.Event) {
	step := t.at(seq)
	n := tree.Node(e.Node)
	ev := TraceEvent{Path: n.Path, Note: clip(e.Note)}
	switch e.Kind {
	case bt.Wrote:
		ev.Key, ev.Value = e.Key, clip(valueText(e.Value))
	case bt.Halted:
		ev.Status = "HALTED"
	case bt.Ticked:
		if !n.Leaf && e.Status != bt.Skipped && n.Type != "Loop" && n.Type != "Timeout" {
			return
		}
		ev.Status = e.Status.String()
	}
	step.Events = append(step.Events, ev)
}

// at gives the step that takes in record seq, which is the last one or follows it.
func (t *traces) at(seq int64) *TraceStep {
	if n := len(*t); n == 0 || (*t)[n-1].Record != seq {
		*t = append(*t, TraceStep{Record: seq})
	}
	return &(*t)[len(*t)-1]
}

// decided notes what the step that takes in record seq comes to.
func (t *traces) decided(seq int64, r bt.Result) {
	step := t.at(seq)
	step.Status = r.Status.String()
	step.Cancel = r.Cancel
	for _, e := range r.Start {
		step.Start = append(step.Start, nameOf(e))
	}
}

func (d *driver) traceEvent(seq int64, e bt.Event) { d.trace.event(d.tree, seq, e) }

// dropTraced forgets the steps whose traces are in the journal already.
func (d *driver) dropTraced() {
	kept := d.trace[:0]
	for _, s := range d.trace {
		if s.Record > d.f.traced {
			kept = append(kept, s)
		}
	}
	d.trace = kept
}

// valueText shows a value of the blackboard, the same way every time: JSON, but for a text, which is itself.
func valueText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return string(raw)
}

const clipAt = 160

// clip shortens a note for the trace.
func clip(s string) string {
	if most := (clipAt + 1) * utf8.UTFMax; len(s) > most {
		s = s[:most]
	}
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) > clipAt {
		return string([]rune(s)[:clipAt-1]) + "…"
	}
	return s
}

// Explain gives what the steps of a run decided, from its trace records.
func Explain(recs []journal.Record) ([]TraceStep, error) {
	var steps []TraceStep
	for _, r := range recs {
		if r.Kind != KindTrace {
			continue
		}
		t, err := decode[TraceRecord](r)
		if err != nil {
			return nil, err
		}
		steps = append(steps, t.Steps...)
	}
	return steps, nil
}
