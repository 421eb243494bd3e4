package bt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"sync"
)

// Leaf is a type of leaf node, made by Check, Func or Task.
type Leaf struct {
	Name, Doc   string
	class       leafClass
	in, out     []Port
	names       []string // of all ports, each once
	now, events int      // fields of the input and the output struct that are no ports, -1: none
	err         error
	call        func(b *binding, x *exec, i int32) Status
}

// leaf is the runner of leaves.
func (x *exec) leaf(i int32, n *node, _ *Cell) Status { return n.leaf.call(n.bind, x, i) }

type leafClass uint8

const (
	checkLeaf leafClass = iota
	funcLeaf
	taskLeaf
)

// Check is a pure yes or no. The text is the reason, shown either way; a no is FAILURE with it.
func Check[I any](name, doc string, f func(I) (bool, string)) Leaf {
	return EmittingCheck(name, doc, func(in I) (bool, string, Typed) {
		yes, why := f(in)
		return yes, why, nil
	})
}

// EmittingCheck is a Check that emits a typed event beside its reason, unless it is nil.
func EmittingCheck[I any](name, doc string, f func(I) (yes bool, why string, event Typed)) Leaf {
	l := newLeaf(name, doc, checkLeaf, reflect.TypeFor[I](), nil)
	var all frames[I, struct{}]
	l.call = func(b *binding, x *exec, i int32) Status {
		at := all.loaded(b, x, i)
		if at == nil {
			return Failure
		}
		defer all.free(at)
		yes, why, event := f(at.in)
		if event != nil {
			x.emit(i, event)
		}
		if !yes {
			if why == "" {
				why = name + " says no"
			}
			return x.failed(i, "", why)
		}
		if x.on != nil {
			x.why = why
		}
		return Success
	}
	return l
}

// Func is a pure computation. out starts as what its ports hold, and what f leaves in it is written on SUCCESS and
// FAILURE alike; on FAILURE, a field that is zero is not written to a key that nothing has written before. An error is
// FAILURE with its text as reason. f replaces slices, maps and what pointers point to, and never changes them in place:
// they may be shared.
func Func[I, O any](name, doc string, f func(in I, out *O) error) Leaf {
	l := newLeaf(name, doc, funcLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	var all frames[I, O]
	l.call = func(b *binding, x *exec, i int32) Status { return all.call(b, x, i, f) }
	return l
}

// frame is what the functions of a leaf take and fill, in one piece of memory.
type frame[I, O any] struct {
	in  I
	out O
}

// frames are those of a leaf that nothing uses at present: keys and requests hold copies of what was in them.
type frames[I, O any] struct{ spent sync.Pool }

// loaded is a frame with the inputs; one that is nil broke the step.
func (all *frames[I, O]) loaded(b *binding, x *exec, i int32) *frame[I, O] {
	f, _ := all.spent.Get().(*frame[I, O])
	if f == nil {
		f = &frame[I, O]{}
	}
	if err := b.load(x, reflect.ValueOf(&f.in).Elem()); err != nil {
		x.broken(i, err)
		return nil
	}
	return f
}

func (all *frames[I, O]) free(f *frame[I, O]) {
	*f = frame[I, O]{}
	all.spent.Put(f)
}

// call writes what compute makes of the inputs.
func (all *frames[I, O]) call(b *binding, x *exec, i int32, compute func(in I, out *O) error) Status {
	f := all.loaded(b, x, i)
	if f == nil {
		return Failure
	}
	defer all.free(f)
	return f.call(b, x, i, compute)
}

// call writes what compute makes of a frame.
func (f *frame[I, O]) call(b *binding, x *exec, i int32, compute func(in I, out *O) error) Status {
	out := reflect.ValueOf(&f.out).Elem()
	if err := b.prefill(x, out); err != nil {
		return x.broken(i, err)
	}
	return b.finish(x, i, out, compute(f.in, &f.out))
}

// Request is an effect that a task leaf wants. Payload encodes as JSON the same way every time: structs and slices, no maps.
type Request struct {
	Kind    string
	Label   string // for people: "code_search idle connection"
	Payload any
	Once    bool
}

// Task asks for effects. plan says which, in order; once all are completed, collect turns the completions, one a
// request in the same order, into outputs, under the rules of Func. An error of plan fails the leaf before anything is
// asked for. Requests that only read may run at the same time; one that is Once starts when all before it are done,
// and holds back all after it. Both functions are pure; the input is read again for collect.
func Task[I, O any](name, doc string, plan func(I) ([]Request, error), collect func(in I, done []Completion, out *O) error) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	var all frames[I, O]
	l.call = func(b *binding, x *exec, i int32) Status {
		f := all.begin(b, x, i, plan)
		if f == nil {
			return Failure
		}
		defer all.free(f)
		done, ok := x.collect(i)
		if !ok {
			return Running
		}
		return f.call(b, x, i, func(in I, out *O) error { return collect(in, done, out) })
	}
	return l
}

