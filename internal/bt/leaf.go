package bt

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Leaf is a type of leaf node, made by Check, Func or Task.
type Leaf struct {
	Name, Doc   string
	class       leafClass
	in, out     []Port
	names       []string // of all ports, each once
	now, events int      // indices of the fields of the input and the output struct that are not ports; -1: none
	err         error
	tick        func(b *binding, x *exec, i int32) Status
}

// tickLeaf is the runner of leaves.
func (x *exec) tickLeaf(i int32, n *node, _ *Cell) Status { return n.leaf.tick(n.bind, x, i) }

type leafClass uint8

const (
	checkLeaf leafClass = iota
	funcLeaf
	taskLeaf
)

// Check is a pure yes or no. The text is the reason, shown either way; no is a FAILURE with that reason.
func Check[I any](name, doc string, f func(I) (bool, string)) Leaf {
	return EmittingCheck(name, doc, func(in I) (bool, string, Typed) {
		yes, why := f(in)
		return yes, why, nil
	})
}

// EmittingCheck is a Check that also emits a typed event, unless that is nil.
func EmittingCheck[I any](name, doc string, f func(I) (yes bool, why string, event Typed)) Leaf {
	l := newLeaf(name, doc, checkLeaf, reflect.TypeFor[I](), nil)
	l.tick = func(b *binding, x *exec, i int32) Status {
		in, ok := readIn[I](b, x, i)
		if !ok {
			return Failure
		}
		yes, why, event := f(*in)
		if event != nil {
			x.emit(i, event)
		}
		if !yes {
			if why == "" {
				why = name + " says no"
			}
			return x.fail(i, "", why)
		}
		if x.onEvent != nil {
			x.checkReason = why
		}
		return Success
	}
	return l
}

// Func is a pure computation. out begins with the values of its ports, and what f leaves in it is written on SUCCESS
// and FAILURE alike; on FAILURE, a zero field is not written to an unwritten key. An error is a FAILURE with its text
// as reason. f must replace slices, maps and what pointers point to, and never change them in place: they may be
// shared.
func Func[I, O any](name, doc string, f func(in I, out *O) error) Leaf {
	l := newLeaf(name, doc, funcLeaf, reflect.TypeFor[I](), reflect.TypeFor[O]())
	l.tick = func(b *binding, x *exec, i int32) Status {
		in, ok := readIn[I](b, x, i)
		if !ok {
			return Failure
		}
		return computeOut(b, x, i, *in, f)
	}
	return l
}

// readIn reads the inputs of a leaf; ok is false if that stopped the step.
func readIn[I any](b *binding, x *exec, i int32) (in *I, ok bool) {
	in = new(I)
	if err := b.readInputs(x, reflect.ValueOf(in).Elem()); err != nil {
		x.breakStep(i, err)
		return nil, false
	}
	return in, true
}

// computeOut calls a function with the inputs of a leaf, and writes its outputs.
func computeOut[I, O any](b *binding, x *exec, i int32, in I, compute func(in I, out *O) error) Status {
	out := new(O)
	fields := reflect.ValueOf(out).Elem()
	for k := range b.out {
		if _, err := b.out[k].setField(x, fields); err != nil {
			return x.breakStep(i, err)
		}
	}
	return b.writeOutputs(x, i, fields, compute(in, out))
}

func newLeaf(name, doc string, class leafClass, in, out reflect.Type) Leaf {
	l := Leaf{Name: name, Doc: doc, class: class, events: -1}
	var other nonPorts
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

// Declare declares what an assistant has for its trees: its leaves and, as the ports of two structs, the keys that its
// trees are given and those that are read from them afterwards.
func Declare[Given, Wanted any](leaves ...Leaf) (*Leaves, Options, error) {
	known, err := NewLeaves(leaves...)
	given, givenErr := Ports[Given]()
	wanted, wantedErr := Ports[Wanted]()
	return known, Options{Given: given, Wanted: wanted}, errors.Join(err, givenErr, wantedErr)
}

// Leaves are the leaf types that trees may use, besides the nodes of the kernel. They do not change.
type Leaves struct{ byName map[string]*Leaf }

// NewLeaves collects leaves. A wrong port declaration, and a name that is taken or not valid, are errors.
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

// wire connects one field. If slot is -1, its value is the literal; an invalid literal means the zero value.
type wire struct {
	*Port
	slot    int32
	literal reflect.Value
}

// readInputs fills a zero struct with the inputs.
func (b *binding) readInputs(x *exec, in reflect.Value) error {
	if b.now >= 0 {
		in.Field(b.now).SetInt(x.now)
	}
	for k := range b.in {
		w := &b.in[k]
		if w.slot >= 0 {
			written, err := w.setField(x, in)
			switch {
			case err != nil:
				return err
			case written:
				continue
			case w.required():
				return fmt.Errorf("port %s: %w", w.Name, x.unwrittenError(w.slot))
			}
		}
		if w.literal.IsValid() {
			in.Field(w.field).Set(w.literal)
		}
	}
	return nil
}

// setField sets the field of a wire to the value of its key; written is false if that has none.
func (w *wire) setField(x *exec, of reflect.Value) (written bool, err error) {
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

func (b *binding) writeOutputs(x *exec, i int32, out reflect.Value, err error) Status {
	fault := asFault(err)
	for k := range b.out {
		w := &b.out[k]
		field := out.Field(w.field)
		if fault != nil && x.s.Slots[w.slot] == nil && field.IsZero() {
			continue
		}
		v, convErr := x.t.slots[w.slot].convert(fieldValue(field, x.s.Slots[w.slot]))
		if convErr != nil {
			return x.breakStep(i, fmt.Errorf("port %s: %w", w.Name, convErr))
		}
		x.writeKey(i, w.slot, v)
	}
	if b.events >= 0 && x.onEvent != nil {
		for _, e := range *out.Field(b.events).Addr().Interface().(*[]Typed) {
			x.emit(i, e)
		}
	}
	if fault != nil {
		return x.fail(i, fault.Kind, fault.Reason)
	}
	return Success
}

// fieldValue is the value of a field. If its key has the same value, that one is used, as it takes no new memory. Flags
// and most small numbers take none either.
func fieldValue(field reflect.Value, before any) any {
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
		if b := reflect.ValueOf(before); b.Type() == field.Type() && b.Len() == field.Len() && b.Cap() == field.Cap() &&
			b.Pointer() == field.Pointer() {
			return before
		}
	}
	return field.Interface()
}

// asFault is an error as a Fault. A nil *Fault means no error: the Err of a completion may be passed on as it is.
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
