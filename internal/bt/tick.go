package bt

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// MaxVisits caps the node visits of one Step; a tree that takes more for one pass breaks like one that spins.
const MaxVisits = 10_000

// EventKind says what an Event tells.
type EventKind uint8

// What an event tells: a node was ticked, a running node was halted, a key was written, a leaf said what it decided.
const (
	Ticked EventKind = iota
	Halted
	Wrote
	Told
)

// Event is something that happened in a tick, in order. Reason is set with Ticked, for a failure and for a check; Key and Value
// with Wrote; Data with Told.
type Event struct {
	Kind   EventKind
	Node   int32
	Status Status
	Reason string
	Key    string
	Value  any
	Data   Typed
}

// Typed is what a leaf tells people of its decision. Its exported fields encode as JSON; EventType names what they mean, in words
// that stay the same from build to build.
type Typed interface{ EventType() string }

// exec is one tick or halt.
type exec struct {
	t      *Tree
	s      *State
	now    int64
	on     func(Event)
	res    Result
	again  bool
	err    error
	why    string // of a check that says yes
	reason Fault
}

// Step takes an input in: it ticks until no node wants another tick at once. An error means that the tree is broken
// where it says (a key unwritten, a value that does not fit, a tree that spins); the run cannot go on from such a state.
// on may be nil. The state is changed in place.
func (t *Tree) Step(s *State, in Input, on func(Event)) (Result, error) {
	x := t.enter(s, in, on)
	for {
		x.tickRoot()
		if x.err != nil || !x.again || x.res.Status != Running {
			return x.leave()
		}
	}
}

// Tick is Step with exactly one tick; Result.Again tells that a node wants another.
func (t *Tree) Tick(s *State, in Input, on func(Event)) (Result, error) {
	x := t.enter(s, in, on)
	x.tickRoot()
	x.res.Again = x.again && x.res.Status == Running
	return x.leave()
}

// Halt stops whatever runs and returns the operations that were outstanding.
func (t *Tree) Halt(s *State, on func(Event)) ([]uint64, error) {
	x := t.enter(s, Input{Now: s.Now}, on)
	x.halt(0)
	return x.res.Cancel, x.err
}

func (t *Tree) enter(s *State, in Input, on func(Event)) *exec {
	if in.Now > s.Now {
		s.Now = in.Now
	}
	s.scratch = exec{t: t, s: s, now: s.Now, on: on}
	for _, c := range in.Done {
		if err := s.deliver(c); err != nil && s.scratch.err == nil {
			s.scratch.err = err
		}
	}
	return &s.scratch
}

func (x *exec) tickRoot() {
	x.s.Ticks++
	x.again = false
	x.reason = Fault{}
	x.res.Status = x.tick(0)
}

func (x *exec) leave() (Result, error) {
	if x.err != nil {
		return x.res, x.err
	}
	switch x.res.Status {
	case Failure:
		f := x.reason
		x.res.Fault = &f
	case Running:
		for i := range x.s.Cells {
			if due := x.s.Cells[i].Due; due > x.now && (x.res.Due == 0 || due < x.res.Due) {
				x.res.Due = due
			}
		}
	}
	return x.res, nil
}

// tick runs node i once and keeps the invariant: what did not return RUNNING is idle, and so is all below it.
func (x *exec) tick(i int32) Status {
	n := &x.t.nodes[i]
	c := &x.s.Cells[i]
	x.res.Visits++
	if x.err != nil {
		return Failure
	}
	if x.res.Visits > MaxVisits {
		return x.broken(i, fmt.Errorf("the tree spins: %d node visits for one input", MaxVisits))
	}
	x.why = ""
	st := Idle
	if n.guard != nil {
		st = x.guarded(i, n.guard, c.On)
	}
	switch {
	case st != Idle:
	case n.kind == kLeaf:
		st = n.leaf.call(n.bind, x, i)
	default:
		st = x.control(i, n, c)
	}
	switch {
	case x.err != nil: // the state is of no more use
		return Failure
	case st == Running:
		c.On = true
	default:
		x.settle(n, c, st)
		if n.guard != nil {
			n.guard.after(x, i, st)
		}
	}
	if x.on != nil && x.err == nil {
		why := x.why
		if st == Failure {
			why = x.reason.Reason
		}
		x.on(Event{Kind: Ticked, Node: i, Status: st, Reason: why})
	}
	x.why = ""
	return st
}

