package bt

import "fmt"

// script runs all statements and gives the last value. Trouble is the tree's: it breaks the step.
func (x *exec) script(i int32, s *script) any {
	if s == nil {
		return nil
	}
	var v any
	for _, e := range s.stmts {
		var err error
		if v, err = x.eval(i, e); err != nil {
			x.broken(i, fmt.Errorf("script ‘%s’: %w", s.text, err))
			return nil
		}
	}
	return v
}

// truth is the last value of a script as yes or no.
func (x *exec) truth(i int32, s *script) bool {
	v := x.script(i, s)
	yes, err := truthy(v)
	if err != nil && x.err == nil {
		x.broken(i, fmt.Errorf("script ‘%s’: %w", s.text, err))
	}
	return yes
}

func truthy(v any) (bool, error) {
	switch t := v.(type) {
	case bool:
		return t, nil
	case float64:
		return t != 0, nil
	}
	return false, fmt.Errorf("‘%v’ is neither true nor false", v)
}

func (x *exec) eval(i int32, e *expr) (any, error) {
	switch e.op {
	case "lit":
		return e.lit, nil
	case "key":
		v := x.s.Slots[e.slot]
		if v == nil {
			return nil, x.unwritten(e.slot)
		}
		c, err := basic(v)
		if err != nil {
			return nil, fmt.Errorf("key {%s}: %w", e.key, err)
		}
		return c, nil
	}
	left, err := x.eval(i, e.kids[0])
	if err != nil {
		return nil, err
	}
	switch e.op {
	case "?:":
		yes, err := truthy(left)
		switch {
		case err != nil:
			return nil, err
		case yes:
			return x.eval(i, e.kids[1])
		}
		return x.eval(i, e.kids[2])
	case ":=", "=", "+=", "-=", "*=", "/=":
		return left, x.assign(i, e, left)
	case "!":
		yes, err := truthy(left)
		return !yes, err
	case "neg":
		f, ok := left.(float64)
		if !ok {
			return nil, fmt.Errorf("‘-’ wants a number, not ‘%v’", left)
		}
		return -f, nil
	case "&&", "||":
		yes, err := truthy(left)
		if err != nil || yes == (e.op == "||") {
			return yes, err
		}
		right, err := x.eval(i, e.kids[1])
		if err != nil {
			return nil, err
		}
		return truthy(right)
	}
	right, err := x.eval(i, e.kids[1])
	if err != nil {
		return nil, err
	}
	return binaryOp(e.op, left, right)
}

func (x *exec) assign(i int32, e *expr, v any) error {
	old := x.s.Slots[e.slot]
	if e.op != ":=" {
		if old == nil {
			return fmt.Errorf("key {%s} does not exist: ‘:=’ creates it", e.key)
		}
		if e.op != "=" {
			was, err := basic(old)
			if err == nil {
				v, err = binaryOp(e.op[:1], was, v)
			}
			if err != nil {
				return err
			}
		}
	}
	fit, err := x.t.slots[e.slot].convert(v)
	if err != nil {
		return fmt.Errorf("key {%s}: %w", e.key, err)
	}
	x.write(i, e.slot, fit)
	return nil
}

func binaryOp(op string, a, b any) (any, error) {
	x, xNum := numberOf(a)
	y, yNum := numberOf(b)
	switch op {
	case "..":
		return textOf(a) + textOf(b), nil
	case "==", "!=":
		same := a == b
		if xNum && yNum {
			same = x == y
		}
		return same == (op == "=="), nil
	}
	s, sText := a.(string)
	t, tText := b.(string)
	if sText && tText {
		switch op {
		case "+":
			return s + t, nil
		case "<":
			return s < t, nil
		case "<=":
			return s <= t, nil
		case ">":
			return s > t, nil
		case ">=":
			return s >= t, nil
		}
	}
	if !xNum || !yNum {
		return nil, fmt.Errorf("‘%v %s %v’ wants two numbers", a, op, b)
	}
	switch op {
	case "<":
		return x < y, nil
	case "<=":
		return x <= y, nil
	case ">":
		return x > y, nil
	case ">=":
		return x >= y, nil
	}
	return arithmetic(op, x, y)
}

func arithmetic(op string, x, y float64) (any, error) {
	result := x / y
	switch op {
	case "+":
		result = x + y
	case "-":
		result = x - y
	case "*":
		result = x * y
	}
	if !isFinite(result) {
		return nil, fmt.Errorf("‘%v %s %v’ is no finite number", x, op, y)
	}
	return result, nil
}

// numberOf reads a number, also from a text that is one, as BT.CPP does when it compares.
func numberOf(v any) (float64, bool) {
	switch t := v.(type) {
	case float64:
		return t, true
	case bool:
		if t {
			return 1, true
		}
		return 0, true
	case string:
		return parseNumber(t)
	}
	return 0, false
}
