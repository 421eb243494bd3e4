package bt

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// Cell is what a node remembers while it runs. The zero Cell is idle.
type Cell struct {
	At   int32  // which child, or which phase
	N    int32  // cycles or attempts so far, or children that were skipped
	On   bool   // it returned RUNNING
	Memo bool   // State.Memos has more
	Keep Status // RunOnce: the result it remembers
}

// Memo is what only a few kinds of running nodes remember, besides their cell.
type Memo struct {
	Node int32
	Done uint64 // Parallel: children that finished, as bits
	Fail uint64 // … of them, those that failed
	Skip uint64 // … of them, those that were skipped
	Due  int64  // run time at which Timeout or Delay acts
	Why  Cause  // the failure of a child that the node may end with in a later tick
}

// State is a run of a tree between two ticks.
type State struct {
	Cells  []Cell
	Memos  []Memo // in the order in which they were begun
	Slots  []any  // the blackboard: one value a key and scope, nil where nothing was written
	Tasks  []PendingTask
	Now    int64  // run time of the last input, ms
	NextOp uint64 // the next operation id
	Ticks  uint64

	texts   int  // bytes of the texts in Slots
	scratch exec // reused by every step, so that a tick allocates nothing; zero between steps
}

// PendingTask is a task leaf that waits for its effects.
type PendingTask struct {
	Node     int32
	Base     uint64 // operation id of the first request; the others follow
	Requests []pendingRequest
}

type pendingRequest struct {
	Effect  Effect
	Issued  bool
	Done    *Completion
	Settled bool // its leaf has processed it
}

// Fault says why something failed. Kind is for programs ("rate_limit"), Reason for people, Node is the path of the node
// that failed.
type Fault struct {
	Kind   string `json:"kind,omitempty"`
	Reason string `json:"reason"`
	Node   string `json:"node,omitempty"`
	Unsent bool   `json:"unsent,omitempty"` // it was meant for another model or server, to which nothing was sent
}

func (f *Fault) Error() string { return f.Reason }

// Why is the fault as a sentence with the code “fail.” and the kind. It has no values: the Reason may have words that
// can't be translated, such as those of a provider.
func (f *Fault) Why() Why {
	if f.Kind == "" {
		return Because(f.Reason)
	}
	return Why{f.Reason, Coded{Code: "fail." + f.Kind}}
}

// Effect is one thing that the driver performs for a task leaf.
type Effect struct {
	Op      uint64          `json:"op"`
	Leaf    string          `json:"leaf"` // the leaf's type
	Node    int32           `json:"node"`
	Index   int             `json:"index"` // which of the leaf's requests, from 0
	Kind    string          `json:"kind"`  // what performs it
	Label   string          `json:"label,omitempty"`
	Payload json.RawMessage `json:"payload"`
	Once    bool            `json:"once,omitempty"` // never performed twice; without it the effect only reads
}

// Completion is the outcome of an effect. Ref is the number of its record, Took how long the effect took, in ms.
type Completion struct {
	Op     uint64          `json:"op"`
	Ref    int64           `json:"ref"`
	Took   int64           `json:"took,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Err    *Fault          `json:"err,omitempty"`

	// Value is the decoded Result, if the caller has decoded it. It has nothing that Result does not have, and is not
	// encoded.
	Value any `json:"-"`
}

// ResultOf reads the result of an effect as T. If the effect failed, it is what arrived before.
func ResultOf[T any](c Completion) (T, error) {
	if v, ok := c.Value.(T); ok {
		return v, nil
	}
	var v T
	if len(c.Result) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(c.Result, &v); err != nil {
		return v, fmt.Errorf("result of operation %d: %w", c.Op, err)
	}
	return v, nil
}

// Input is what a step may use: completions in the order they arrived, and the run time in ms.
type Input struct {
	Now  int64
	Done []Completion
}

// Result is what a step decided.
type Result struct {
	Status Status
	Fault  *Fault   // set with Status Failure
	Start  []Effect // to be performed, in this order
	Cancel []uint64 // operations of earlier steps that were halted
	Due    int64    // the earliest run time at which a timer acts; 0: none
	Visits int      // node visits
}

// NewState is an idle run, in which the literals of subtrees are set.
func (t *Tree) NewState() *State {
	s := &State{Cells: make([]Cell, len(t.nodes)), Slots: make([]any, len(t.slots)), NextOp: 1}
	for i, slot := range t.slots {
		s.Slots[i] = slot.initial
	}
	s.texts = totalTextBytes(s.Slots)
	return s
}

// SetJSON writes a key of the root scope, before the first step or between steps.
func (t *Tree) SetJSON(s *State, key string, raw json.RawMessage) error {
	i, ok := t.rootKeys[key]
	if !ok {
		return fmt.Errorf("tree %s has no key {%s}", t.ID, key)
	}
	v, err := t.slots[i].decode(raw)
	if err != nil {
		return fmt.Errorf("key {%s}: %w", key, err)
	}
	return s.setSlot(i, key, v)
}

// Get reads a key of the root scope; false if the tree has no such key or nothing was written to it.
func (t *Tree) Get(s *State, key string) (any, bool) {
	i, ok := t.rootKeys[key]
	if !ok || s.Slots[i] == nil {
		return nil, false
	}
	return s.Slots[i], true
}

// Read fills a struct from the keys of the root scope that its ports name, as Options.Wanted declares them. A field
// keeps its value if the tree does not have the key, the key was not written, or its value has another type.
func (t *Tree) Read(s *State, into any) {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, _ := portTag(v.Type().Field(i))
		value, ok := t.Get(s, name)
		if !ok {
			continue
		}
		if fit, err := convertTo(value, v.Field(i).Type()); err == nil {
			v.Field(i).Set(reflect.ValueOf(fit))
		}
	}
}

func portTag(f reflect.StructField) (name string, optional bool) {
	name, option, _ := strings.Cut(f.Tag.Get("port"), ",")
	return name, option == "optional"
}

// EncodePorts encodes the fields of a struct as JSON, by the names of their ports: what a run is given.
func EncodePorts(of any) (map[string]json.RawMessage, error) {
	v := reflect.Indirect(reflect.ValueOf(of))
	if v.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is not a struct", of)
	}
	raw := make(map[string]json.RawMessage, v.NumField())
	for i := range v.NumField() {
		name, optional := portTag(v.Type().Field(i))
		if optional && v.Field(i).IsZero() {
			continue // scalars begin with it, and scripts can't read other types
		}
		value, err := json.Marshal(v.Field(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("given key {%s}: %w", name, err)
		}
		raw[name] = value
	}
	return raw, nil
}

// DecodePorts is the reverse of EncodePorts, for all ports or some. What raw does not have stays as it is.
func DecodePorts(raw map[string]json.RawMessage, into any) error {
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		name, _ := portTag(v.Type().Field(i))
		value, ok := raw[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, v.Field(i).Addr().Interface()); err != nil {
			return fmt.Errorf("given key {%s}: %w", name, err)
		}
	}
	return nil
}
