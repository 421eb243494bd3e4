package run

import (
	"bytes"
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

// TraceStep is one step: its record, and what happened, in order.
type TraceStep struct {
	Record int64             `json:"record"`
	Status string            `json:"status"`
	Events []TraceEvent      `json:"events"`
	Start  []RequestedEffect `json:"start,omitempty"`  // effects requested
	Cancel []uint64          `json:"cancel,omitempty"` // operations halted
	// run time at which the tree acts next by itself, in ms; 0: it does not
	Due int64 `json:"due,omitempty"`
}

// RequestedEffect is an effect that a step requested.
type RequestedEffect struct {
	Op     uint64 `json:"op" doc:"The number of the operation in its run."`
	Leaf   string `json:"leaf"`
	Kind   string `json:"kind"`
	Label  string `json:"label,omitempty"`
	Digest string `json:"digest"`
}

// Name is what people know the effect by.
func (a RequestedEffect) Name() string { return cmp.Or(a.Label, a.Kind) }

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

// String is the event as it is kept: its type and fields, or a key with its value, or the reason of the node.
func (e TraceEvent) String() string {
	switch {
	case e.Type != "":
		return strings.TrimSpace(e.Type + " " + fieldsText(e.Data))
	case e.Key != "":
		return e.Key + " := " + e.Value
	}
	return e.Reason
}

// fieldsText lists the fields of a JSON object in their order, as name=value: a text of one word is bare, all else is
// JSON. The values of a sentence (bt.Coded) are left out, since they stand in it.
func fieldsText(object json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil { // the brace
		return string(object)
	}
	var all []string
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return string(object)
		}
		if name == "why_values" {
			continue
		}
		text := string(value)
		if bare := strings.Trim(text, `"`); bare != "" && len(bare) == len(text)-2 && !strings.ContainsAny(bare, " \\=") {
			text = bare
		}
		all = append(all, fmt.Sprintf("%s=%s", name, text))
	}
	return strings.Join(all, " ")
}

// Node is the type of the node: the last part of its rule.
func (e TraceEvent) Node() string { return e.Rule[strings.LastIndexByte(e.Rule, '/')+1:] }

// addEvent traces an event of the current step, but neither control nodes without an own decision nor leaves' keys.
func (s *TraceStep) addEvent(tree *bt.Tree, e bt.Event) {
	n := tree.Node(e.Node)
	switch {
	case e.Kind == bt.Wrote && !n.Kernel:
		return
	case e.Kind == bt.Ticked && !n.Leaf && (e.Status == bt.Skipped || n.Type != "Loop" && n.Type != "Timeout"):
		return
	}
	traced := TraceEvent{Number: e.Node, Rule: tree.Rule(e.Node)}
	switch e.Kind {
	case bt.Emitted:
		traced.Type = e.Data.EventType()
		var err error
		if traced.Data, err = Marshal(e.Data); err != nil {
			traced.Data = json.RawMessage(`{}`) // its type is kept all the same
		}
	case bt.Wrote:
		traced.Key, traced.Value = e.Key, clip(valueText(e.Value))
	case bt.Halted:
		traced.Status = "HALTED"
	default:
		traced.Status, traced.Reason = e.Status.String(), clip(e.Reason)
	}
	s.Events = append(s.Events, traced)
}

// mostTrace is how many bytes of a trace are kept, at most; redaction may make it longer.
const mostTrace = journal.MaxData / 2

// encodeTrace returns the data of the trace record; it drops later steps if there are too many.
func encodeTrace(steps []TraceStep) ([]byte, error) {
	for {
		data, err := encode(KindTrace, TraceRecord{Decided: steps})
		if err != nil || len(data) <= mostTrace {
			return data, err
		}
		steps = steps[:len(steps)/2]
	}
}

// valueText shows a value of the blackboard, the same way every time: a text as it is, others as JSON.
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

// ReadTrace returns what the steps of an ended run decided, from its trace record; nil if it has none.
func ReadTrace(recs []journal.Record) ([]TraceStep, error) {
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