// settle makes a node idle that is done, and halts what still runs below it.
func (x *exec) settle(n *node, c *Cell, st Status) {
	for _, k := range n.kids {
		if x.s.Cells[k].On {
			x.halt(k)
		}
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

// halt stops a running node: what runs below it first, left to right.
func (x *exec) halt(i int32) {
	n := &x.t.nodes[i]
	c := &x.s.Cells[i]
	if !c.On {
		return
	}
	x.settle(n, c, Idle)
	if n.kind == kLeaf && n.leaf.class == taskLeaf {
		x.withdraw(i)
	}
	if x.on != nil {
		x.on(Event{Kind: Halted, Node: i, Status: Idle})
	}
	if n.guard != nil {
		x.script(i, n.guard.onHalted)
	}
}

// withdraw takes back the task of a leaf, and what is outstanding of it.
func (x *exec) withdraw(i int32) {
	at := x.taskOf(i)
	if at < 0 {
		return
	}
	for _, r := range x.s.Tasks[at].Requests {
		if r.Issued && r.Done == nil {
			x.cancel(r.Effect.Op)
		}
	}
	x.s.Tasks = append(x.s.Tasks[:at:at], x.s.Tasks[at+1:]...)
}

// cancel withdraws an operation. What this step asked for never began: nobody hears of it.
func (x *exec) cancel(op uint64) {
	started := len(x.res.Start)
	x.res.Start = slices.DeleteFunc(x.res.Start, func(e Effect) bool { return e.Op == op })
	if len(x.res.Start) == started {
		x.res.Cancel = append(x.res.Cancel, op)
	}
}

func (x *exec) haltOthers(n *node, keep int32) {
	for _, k := range n.kids {
		if k != keep && x.s.Cells[k].On {
			x.halt(k)
		}
	}
}

// broken stops the step: the tree or its data is wrong, not the world. Its event is the last of the step.
func (x *exec) broken(i int32, err error) Status {
	if x.err == nil {
		if x.on != nil {
			x.on(Event{Kind: Ticked, Node: i, Status: Failure, Reason: err.Error()})
		}
		n := &x.t.nodes[i]
		x.err = fmt.Errorf("%s:%d:%d: node %s: %w", x.t.File, n.line, n.col, x.t.Path(i), err)
	}
	return Failure
}

// failed says why node i fails; what gives no reason gets one that at least names it.
func (x *exec) failed(i int32, kind, why string) Status {
	if why == "" {
		why = cmp.Or(kind, x.t.Node(i).Type+" failed")
	}
	x.reason = Fault{Kind: kind, Reason: why, Node: x.t.Path(i)}
	return Failure
}

func (x *exec) write(i, slot int32, v any) {
	x.s.Slots[slot] = v
	if x.on != nil {
		x.on(Event{Kind: Wrote, Node: i, Key: x.t.slots[slot].name, Value: v})
	}
}

func (x *exec) tell(i int32, e Typed) {
	if x.on != nil {
		x.on(Event{Kind: Told, Node: i, Data: e})
	}
}

// number reads an int port: its literal, or its key.
func (x *exec) number(i int32, p *value) int64 {
	if p.slot < 0 {
		return p.n
	}
	n, _ := x.need(i, p, typeInt64).(int64)
	if err := p.tooSmall(n); err != nil {
		x.broken(i, fmt.Errorf("port %s: %w", p.port, err))
	}
	return n
}

// flag reads a bool port: its literal, or its key.
func (x *exec) flag(i int32, p *value) bool {
	if p.slot < 0 {
		return p.n != 0
	}
	return x.need(i, p, typeBool) == true
}

// need is the value of a port's key; what is unwritten or does not fit breaks the step.
func (x *exec) need(i int32, p *value, t reflect.Type) any {
	v := x.s.Slots[p.slot]
	if v == nil {
		x.broken(i, fmt.Errorf("port %s: %w", p.port, x.unwritten(p.slot)))
		return nil
	}
	v, err := convertTo(v, t)
	if err != nil {
		x.broken(i, fmt.Errorf("port %s: key {%s}: %w", p.port, x.t.slots[p.slot].name, err))
	}
	return v
}

func (x *exec) unwritten(slot int32) error {
	return fmt.Errorf("key {%s} was not written yet", x.t.slots[slot].name)
}

// matches compares a Switch's variable with a case: as text, then as numbers.
func matches(variable, pattern any) bool {
	v, p := textOf(variable), textOf(pattern)
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
