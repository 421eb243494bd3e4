package bt

import (
	"errors"
	"fmt"
	"reflect"
)

// scalar is a value in a script: a text, a number or a bool, whose number is 0 or 1.
type scalar struct {
	kind scalarKind
	num  float64
	text string
}

type scalarKind uint8

const (
	noValue scalarKind = iota
	isNumber
	isBool
	isText
)

func numberScalar(f float64) scalar { return scalar{kind: isNumber, num: f} }

func boolScalar(yes bool) scalar {
	if yes {
		return scalar{kind: isBool, num: 1}
	}
	return scalar{kind: isBool}
}

// scalarOf reads a value of any basic type.
func scalarOf(v any) (scalar, error) {
	switch v := v.(type) {
	case string:
		return scalar{kind: isText, text: v}, nil
	case bool:
		return boolScalar(v), nil
	case float64:
		return numberScalar(v), nil
	case int:
		return numberScalar(float64(v)), nil
	}
	if r := reflect.ValueOf(v); r.IsValid() && isBasic(r.Type()) {
		switch r.Kind() {
		case reflect.String:
			return scalar{kind: isText, text: r.String()}, nil
		case reflect.Bool:
			return boolScalar(r.Bool()), nil
		case reflect.Float64:
			return numberScalar(r.Float()), nil
		default:
			return numberScalar(float64(r.Int())), nil
		}
	}
	return scalar{}, fmt.Errorf("%T is not a text, number or bool", v)
}

// value is the form of s in untyped keys.
func (s scalar) value() any {
	switch s.kind {
	case isNumber:
		return s.num
	case isBool:
		return s.num != 0
	case isText:
		return s.text
	}
	return nil
}

// asNumber is the number of s, also if it is a text that reads as one: BT.CPP compares like this.
func (s scalar) asNumber() (float64, bool) {
	if s.kind == isText {
		return parseNumber(s.text)
	}
	return s.num, s.kind != noValue
}

func (s scalar) asBool() (bool, error) {
	if s.kind == isNumber || s.kind == isBool {
		return s.num != 0, nil
	}
	return false, fmt.Errorf("‘%s’ is neither true nor false", clipValue(s.value()))
}

// evalScript runs all statements and returns the last value. An error is a fault of the tree: it stops the step.
func (x *exec) evalScript(i int32, s *script) (v scalar) {
	if s == nil {
		return v
	}
	for _, e := range s.stmts {
		var err error
		if v, err = x.eval(i, e); err != nil {
			x.breakStep(i, fmt.Errorf("script ‘%s’: %w", s.text, err))
			return scalar{}
		}
	}
	return v
}

// evalCondition is the last value of a script as a bool.
func (x *exec) evalCondition(i int32, s *script) bool {
	yes, err := x.evalScript(i, s).asBool()
	if err != nil && x.err == nil {
		x.breakStep(i, fmt.Errorf("script ‘%s’: %w", s.text, err))
	}
	return yes
}

func (x *exec) eval(i int32, e *expr) (scalar, error) {
	if err := x.addWork(0); err != nil {
		return scalar{}, err
	}
	switch e.op {
	case opLiteral:
		return e.lit, nil
	case opKey:
		v := x.s.Slots[e.slot]
		if v == nil {
			return scalar{}, x.unwrittenError(e.slot)
		}
		s, err := scalarOf(v)
		if err != nil {
			err = fmt.Errorf("key {%s}: %w", e.key, err)
		}
		return s, err
	}
	left, err := x.eval(i, e.kids[0])
	if e.op >= opCreate && e.op <= opUpdate {
		if err == nil {
			err = x.assign(i, e, left)
		}
		if errors.Is(err, ErrBound) {
			err = fmt.Errorf("key {%s}: %w", e.key, err)
		}
		return left, err
	}
	if err != nil {
		return scalar{}, err
	}
	switch e.op {
	case opNegative:
		if left.kind != isNumber {
			return scalar{}, fmt.Errorf("‘-’ wants a number, not ‘%s’", clipValue(left.value()))
		}
		return numberScalar(-left.num), nil
	case opChoice, opNot, opAnd, opOr:
		return x.evalLazily(i, e, left)
	}
	right, err := x.eval(i, e.kids[1])
	if err != nil {
		return scalar{}, err
	}
	return x.binaryOp(e.op, left, right)
}

