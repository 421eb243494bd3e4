package bt

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// EventKind is the kind of an Event.
type EventKind uint8

// The kinds of events: a node was ticked, a running node was halted, a key was written, a leaf emitted what it decided.
const (
	Ticked EventKind = iota
	Halted
	Wrote
	Emitted
)

// Event is something that happened in a tick, in order. Reason is set with Ticked, for a failure and for a check; Key
// and Value with Wrote; Data with Emitted.
type Event struct {
	Kind   EventKind
	Node   int32
	Status Status
	Reason string
	Key    string
	Value  any
	Data   Typed
}

// Typed is a typed event: a leaf's report of a decision. Its exported fields encode as JSON; EventType is its name,
// which stays the same from build to build.
type Typed interface{ EventType() string }

// exec is one step or halt.
type exec struct {
	t           *Tree
	s           *State
	nodes       []node
	cells       []Cell
	now         int64
	onEvent     func(Event)
	res         Result
	tickAgain   bool
	work        int // of scripts
	taskAt      int // index of the task that was found last; memoAt likewise
	memoAt      int
	err         error
	checkReason string // of a check that succeeded, if there is a listener
	reason      Cause  // of the last failure
}

// Cause is the failure of a node.
type Cause struct {
	Node   int32
	Kind   string
	Reason string
}

// Step processes an input: it ticks until no node wants another tick at once. An error means that the tree is broken: a
// key is unwritten, a value does not fit, or the tree spins. The run can't continue from such a state. on may be nil.
// The state is changed in place.
func (t *Tree) Step(s *State, in Input, on func(Event)) (Result, error) {
	x := t.beginStep(s, in, on)
	for {
		x.tickRoot()
		if x.err != nil || !x.tickAgain || x.res.Status != Running {
			return x.endStep()
		}
	}
}

// Halt stops everything that is running, and returns the operations that were outstanding.
func (t *Tree) Halt(s *State, on func(Event)) ([]uint64, error) {
	x := t.beginStep(s, Input{Now: s.Now}, on)
	x.halt(0)
	res, err := x.endStep()
	return res.Cancel, err
}

func (t *Tree) beginStep(s *State, in Input, on func(Event)) *exec {
	s.Now = max(s.Now, in.Now)
	s.scratch = exec{t: t, s: s, nodes: t.nodes, cells: s.Cells, now: s.Now, onEvent: on}
	for _, c := range in.Done {
		if err := s.deliver(c); err != nil && s.scratch.err == nil {
			s.scratch.err = err
		}
	}
	return &s.scratch
}

func (x *exec) tickRoot() {
	x.s.Ticks++
	x.tickAgain = false
	x.res.Status = x.tick(0)
}

// endStep returns the result, and clears the state of the step.
func (x *exec) endStep() (Result, error) {
	x.dropUnstarted()
	res, err := x.res, x.err
	switch {
	case err != nil:
	case res.Status == Failure:
		res.Fault = &Fault{Kind: x.reason.Kind, Reason: x.reason.Reason, Node: x.t.Path(x.reason.Node)}
	case res.Status == Running:
		for _, m := range x.s.Memos {
			if m.Due > x.now && (res.Due == 0 || m.Due < res.Due) {
				res.Due = m.Due
			}
		}
	}
	*x = exec{}
	return res, err
}

// tick runs node i once and keeps the invariant: a node that did not return RUNNING is idle, and so are all below it.
func (x *exec) tick(i int32) Status {
	x.res.Visits++
	if x.err != nil {
		return Failure
	}
	if x.res.Visits > MaxVisits {
		return x.breakStep(i, fmt.Errorf("the tree spins: %d node visits for one input: %w", MaxVisits, ErrBound))
	}
	n, c := &x.nodes[i], &x.cells[i]
	st := Idle
	if n.guard != nil {
		st = x.checkGuards(i, n.guard, c.On)
	}
	if st == Idle {
		st = n.run(x, i, n, c)
	}
	switch {
	case x.err != nil: // the state is of no more use
		return Failure
	case st == Running:
		c.On = true
	case n.needsReset || c.Memo:
		x.reset(i, n, c, st)
	default:
		*c = Cell{}
	}
	if n.guard != nil {
		n.guard.runAfter(x, i, st)
	}
	if x.onEvent != nil && x.err == nil {
		x.emitTicked(i, st)
	}
	return st
}

func (x *exec) emitTicked(i int32, st Status) {
	why := x.checkReason
	if st == Failure {
		why = x.reason.Reason
	}
	x.checkReason = ""
	x.onEvent(Event{Kind: Ticked, Node: i, Status: st, Reason: why})
}

// reset makes a completed node idle, and halts what is running below it.
func (x *exec) reset(i int32, n *node, c *Cell, st Status) {
	for _, k := range n.kids {
		x.halt(k)
	}
	if c.Memo {
		x.dropMemo(i, c)
	}
	switch {
	case n.kind == kRunOnce:
		*c = Cell{Keep: c.Keep}
	case n.kind == kSequenceWithMemory && st != Success:
		*c = Cell{At: c.At}
	default:
		*c = Cell{}
	}
}

// halt stops a node if it is running, after those below it, from left to right.
func (x *exec) halt(i int32) {
	n, c := &x.nodes[i], &x.cells[i]
	if !c.On {
		return
	}
	x.reset(i, n, c, Idle)
	if n.kind == kLeaf && n.leaf.class == taskLeaf {
		x.cancelTask(i)
	}
	if x.onEvent != nil {
		x.onEvent(Event{Kind: Halted, Node: i, Status: Idle})
	}
	if n.guard != nil {
		x.evalScript(i, n.guard[guardOnHalted])
	}
}

