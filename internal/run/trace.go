package run

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// traceEvent notes one event of the step that takes in record seq. Control nodes are noted only where they decided something of their own.
func (d *driver) traceEvent(seq int64, e bt.Event) {
	step := d.stepTrace(seq)
	n := d.tree.Node(e.Node)
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

func (d *driver) stepTrace(seq int64) *TraceStep {
	if n := len(d.trace); n == 0 || d.trace[n-1].Record != seq {
		d.trace = append(d.trace, TraceStep{Record: seq})
	}
	return &d.trace[len(d.trace)-1]
}

func (d *driver) traceStep(seq int64, r bt.Result) {
	step := d.stepTrace(seq)
	step.Status = r.Status.String()
	step.Cancel = r.Cancel
	for _, e := range r.Start {
		step.Start = append(step.Start, nameOf(e))
	}
}

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