// evalLazily evaluates the operators that depend on whether their first operand is true; operands that are not needed
// are not evaluated.
func (x *exec) evalLazily(i int32, e *expr, left scalar) (scalar, error) {
	yes, err := left.asBool()
	switch {
	case err != nil:
		return scalar{}, err
	case e.op == opChoice && yes:
		return x.eval(i, e.kids[1])
	case e.op == opChoice:
		return x.eval(i, e.kids[2])
	case e.op == opNot:
		return boolScalar(!yes), nil
	case yes == (e.op == opOr):
		return boolScalar(yes), nil
	}
	right, err := x.eval(i, e.kids[1])
	if err != nil {
		return scalar{}, err
	}
	yes, err = right.asBool()
	return boolScalar(yes), err
}

func (x *exec) assign(i int32, e *expr, v scalar) error {
	old := x.s.Slots[e.slot]
	if e.op != opCreate && old == nil {
		return fmt.Errorf("key {%s} does not exist: ‘:=’ creates it", e.key)
	}
	if e.op == opUpdate {
		was, err := scalarOf(old)
		if err == nil {
			v, err = x.binaryOp(e.updateOp, was, v)
		}
		if err != nil {
			return err
		}
	}
	fit, err := x.t.slots[e.slot].convert(v.value())
	if err != nil {
		return fmt.Errorf("key {%s}: %w", e.key, err)
	}
	if err := x.addWork(len(v.text)); err != nil {
		return err
	}
	x.writeKey(i, e.slot, fit)
	return nil
}

func (x *exec) binaryOp(op operation, a, b scalar) (scalar, error) {
	if err := x.addWork(len(a.text) + len(b.text)); err != nil {
		return scalar{}, err
	}
	if op == opJoin {
		return joinTexts(textOf(a.value()), textOf(b.value()))
	}
	if a.kind == isText && b.kind == isText {
		switch {
		case op == opAdd:
			return joinTexts(a.text, b.text)
		case op >= opLess && op <= opGreaterEqual:
			return boolScalar(compare(op, a.text, b.text)), nil
		}
	}
	m, isM := a.asNumber()
	n, isN := b.asNumber()
	switch {
	case op == opEqual || op == opUnequal:
		same := a == b || isM && isN && m == n
		return boolScalar(same == (op == opEqual)), nil
	case !isM || !isN:
		return scalar{}, fmt.Errorf("‘%s %v %s’ wants two numbers", clipValue(a.value()), op, clipValue(b.value()))
	case op <= opGreaterEqual:
		return boolScalar(compare(op, m, n)), nil
	}
	return arithmetic(op, m, n)
}

// joinTexts appends a text to another, if a key can have the result.
func joinTexts(a, b string) (scalar, error) {
	if n := len(a) + len(b); n > MaxText {
		return scalar{}, fmt.Errorf("the text ‘%s’ would grow to %d bytes, and one has at most %d: %w",
			clipped(a), n, MaxText, ErrBound)
	}
	return scalar{kind: isText, text: a + b}, nil
}

func compare[T string | float64](op operation, a, b T) bool {
	return op == opLess && a < b || op == opLessEqual && a <= b || op == opGreater && a > b ||
		op == opGreaterEqual && a >= b
}

func arithmetic(op operation, x, y float64) (scalar, error) {
	result := x / y
	switch op {
	case opAdd:
		result = x + y
	case opSubtract:
		result = x - y
	case opMultiply:
		result = x * y
	}
	if !isFinite(result) {
		return scalar{}, fmt.Errorf("‘%v %v %v’ is no finite number", x, op, y)
	}
	return numberScalar(result), nil
}
