package run

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// TraceRecord holds what the steps of a run decided, so that a build that can't fold the run any more can still explain it. No
// fold reads it.
type TraceRecord struct{ Steps []TraceStep }

// TraceStep is one step: the record it took in, and what happened, in order.
type TraceStep struct {
	Record int64        `json:"record"`
	Status string       `json:"status"`
	Events []TraceEvent `json:"events"`
	Start  []Asked      `json:"start,omitempty"`  // effects asked for
	Cancel []uint64     `json:"cancel,omitempty"` // operations halted
}

// Asked is an effect that a step asked for.
type Asked struct {
	Op     uint64 `json:"op"`
	Leaf   string `json:"leaf"`
	Kind   string `json:"kind"`
	Label  string `json:"label,omitempty"`
	Digest string `json:"digest"`
}

// Name is what people know the effect by.
func (a Asked) Name() string { return cmp.Or(a.Label, a.Kind) }

// TraceEvent is one thing that happened in a step. Either Status is set (a leaf, a Loop or a Timeout was ticked or, with "HALTED",
// halted), or Type and Data (a leaf told what it decided), or Key and Value (a script or a Loop wrote a key). Rule is bt.Tree.Rule of
// the node: no name that a tree gives its nodes is in it. Number is the node's in the tree that decided.
type TraceEvent struct {
	Number int32           `json:"-"`
	Rule   string          `json:"rule"`
	Status string          `json:"status,omitempty"`
	Reason string          `json:"reason,omitempty"`
	Type   string          `json:"type,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	Key    string          `json:"key,omitempty"`
	Value  string          `json:"value,omitempty"`
}

// Node is the type of the node: the last part of its rule.
func (e TraceEvent) Node() string { return e.Rule[strings.LastIndexByte(e.Rule, '/')+1:] }

// traces are the steps of a run as its trace record keeps them: an event is a list of its node's number, a letter and what belongs
// to it, and the rules of nodes are named once, by the trees that they lie in.
type traces struct {
	steps []byte // the elements of a JSON list
	used  []bool // by node
	last  int    // where the last step begins
}

// The letters of events beside those of a status.
const (
	letterHalted  = 'H'
	letterWritten = 'W'
	letterTyped   = 'T'
)

var statusLetters = [...]byte{bt.Idle: 'I', bt.Running: 'R', bt.Success: 'S', bt.Failure: 'F', bt.Skipped: 'K'}

// firstSteps is room for the first steps of most runs, in bytes.
const firstSteps = 2 << 10

// begin opens the step that takes in record seq.
func (t *traces) begin(tree *bt.Tree, seq int64) {
	if t.used == nil {
		t.used, t.steps = make([]bool, tree.Size()), make([]byte, 0, firstSteps)
	}
	if len(t.steps) > 0 {
		t.steps = append(t.steps, ',')
	}
	t.last = len(t.steps)
	t.steps = strconv.AppendInt(append(t.steps, `{"record":`...), seq, 10)
	t.steps = append(t.steps, `,"events":[`...)
}

// event notes one event. Control nodes are noted only where they decided something of their own, and of what is written only what
// no leaf tells.
func (t *traces) event(tree *bt.Tree, e bt.Event) {
	n := tree.Node(e.Node)
	switch {
	case e.Kind == bt.Wrote && !n.Kernel:
		return
	case e.Kind == bt.Ticked && !n.Leaf && (e.Status == bt.Skipped || n.Type != "Loop" && n.Type != "Timeout"):
		return
	}
	if t.steps[len(t.steps)-1] != '[' {
		t.steps = append(t.steps, ',')
	}
	t.used[e.Node] = true
	t.steps = strconv.AppendInt(append(t.steps, '['), int64(e.Node), 10)
	switch e.Kind {
	case bt.Emitted:
		t.letter(letterTyped)
		t.text(e.Data.EventType())
		data := append(t.steps, ',')
		told, err := appendTo(data, e.Data)
		if err != nil {
			told = append(data, "{}"...) // its type is told all the same
		}
		t.steps = told
	case bt.Wrote:
		t.letter(letterWritten)
		t.text(e.Key)
		t.text(clip(valueText(e.Value)))
	case bt.Halted:
		t.letter(letterHalted)
	default:
		t.letter(statusLetters[e.Status])
		if e.Reason != "" {
			t.text(clip(e.Reason))
		}
	}
	t.steps = append(t.steps, ']')
}

func (t *traces) letter(c byte) { t.steps = append(t.steps, ',', '"', c, '"') }

func (t *traces) text(s string) { t.steps = appendText(append(t.steps, ','), s) }

// end closes the step with what it comes to. open has the effects that it asks for.
func (t *traces) end(r bt.Result, open map[uint64]asked) {
	t.steps = append(t.steps, ']')
	if r.Status != bt.Running { // as all but the last
		t.steps = appendText(append(t.steps, `,"status":`...), r.Status.String())
	}
	list := func(name string, n int, element func(i int)) {
		for i := range n {
			if i == 0 {
				t.steps = append(append(append(t.steps, `,"`...), name...), `":[`...)
			} else {
				t.steps = append(t.steps, ',')
			}
			element(i)
		}
		if n > 0 {
			t.steps = append(t.steps, ']')
		}
	}
	list("start", len(r.Start), func(i int) {
		e := &r.Start[i]
		t.steps = strconv.AppendUint(append(t.steps, '['), e.Op, 10)
		for _, text := range []string{e.Leaf, e.Kind, e.Label, open[e.Op].Digest} {
			t.text(text)
		}
		t.steps = append(t.steps, ']')
	})
	list("cancel", len(r.Cancel), func(i int) { t.steps = strconv.AppendUint(t.steps, r.Cancel[i], 10) })
	t.steps = append(t.steps, '}')
}

// latest is the last step as it is kept.
func (t *traces) latest() []byte { return t.steps[t.last:len(t.steps):len(t.steps)] }

// all gives the steps.
func (t *traces) all(tree *bt.Tree) ([]TraceStep, error) {
	var r TraceRecord
	err := r.UnmarshalJSON(t.record(tree))
	return r.Steps, err
}

// readStep reads a step as it is kept.
func readStep(raw []byte, rule func(node int32) string) (TraceStep, error) {
	var kept keptStep
	if err := json.Unmarshal(raw, &kept); err != nil {
		return TraceStep{}, err
	}
	return kept.step(rule)
}

// record is the data of the trace record.
func (t *traces) record(tree *bt.Tree) []byte {
	b := append(make([]byte, 0, len(t.steps)+4096), `{"rules":[`...)
	within := ""
	for node, used := range t.used {
		if !used {
			continue
		}
		in, name := path.Split(tree.Rule(int32(node)))
		switch {
		case in == within:
			b = append(b, ',')
		case within != "":
			b = append(b, "}},"...)
			fallthrough
		default:
			b = append(appendText(append(b, `{"in":`...), in), `,"nodes":{`...)
		}
		within = in
		b = append(strconv.AppendInt(append(b, '"'), int64(node), 10), `":`...)
		b = appendText(b, name)
	}
	if within != "" {
		b = append(b, "}}"...)
	}
	b = append(append(b, `],"steps":[`...), t.steps...)
	return append(b, `]}`...)
}

// keptStep is a step as it is kept.
type keptStep struct {
	Record int64               `json:"record"`
	Status string              `json:"status"`
	Events [][]json.RawMessage `json:"events"`
	Start  [][]json.RawMessage `json:"start"`
	Cancel []uint64            `json:"cancel"`
}

func (k keptStep) step(rule func(node int32) string) (TraceStep, error) {
	s := TraceStep{Record: k.Record, Status: cmp.Or(k.Status, bt.Running.String()), Events: make([]TraceEvent, 0, len(k.Events)), Cancel: k.Cancel}
	for _, kept := range k.Start {
		var a Asked
		if err := parts(kept, &a.Op, &a.Leaf, &a.Kind, &a.Label, &a.Digest); err != nil {
			return s, err
		}
		s.Start = append(s.Start, a)
	}
	for _, kept := range k.Events {
		e, err := keptEvent(kept, rule)
		if err != nil {
			return s, err
		}
		s.Events = append(s.Events, e)
	}
	return s, nil
}

// parts reads the elements of a list, as many as there are.
func parts(kept []json.RawMessage, into ...any) error {
	for i, raw := range kept[:min(len(kept), len(into))] {
		if err := json.Unmarshal(raw, into[i]); err != nil {
			return err
		}
	}
	return nil
}

func keptEvent(kept []json.RawMessage, rule func(node int32) string) (e TraceEvent, err error) {
	var node int32
	var letter, text string
	if err := parts(kept, &node, &letter, &text); err != nil || len(letter) != 1 {
		return e, fmt.Errorf("an event of a trace can't be read: %w", err)
	}
	e.Number, e.Rule = node, rule(node)
	switch letter[0] {
	case letterTyped:
		e.Type = text
		return e, parts(kept[min(3, len(kept)):], &e.Data)
	case letterWritten:
		e.Key = text
		return e, parts(kept[min(3, len(kept)):], &e.Value)
	case letterHalted:
		e.Status = "HALTED"
		return e, nil
	}
	e.Reason = text
	if i := bytes.IndexByte(statusLetters[:], letter[0]); i >= 0 {
		e.Status = bt.Status(i).String()
	}
	return e, nil
}

// UnmarshalJSON reads what traces.record wrote.
func (t *TraceRecord) UnmarshalJSON(data []byte) error {
	var kept struct {
		Rules []struct {
			In    string           `json:"in"`
			Nodes map[int32]string `json:"nodes"`
		} `json:"rules"`
		Steps []keptStep `json:"steps"`
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		return err
	}
	rules := map[int32]string{}
	for _, r := range kept.Rules {
		for node, name := range r.Nodes {
			rules[node] = r.In + name
		}
	}
	for _, k := range kept.Steps {
		s, err := k.step(func(node int32) string { return rules[node] })
		if err != nil {
			return err
		}
		t.Steps = append(t.Steps, s)
	}
	return nil
}

// valueText shows a value of the blackboard, the same way every time: JSON, but for a text, which is itself.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
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
	if len(s) <= clipAt && utf8.ValidString(s) {
		return s
	}
	if most := (clipAt + 1) * utf8.UTFMax; len(s) > most {
		s = s[:most]
	}
	s = strings.ToValidUTF8(s, "�")
	if utf8.RuneCountInString(s) > clipAt {
		return string([]rune(s)[:clipAt-1]) + "…"
	}
	return s
}

// Traced gives what the steps of a run decided that has ended, from its trace record; nil for one that goes on.
func Traced(recs []journal.Record) ([]TraceStep, error) {
	for _, r := range slices.Backward(recs) {
		if r.Kind != KindTrace {
			continue
		}
		t, err := readAs[TraceRecord](r)
		if err != nil {
			return nil, err
		}
		return t.Steps, nil
	}
	return nil, nil
}
