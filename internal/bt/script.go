package bt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// script is a parsed expression of BT.CPP's scripting language: statements separated by semicolons, `:=` creates a key, `=`
// and `+= -= *= /=` want it to exist; arithmetic, comparison, logic, `..` joins texts, `? :` chooses. All numbers are
// doubles. Strings stand in single quotes.
type script struct {
	text  string
	stmts []*expr
}

type expr struct {
	op   string // "lit", "key", an operator, an assignment, "?:"
	lit  any
	slot int32
	key  string
	pos  int // offset in the text
	kids []*expr
}

// scriptError says where in the script's text the trouble is.
type scriptError struct {
	pos int
	msg string
}

func (e *scriptError) Error() string { return e.msg }

type scriptParser struct {
	text string
	pos  int
	tok  string // the current token; "" at the end
	kind rune   // 'n' number, 's' string, 'i' identifier, 'o' operator
	at   int
}

// parseScript reads a script. Keys get their slots later, from the compiler.
func parseScript(text string) (s *script, err error) {
	p := &scriptParser{text: text}
	defer func() {
		if r := recover(); r != nil {
			e, ours := r.(*scriptError)
			if !ours {
				panic(r)
			}
			s, err = nil, e
		}
	}()
	s = &script{text: strings.TrimSpace(text)}
	p.next()
	for p.tok != "" {
		s.stmts = append(s.stmts, p.statement())
		if p.tok != "" && !p.accept(";") {
			p.fail("unexpected ‘%s’", p.tok)
		}
	}
	if len(s.stmts) == 0 {
		p.fail("the script is empty")
	}
	return s, nil
}

func (p *scriptParser) fail(format string, args ...any) {
	panic(&scriptError{pos: p.at, msg: fmt.Sprintf(format, args...)})
}

func (p *scriptParser) accept(op string) bool {
	if p.kind == 'o' && p.tok == op {
		p.next()
		return true
	}
	return false
}

var scriptOperators = []string{":=", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "..",
	"=", "<", ">", "+", "-", "*", "/", "!", "?", ":", "(", ")", ";"}

func (p *scriptParser) next() {
	for p.pos < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.pos])) {
		p.pos++
	}
	p.at = p.pos
	rest := p.text[p.pos:]
	if rest == "" {
		p.tok, p.kind = "", 0
		return
	}
	r, _ := utf8.DecodeRuneInString(rest)
	switch {
	case r == '\'':
		end := strings.IndexByte(rest[1:], '\'')
		if end < 0 {
			p.fail("a text that begins with ' does not end")
		}
		p.tok, p.kind = rest[1:end+1], 's'
		p.pos += end + 2
		if p.tok == "" {
			p.tok = "\x00" // an empty text must not look like the end
		}
	case unicode.IsDigit(r):
		end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != 'e' && r != 'E' })
		if end < 0 {
			end = len(rest)
		}
		if dots := strings.Index(rest[:end], ".."); dots >= 0 {
			end = dots
		}
		p.tok, p.kind = rest[:end], 'n'
		p.pos += end
	case unicode.IsLetter(r) || r == '_' || r == '@':
		end := strings.IndexFunc(rest[1:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' })
		if end < 0 {
			end = len(rest) - 1
		}
		p.tok, p.kind = rest[:end+1], 'i'
		p.pos += end + 1
	default:
		for _, op := range scriptOperators {
			if strings.HasPrefix(rest, op) {
				p.tok, p.kind = op, 'o'
				p.pos += len(op)
				return
			}
		}
		p.fail("‘%c’ means nothing here", r)
	}
}

var assignments = map[string]bool{":=": true, "=": true, "+=": true, "-=": true, "*=": true, "/=": true}

func (p *scriptParser) statement() *expr {
	left := p.ternary()
	if p.kind != 'o' || !assignments[p.tok] {
		return left
	}
	if left.op != "key" {
		p.fail("‘%s’ wants a key on its left", p.tok)
	}
	e := &expr{op: p.tok, key: left.key, pos: left.pos}
	p.next()
	e.kids = []*expr{p.ternary()}
	return e
}

func (p *scriptParser) ternary() *expr {
	cond := p.binary(0)
	if !p.accept("?") {
		return cond
	}
	e := &expr{op: "?:", pos: cond.pos, kids: []*expr{cond, p.ternary()}}
	if !p.accept(":") {
		p.fail("‘?’ wants a ‘:’")
	}
	e.kids = append(e.kids, p.ternary())
	return e
}

var precedence = []map[string]bool{
	{"||": true}, {"&&": true}, {"==": true, "!=": true}, {"<": true, "<=": true, ">": true, ">=": true},
	{"..": true}, {"+": true, "-": true}, {"*": true, "/": true},
}

func (p *scriptParser) binary(level int) *expr {
	if level == len(precedence) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for p.kind == 'o' && precedence[level][p.tok] {
		e := &expr{op: p.tok, pos: p.at, kids: []*expr{left}}
		p.next()
		e.kids = append(e.kids, p.binary(level+1))
		left = e
	}
	return left
}

func (p *scriptParser) unary() *expr {
	at := p.at
	switch {
	case p.accept("!"):
		return &expr{op: "!", pos: at, kids: []*expr{p.unary()}}
	case p.accept("-"):
		return &expr{op: "neg", pos: at, kids: []*expr{p.unary()}}
	case p.accept("("):
		e := p.ternary()
		if !p.accept(")") {
			p.fail("a ‘)’ is missing")
		}
		return e
	}
	e := &expr{op: "lit", pos: at}
	switch p.kind {
	case 'n':
		f, err := strconv.ParseFloat(p.tok, 64)
		if err != nil {
			p.fail("‘%s’ is not a number", p.tok)
		}
		e.lit = f
	case 's':
		e.lit = strings.TrimPrefix(p.tok, "\x00")
	case 'i':
		switch p.tok {
		case "true", "false":
			e.lit = p.tok == "true"
		default:
			e.op, e.key = "key", p.tok
		}
	default:
		p.fail("a value is missing")
	}
	p.next()
	return e
}

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
			return nil, fmt.Errorf("key {%s} was not written yet", e.key)
		}
		c, err := scriptValue(v)
		if err != nil {
			return nil, fmt.Errorf("key {%s}: %w", e.key, err)
		}
		return c, nil
	case "?:":
		v, err := x.eval(i, e.kids[0])
		if err != nil {
			return nil, err
		}
		yes, err := truthy(v)
		if err != nil {
			return nil, err
		}
		if yes {
			return x.eval(i, e.kids[1])
		}
		return x.eval(i, e.kids[2])
	}
	left, err := x.eval(i, e.kids[0])
	if err != nil {
		return nil, err
	}
	switch e.op {
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
			was, err := scriptValue(old)
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

// scriptValue is a blackboard value as scripts see it: numbers are float64, named texts are string.
func scriptValue(v any) (any, error) {
	for _, t := range basicTypes {
		if c, err := convertTo(v, t); err == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%T is not a text, number or bool", v)
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
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/":
		if y == 0 {
			return nil, fmt.Errorf("%v is divided by zero", x)
		}
		return x / y, nil
	case "<":
		return x < y, nil
	case "<=":
		return x <= y, nil
	case ">":
		return x > y, nil
	}
	return x >= y, nil
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
		f, err := strconv.ParseFloat(t, 64)
		return f, err == nil && !math.IsNaN(f)
	}
	return 0, false
}
