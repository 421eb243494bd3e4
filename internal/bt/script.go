package bt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// script is a parsed expression of BT.CPP's scripting language: statements separated by semicolons, `:=` creates a key,
// `=` and `+= -= *= /=` require it to exist; arithmetic, comparison, logic, `..` joins texts, `? :` chooses. Numbers
// are doubles. Texts are in single quotes.
type script struct {
	text    string
	negated string // the reason if it is not true
	stmts   []*expr
}

type expr struct {
	op       operation
	updateOp operation // of an update: the operation on the old and the new value
	slot     int32
	lit      scalar
	key      string
	pos      int // offset in the text
	kids     []*expr
}

type operation uint8

const (
	opLiteral operation = iota
	opKey
	opChoice // ?:
	opNot
	opNegative
	opCreate // :=
	opAssign // =
	opUpdate // += and the like
	opOr
	opAnd
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opJoin
	opAdd
	opSubtract
	opMultiply
	opDivide
)

// operator is a symbol of the language. The level of a binary operator says how tightly it binds; 0: it is not binary.
type operator struct {
	text     string
	op       operation
	updateOp operation
	level    int
}

// operators are tried in this order. A symbol without an operation is punctuation, or its meaning depends on its place.
var operators = []operator{
	{text: ":=", op: opCreate}, {text: "+=", op: opUpdate, updateOp: opAdd},
	{text: "-=", op: opUpdate, updateOp: opSubtract}, {text: "*=", op: opUpdate, updateOp: opMultiply},
	{text: "/=", op: opUpdate, updateOp: opDivide}, {text: "==", op: opEqual, level: 3},
	{text: "!=", op: opUnequal, level: 3}, {text: "<=", op: opLessEqual, level: 4},
	{text: ">=", op: opGreaterEqual, level: 4},
	{text: "&&", op: opAnd, level: 2}, {text: "||", op: opOr, level: 1}, {text: "..", op: opJoin, level: 5},
	{text: "=", op: opAssign},
	{text: "<", op: opLess, level: 4}, {text: ">", op: opGreater, level: 4}, {text: "+", op: opAdd, level: 6},
	{text: "-", op: opSubtract, level: 6},
	{text: "*", op: opMultiply, level: 7}, {text: "/", op: opDivide, level: 7}, {text: "!"}, {text: "?"}, {text: ":"},
	{text: "("}, {text: ")"}, {text: ";"},
}

func (o operation) String() string {
	return operators[slices.IndexFunc(operators, func(known operator) bool { return known.op == o })].text
}

// scriptError is an error at a place of a script.
type scriptError struct {
	pos int
	msg string
}

func (e *scriptError) Error() string { return e.msg }

type scriptParser struct {
	text string
	pos  int
	tok  string // the current token
	kind tokenKind
	word operator // if it is one
	at   int      // where it begins
}

type tokenKind uint8

const (
	noToken tokenKind = iota // the end
	numberToken
	textToken
	wordToken // true, false or a key
	operatorToken
)

// parseScript reads a script; an error is a *scriptError. Keys get their slots later, from the compiler.
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
	if len(text) > maxScript {
		p.fail("the script is longer than %d bytes", maxScript)
	}
	s = &script{text: strings.TrimSpace(text)}
	s.negated = "not " + s.text
	p.nextToken()
	for p.kind != noToken {
		s.stmts = append(s.stmts, p.parseStatement())
		if p.kind != noToken && !p.accept(";") {
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

func (p *scriptParser) isAt(op string) bool { return p.kind == operatorToken && p.tok == op }

func (p *scriptParser) accept(op string) bool {
	if p.isAt(op) {
		p.nextToken()
		return true
	}
	return false
}

func (p *scriptParser) nextToken() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.at = p.pos
	rest := p.text[p.pos:]
	switch first, _ := utf8.DecodeRuneInString(rest); {
	case rest == "":
		p.tok, p.kind = "", noToken
	case first == '\'':
		text, _, closed := strings.Cut(rest[1:], "'")
		if !closed {
			p.fail("a text that begins with ' does not end")
		}
		p.setToken(textToken, text)
		p.pos += len("''")
	case '0' <= first && first <= '9':
		p.setToken(numberToken, numberRE.FindString(rest))
	case isWordStart(first):
		p.setToken(wordToken, leadingWord(rest))
		if p.tok == "@" {
			p.fail("‘@’ wants a key")
		}
	default:
		for _, word := range operators {
			if strings.HasPrefix(rest, word.text) {
				p.setToken(operatorToken, word.text)
				p.word = word
				return
			}
		}
		p.fail("‘%c’ means nothing here", first)
	}
}

func (p *scriptParser) setToken(kind tokenKind, tok string) {
	p.kind, p.tok = kind, tok
	p.pos += len(tok)
}

func isWordStart(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '@' }

// leadingWord is the word at the beginning of a text.
func leadingWord(text string) string {
	for i, r := range text {
		if i > 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return text[:i]
		}
	}
	return text
}

// numberRE matches digits, a fraction, an exponent.
var numberRE = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

func (p *scriptParser) parseStatement() *expr {
	left := p.parseTernary()
	if p.kind != operatorToken || p.word.op < opCreate || p.word.op > opUpdate {
		return left
	}
	if left.op != opKey {
		p.fail("‘%s’ wants a key on its left", p.tok)
	}
	e := &expr{op: p.word.op, updateOp: p.word.updateOp, key: left.key, pos: left.pos}
	p.nextToken()
	e.kids = []*expr{p.parseTernary()}
	return e
}

func (p *scriptParser) parseTernary() *expr {
	cond := p.parseBinary(1)
	if !p.accept("?") {
		return cond
	}
	e := &expr{op: opChoice, pos: cond.pos, kids: []*expr{cond, p.parseTernary()}}
	if !p.accept(":") {
		p.fail("‘?’ wants a ‘:’")
	}
	e.kids = append(e.kids, p.parseTernary())
	return e
}

// parseBinary parses operators that bind at least as tightly as level; operators of one level group from the left.
func (p *scriptParser) parseBinary(level int) *expr {
	left := p.parseUnary()
	for p.kind == operatorToken && p.word.level >= level {
		e := &expr{op: p.word.op, pos: p.at, kids: make([]*expr, 2)}
		tighter := p.word.level + 1
		p.nextToken()
		e.kids[0], e.kids[1] = left, p.parseBinary(tighter)
		left = e
	}
	return left
}

func (p *scriptParser) parseUnary() *expr {
	at := p.at
	switch {
	case p.accept("!"):
		return &expr{op: opNot, pos: at, kids: []*expr{p.parseUnary()}}
	case p.accept("-"):
		return &expr{op: opNegative, pos: at, kids: []*expr{p.parseUnary()}}
	case p.accept("("):
		e := p.parseTernary()
		if !p.accept(")") {
			p.fail("a ‘)’ is missing")
		}
		return e
	}
	e := &expr{op: opLiteral, pos: at}
	switch {
	case p.kind == numberToken:
		f, err := strconv.ParseFloat(p.tok, 64)
		if err != nil {
			p.fail("‘%s’ is not a number", p.tok)
		}
		e.lit = numberScalar(f)
	case p.kind == textToken:
		e.lit = scalar{kind: isText, text: p.tok}
	case p.kind == wordToken && (p.tok == "true" || p.tok == "false"):
		e.lit = boolScalar(p.tok == "true")
	case p.kind == wordToken:
		e.op, e.key = opKey, p.tok
	default:
		p.fail("a value is missing")
	}
	p.nextToken()
	return e
}