func (x *exec) haltOthers(n *node, keep int32) {
	for _, k := range n.kids {
		if k != keep {
			x.halt(k)
		}
	}
}

// memoOf is what node i remembers besides its cell; setMemo replaces it, dropMemo removes it.
func (x *exec) memoOf(i int32, c *Cell) Memo {
	if !c.Memo {
		return Memo{Node: i}
	}
	return x.s.Memos[x.memoIndex(i)]
}

func (x *exec) setMemo(c *Cell, m Memo) {
	if c.Memo {
		x.s.Memos[x.memoIndex(m.Node)] = m
		return
	}
	c.Memo = true
	x.s.Memos = append(x.s.Memos, m)
}

func (x *exec) dropMemo(i int32, c *Cell) {
	at := x.memoIndex(i)
	x.s.Memos = removeAt(x.s.Memos, at)
	c.Memo = false
}

func (x *exec) memoIndex(i int32) int {
	at := findFrom(x.s.Memos, x.memoAt, func(m *Memo) bool { return m.Node == i })
	x.memoAt = max(at, 0)
	return at
}

// cancelTask removes the task of a leaf, and cancels its outstanding operations.
func (x *exec) cancelTask(i int32) {
	at := x.taskIndex(i)
	if at < 0 {
		return
	}
	for _, r := range x.s.Tasks[at].Requests {
		if r.Issued && r.Done == nil {
			x.res.Cancel = append(x.res.Cancel, r.Effect.Op)
		}
	}
	x.s.Tasks = removeAt(x.s.Tasks, at)
}

// dropUnstarted drops the effects that were both requested and cancelled in this step.
func (x *exec) dropUnstarted() {
	if len(x.res.Cancel) == 0 || len(x.res.Start) == 0 {
		return
	}
	withdrawn := make(map[uint64]bool, len(x.res.Cancel))
	for _, op := range x.res.Cancel {
		withdrawn[op] = true
	}
	asked := map[uint64]bool{}
	x.res.Start = slices.DeleteFunc(x.res.Start, func(e Effect) bool {
		asked[e.Op] = withdrawn[e.Op]
		return withdrawn[e.Op]
	})
	if x.res.Cancel = slices.DeleteFunc(x.res.Cancel, func(op uint64) bool {
		return asked[op]
	}); len(x.res.Cancel) == 0 {
		x.res.Cancel = nil
	}
}

// breakStep stops the step, as the tree or its data is wrong. Its event is the last one of the step.
func (x *exec) breakStep(i int32, err error) Status {
	if x.err == nil {
		if x.onEvent != nil {
			x.onEvent(Event{Kind: Ticked, Node: i, Status: Failure, Reason: err.Error()})
		}
		n := &x.t.nodes[i]
		x.err = fmt.Errorf("%s:%d:%d: node %s: %w", x.t.File, n.line, n.col, x.t.Path(i), err)
	}
	return Failure
}

// fail sets why node i fails. Without a reason, it is the kind or at least the name of the node.
func (x *exec) fail(i int32, kind, why string) Status {
	if why == "" {
		why = cmp.Or(kind, x.t.typeOf(i)+" failed")
	}
	// as a whole, it would be put together elsewhere and copied
	x.reason.Node, x.reason.Kind, x.reason.Reason = i, kind, why
	return Failure
}

func (x *exec) writeKey(i, slot int32, v any) {
	if err := x.s.setSlot(slot, x.t.slots[slot].name, v); err != nil {
		x.breakStep(i, err)
		return
	}
	if x.onEvent != nil {
		x.onEvent(Event{Kind: Wrote, Node: i, Key: x.t.slots[slot].name, Value: v})
	}
}

func (x *exec) emit(i int32, e Typed) {
	if x.onEvent != nil {
		x.onEvent(Event{Kind: Emitted, Node: i, Data: e})
	}
}

// intPort is the value of an int port: its literal, or the value of its key.
func (x *exec) intPort(i int32, p *portValue) int64 {
	if p.slot < 0 {
		return p.n
	}
	n, _ := x.portKeyValue(i, p, typeInt64).(int64)
	if err := p.tooSmall(n); err != nil {
		x.breakStep(i, fmt.Errorf("port %s: %w", p.port, err))
	}
	return n
}

// boolPort is the value of a bool port: its literal, or the value of its key.
func (x *exec) boolPort(i int32, p *portValue) bool {
	if p.slot < 0 {
		return p.n != 0
	}
	return x.portKeyValue(i, p, typeBool) == true
}

// portKeyValue is the value of a port's key. If it is unwritten or does not fit, the step stops.
func (x *exec) portKeyValue(i int32, p *portValue, t reflect.Type) any {
	v := x.s.Slots[p.slot]
	if v == nil {
		x.breakStep(i, fmt.Errorf("port %s: %w", p.port, x.unwrittenError(p.slot)))
		return nil
	}
	v, err := convertTo(v, t)
	if err != nil {
		x.breakStep(i, fmt.Errorf("port %s: key {%s}: %w", p.port, x.t.slots[p.slot].name, err))
	}
	return v
}

func (x *exec) unwrittenError(slot int32) error {
	return fmt.Errorf("key {%s} was not written yet", x.t.slots[slot].name)
}

// matchesCase compares a Switch's variable with a case: as text, then as numbers.
func matchesCase(v, p string) bool {
	if v == p {
		return true
	}
	a, isA := parseNumber(v)
	b, isB := parseNumber(p)
	return isA && isB && a == b
}

func textOf(v any) string {
	switch t := v.(type) {
	case string:
		return t
	case float64:
		if math.Abs(t) < 1e21 {
			return strconv.FormatFloat(t, 'f', -1, 64)
		}
	}
	return fmt.Sprint(v)
}