// One is a Task of one request. collect takes in its result and the record that holds it. An effect that failed fails the leaf, with what
// failed leaves in out; nil leaves nothing.
func One[I, R, O any](name, doc string, plan func(I) (Request, error), collect func(in I, r R, ref int64, out *O) error, failed func(in I, why *Fault, ref int64, out *O)) Leaf {
	one := func(in I) ([]Request, error) {
		r, err := plan(in)
		return []Request{r}, err
	}
	return Task(name, doc, one, func(in I, done []Completion, out *O) error {
		c := done[0]
		if c.Err != nil {
			if failed != nil {
				failed(in, c.Err, c.Ref, out)
			}
			return c.Err
		}
		r, err := ResultOf[R](c)
		if err != nil {
			return err
		}
		return collect(in, r, c.Ref, out)
	})
}

// Each is a Task whose completions are taken in one by one, in the order in which they come: settle gets the number of the request
// and its completion, and what it leaves in out is written at once. So a halt, by a Timeout above it, drops none that is done. An
// error of settle fails the leaf and withdraws the rest. finish has the last word when all are settled, also where plan asked for
// nothing.
func Each[I, O any](name, doc string, plan func(I) ([]Request, error), settle func(in I, k int, c Completion, out *O) error,
	finish func(in I, out *O) error) Leaf {
	l := newLeaf(name, doc, taskLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	var all frames[I, O]
	l.call = func(b *binding, x *exec, i int32) Status {
		f := all.begin(b, x, i, plan)
		if f == nil {
			return Failure
		}
		defer all.free(f)
		for _, k := range x.unsettled(i) {
			r := &x.s.Tasks[x.taskOf(i)].Requests[k]
			r.Settled = true
			done := *r.Done
			if st := all.call(b, x, i, func(in I, out *O) error { return settle(in, k, done, out) }); st != Success {
				x.withdraw(i)
				return st
			}
		}
		if _, ok := x.collect(i); !ok {
			return Running
		}
		return all.call(b, x, i, finish)
	}
	return l
}

// unsettled are the requests of a task that are done and not taken in yet, in the order in which they were completed.
func (x *exec) unsettled(i int32) []int {
	task := &x.s.Tasks[x.taskOf(i)]
	var found []int
	for k := range task.Requests {
		if r := &task.Requests[k]; r.Done != nil && !r.Settled {
			found = append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(task.Requests[a].Done.Ref, task.Requests[b].Done.Ref) })
	return found
}

func newLeaf(name, doc string, class leafClass, in, out reflect.Type) Leaf {
	l := Leaf{Name: name, Doc: doc, class: class, events: -1}
	var other unnamed
	l.in, other, l.err = portsOf(in)
	l.now = other.now
	if l.err == nil && out != nil {
		l.out, other, l.err = portsOf(out)
		l.events = other.events
	}
	if l.err != nil {
		l.err = fmt.Errorf("leaf %s: %w", name, l.err)
	}
	for _, p := range slices.Concat(l.in, l.out) {
		if !slices.Contains(l.names, p.Name) {
			l.names = append(l.names, p.Name)
		}
	}
	return l
}

// Declare is what an assistant brings for its trees: its leaves, and, as the ports of two structs, the keys that its trees are given and those
// that are read from them afterwards.
func Declare[Given, Wanted any](leaves ...Leaf) (*Leaves, Options, error) {
	known, err := NewLeaves(leaves...)
	given, givenErr := Ports[Given]()
	wanted, wantedErr := Ports[Wanted]()
	return known, Options{Given: given, Wanted: wanted}, errors.Join(err, givenErr, wantedErr)
}

// Leaves are the leaf types that trees may use, beside the nodes of the kernel. They are set once, then only read.
type Leaves struct{ byName map[string]*Leaf }

// NewLeaves holds the given leaves. A bad port declaration, or a name that is taken or no XML name, is an error.
func NewLeaves(leaves ...Leaf) (*Leaves, error) {
	r := &Leaves{byName: make(map[string]*Leaf, len(leaves))}
	var errs []error
	for _, l := range leaves {
		_, taken := r.byName[l.Name]
		switch {
		case taken || kindByName[l.Name] != nil || l.Name == "SubTree" || isCategory(l.Name):
			l.err = fmt.Errorf("leaf %s: that name is taken", l.Name)
		case !isWord(l.Name):
			l.err = fmt.Errorf("leaf ‘%s’: a name has letters, digits and _, and begins with a letter", l.Name)
		}
		errs = append(errs, l.err)
		r.byName[l.Name] = &l
	}
	return r, errors.Join(errs...)
}

// binding connects the fields of one leaf node to slots and literals.
type binding struct {
	in, out     []wire
	now, events int
}

// wire is one field's connection. slot -1 means the literal, an invalid one the zero value.
type wire struct {
	*Port
	slot    int32
	literal reflect.Value
}

// load fills a struct that is zero.
func (b *binding) load(x *exec, in reflect.Value) error {
	if b.now >= 0 {
		in.Field(b.now).SetInt(x.now)
	}
	for k := range b.in {
		w := &b.in[k]
		if w.slot >= 0 {
			written, err := w.fill(x, in)
			switch {
			case err != nil:
				return err
			case written:
				continue
			case w.required():
				return fmt.Errorf("port %s: %w", w.Name, x.unwritten(w.slot))
			}
		}
		if w.literal.IsValid() {
			in.Field(w.field).Set(w.literal)
		}
	}
	return nil
}

func (b *binding) prefill(x *exec, out reflect.Value) error {
	for k := range b.out {
		if _, err := b.out[k].fill(x, out); err != nil {
			return err
		}
	}
	return nil
}

// fill sets the field of a wire to what its key holds; false where nothing was written.
func (w *wire) fill(x *exec, of reflect.Value) (written bool, err error) {
	v := x.s.Slots[w.slot]
	if v == nil {
		return false, nil
	}
	if reflect.TypeOf(v) != w.Type || w.Type.Kind() == reflect.Float64 {
		if v, err = convertTo(v, w.Type); err != nil {
			return false, fmt.Errorf("port %s: key {%s}: %w", w.Name, x.t.slots[w.slot].name, err)
		}
	}
	of.Field(w.field).Set(reflect.ValueOf(v))
	return true, nil
}

func (b *binding) finish(x *exec, i int32, out reflect.Value, err error) Status {
	fault := asFault(err)
	for k := range b.out {
		w := &b.out[k]
		field := out.Field(w.field)
		if fault != nil && x.s.Slots[w.slot] == nil && field.IsZero() {
			continue
		}
		v, convErr := x.t.slots[w.slot].convert(held(field, x.s.Slots[w.slot]))
		if convErr != nil {
			return x.broken(i, fmt.Errorf("port %s: %w", w.Name, convErr))
		}
		x.write(i, w.slot, v)
	}
	if b.events >= 0 && x.on != nil {
		for _, e := range *out.Field(b.events).Addr().Interface().(*[]Typed) {
			x.emit(i, e)
		}
	}
	if fault != nil {
		return x.failed(i, fault.Kind, fault.Reason)
	}
	return Success
}

// held is the value of a field: that which its key holds already, where it is the same, as that costs no memory. The flags and small numbers
// of most cost none either.
func held(field reflect.Value, before any) any {
	switch p := field.Addr().Interface().(type) {
	case *bool:
		return *p
	case *int:
		return *p
	case *string:
		if text, ok := before.(string); ok && text == *p {
			return before
		}
	}
	if field.Kind() == reflect.Slice && before != nil {
		if b := reflect.ValueOf(before); b.Type() == field.Type() && b.Len() == field.Len() && b.Cap() == field.Cap() && b.Pointer() == field.Pointer() {
			return before
		}
	}
	return field.Interface()
}

// asFault is an error as a Fault. A nil *Fault is none: a completion's Err may be handed on as it is.
func asFault(err error) *Fault {
	if err == nil {
		return nil
	}
	var f *Fault
	switch found := errors.As(err, &f); {
	case found && f != nil:
		return &Fault{Kind: f.Kind, Reason: err.Error()}
	case found && errors.Unwrap(err) == nil:
		return nil
	}
	return &Fault{Reason: err.Error()}
}

// begin loads a task, and records its requests where it begins; collect issues those that may start. nil is a failure.
func (all *frames[I, O]) begin(b *binding, x *exec, i int32, plan func(I) ([]Request, error)) *frame[I, O] {
	f := all.loaded(b, x, i)
	if f == nil || x.cells[i].On {
		return f
	}
	requests, err := plan(f.in)
	if fault := asFault(err); fault != nil {
		x.failed(i, fault.Kind, fault.Reason)
		return nil
	}
	task := PendingTask{Node: i, Base: x.s.NextOp, Requests: make([]pendingRequest, len(requests))}
	for k, r := range requests {
		payload, err := json.Marshal(r.Payload)
		if err != nil {
			x.broken(i, fmt.Errorf("request %s: %w", r.Kind, err))
			return nil
		}
		if len(payload) > MaxPayload {
			x.broken(i, fmt.Errorf("request %s has %d bytes, and one has at most %d: %w", r.Kind, len(payload), MaxPayload, ErrBound))
			return nil
		}
		task.Requests[k].Effect = Effect{Op: x.s.NextOp, Leaf: x.nodes[i].leaf.Name, Node: i,
			Index: k, Kind: r.Kind, Label: r.Label, Payload: payload, Once: r.Once, Asked: r.Payload}
		x.s.NextOp++
	}
	x.s.Tasks = append(x.s.Tasks, task)
	return f
}

// collect issues the requests that may start and, when all are done, takes the task off the list.
func (x *exec) collect(i int32) ([]Completion, bool) {
	at := x.taskOf(i)
	task := &x.s.Tasks[at]
	allDone, blocked := true, false
	for k := range task.Requests {
		r := &task.Requests[k]
		if r.Done == nil {
			if !r.Issued && !blocked && (!r.Effect.Once || allDone) {
				r.Issued = true
				x.res.Start = append(x.res.Start, r.Effect)
			}
			r.Effect.Asked = nil // a state keeps nothing that Encode does not
			allDone = false
			blocked = blocked || r.Effect.Once
		}
	}
	if !allDone {
		return nil, false
	}
	done := make([]Completion, len(task.Requests))
	for k, r := range task.Requests {
		done[k] = *r.Done
	}
	x.s.Tasks = without(x.s.Tasks, at)
	return done, true
}

func (x *exec) taskOf(node int32) int {
	at := from(x.s.Tasks, x.taskAt, func(t *PendingTask) bool { return t.Node == node })
	x.taskAt = max(at, 0)
	return at
}

// from finds an element from a place on, and then before it: where nodes come in the order in which they were begun, at once.
func from[T any](all []T, at int, is func(*T) bool) int {
	for k := at; k < len(all); k++ {
		if is(&all[k]) {
			return k
		}
	}
	for k := range min(at, len(all)) {
		if is(&all[k]) {
			return k
		}
	}
	return -1
}

// without takes out an element, the first one without moving the others: halts go from left to right.
func without[T any](all []T, at int) []T {
	if at > 0 {
		return slices.Delete(all, at, at+1)
	}
	clear(all[:1])
	return all[1:]
}

// deliver hands a completion to the task that waits for it; one for a halted operation is dropped. The result is kept in
// the form that Encode gives it, so that a leaf reads the same bytes before and after.
func (s *State) deliver(c Completion) error {
	k := sort.Search(len(s.Tasks), func(k int) bool { return s.Tasks[k].Base > c.Op }) - 1 // they stand in the order in which they were begun
	if k < 0 || c.Op >= s.Tasks[k].Base+uint64(len(s.Tasks[k].Requests)) {
		return nil
	}
	r := &s.Tasks[k].Requests[c.Op-s.Tasks[k].Base]
	if !r.Issued || r.Done != nil {
		return nil
	}
	if len(c.Result) > 0 && c.Value == nil {
		result, err := json.Marshal(c.Result)
		if err != nil {
			return fmt.Errorf("the result of operation %d is not JSON: %w", c.Op, err)
		}
		c.Result = result
	}
	r.Done = &c
	return nil
}
