package run

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/text"
)

// TraceRecord holds what the steps of a run decided, so that a build that can't fold the run any more can still explain
// it. No fold reads it. Of a run that decided more than a record can hold, only the first steps are kept.
type TraceRecord struct {
	Decided []TraceStep `json:"decided"`
}

// TraceStep is one step: the record it took in, and what happened, in order.
type TraceStep struct {
	Record int64        `json:"record"`
	Status string       `json:"status"`
	Events []TraceEvent `json:"events"`
	Start  []Asked      `json:"start,omitempty"`  // effects asked for
	Cancel []uint64     `json:"cancel,omitempty"` // operations halted
	// run time at which the tree acts next by itself, in ms; 0: it does not
	Due int64 `json:"due,omitempty"`
}

// Asked is an effect that a step asked for.
type Asked struct {
	Op     uint64 `json:"op" doc:"The number of the operation in its run."`
	Leaf   string `json:"leaf"`
	Kind   string `json:"kind"`
	Label  string `json:"label,omitempty"`
	Digest string `json:"digest"`
}

// Name is what people know the effect by.
func (a Asked) Name() string { return cmp.Or(a.Label, a.Kind) }

// TraceEvent is one thing that happened in a step. Either Status is set (a leaf, a Loop or a Timeout was ticked or,
// with "HALTED", halted), or Type and Data (a leaf told what it decided), or Key and Value (a script or a Loop wrote a
// key). Rule is bt.Tree.Rule of the node: no name that a tree gives its nodes is in it. Number is the node's in the
// tree that decided.
type TraceEvent struct {
	Number int32           `json:"node" doc:"The number of the node in the tree of the run."`
	Rule   string          `json:"rule" doc:"Where in the tree."`
	Status string          `json:"status,omitempty" enum:"RUNNING,SUCCESS,FAILURE,SKIPPED,HALTED" doc:"Of the node."`
	Reason string          `json:"reason,omitempty"`
	Type   string          `json:"type,omitempty" doc:"Of what the node told."`
	Data   json.RawMessage `json:"data,omitempty" doc:"The fields of what it told."`
	Key    string          `json:"key,omitempty" doc:"That the node wrote."`
	Value  string          `json:"value,omitempty" doc:"The beginning of what it wrote."`
}

// Node is the type of the node: the last part of its rule.
func (e TraceEvent) Node() string { return e.Rule[strings.LastIndexByte(e.Rule, '/')+1:] }

// note traces an event of the step under way. Control nodes are noted only where they decided something of their own,
// and of what is written only what no leaf tells.
func (s *TraceStep) note(tree *bt.Tree, e bt.Event) {
	n := tree.Node(e.Node)
	switch {
	case e.Kind == bt.Wrote && !n.Kernel:
		return
	case e.Kind == bt.Ticked && !n.Leaf && (e.Status == bt.Skipped || n.Type != "Loop" && n.Type != "Timeout"):
		return
	}
	told := TraceEvent{Number: e.Node, Rule: tree.Rule(e.Node)}
	switch e.Kind {
	case bt.Emitted:
		told.Type = e.Data.EventType()
		var err error
		if told.Data, err = Marshal(e.Data); err != nil {
			told.Data = json.RawMessage(`{}`) // its type is told all the same
		}
	case bt.Wrote:
		told.Key, told.Value = e.Key, clip(valueText(e.Value))
	case bt.Halted:
		told.Status = "HALTED"
	default:
		told.Status, told.Reason = e.Status.String(), clip(e.Reason)
	}
	s.Events = append(s.Events, told)
}

// mostTrace is how many bytes of a trace are kept, at most: redaction may make them more.
const mostTrace = journal.MaxData / 2

// traceRecord is the data of the trace record.
func traceRecord(steps []TraceStep) ([]byte, error) {
	for {
		data, err := encode(KindTrace, TraceRecord{Decided: steps})
		if err != nil || len(data) <= mostTrace {
			return data, err
		}
		steps = steps[:len(steps)/2]
	}
}

// valueText shows a value of the blackboard, the same way every time: JSON, but for a text, which is itself.
func valueText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%T", v)
	}
	return string(raw)
}

const clipAt = 160

// clip shortens a text for the trace.
func clip(s string) string {
	return text.Brief(strings.ToValidUTF8(text.Clip(s, (clipAt+1)*utf8.UTFMax), "\uFFFD"), clipAt)
}

// Traced gives what the steps of a run decided that has ended, from its trace record; nil for one that goes on, and for
// one that an earlier build ended, which kept it otherwise.
func Traced(recs []journal.Record) ([]TraceStep, error) {
	for _, r := range slices.Backward(recs) {
		if r.Kind != KindTrace {
			continue
		}
		t, err := readAs[TraceRecord](r)
		if err != nil {
			return nil, err
		}
		return t.Decided, nil
	}
	return nil, nil
}
