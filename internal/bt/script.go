package bt

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// script is a parsed expression of BT.CPP's scripting language: statements separated by semicolons, `:=` creates a key, `=`
// and `+= -= *= /=` want it to exist; arithmetic, comparison, logic, `..` joins texts, `? :` chooses. All numbers are
// doubles. Texts stand in single quotes.
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

// maxScript is the longest script, in bytes. It bounds how deep one can nest.
const maxScript = 4096

type scriptParser struct {
	text string
	pos  int
	tok  string // the current token
	kind tokenKind
	at   int // where it begins
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
	p.next()
	for p.kind != noToken {
		s.stmts = append(s.stmts, p.statement())
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

func (p *scriptParser) is(op string) bool { return p.kind == operatorToken && p.tok == op }

func (p *scriptParser) accept(op string) bool {
	if p.is(op) {
		p.next()
		return true
	}
	return false
}

var scriptOperators = []string{":=", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", "&&", "||", "..",
	"=", "<", ">", "+", "-", "*", "/", "!", "?", ":", "(", ")", ";"}

var scriptNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)
})

func (p *scriptParser) next() {
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
		p.take(textToken, text)
		p.pos += len("''")
	case '0' <= first && first <= '9':
		p.take(numberToken, scriptNumber().FindString(rest))
	case isWordStart(first):
		p.take(wordToken, wordOf(rest))
		if p.tok == "@" {
			p.fail("‘@’ wants a key")
		}
	default:
		for _, op := range scriptOperators {
			if strings.HasPrefix(rest, op) {
				p.take(operatorToken, op)
				return
			}
		}
		p.fail("‘%c’ means nothing here", first)
	}
}

func (p *scriptParser) take(kind tokenKind, tok string) {
	p.kind, p.tok = kind, tok
	p.pos += len(tok)
}

func isWordStart(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '@' }

// wordOf is the word that text begins with.
func wordOf(text string) string {
	for i, r := range text {
		if i > 0 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return text[:i]
		}
	}
	return text
}

var assignments = map[string]bool{":=": true, "=": true, "+=": true, "-=": true, "*=": true, "/=": true}

func (p *scriptParser) statement() *expr {
	left := p.ternary()
	if p.kind != operatorToken || !assignments[p.tok] {
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
	for p.kind == operatorToken && precedence[level][p.tok] {
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
	switch {
	case p.kind == numberToken:
		f, err := strconv.ParseFloat(p.tok, 64)
		if err != nil {
			p.fail("‘%s’ is not a number", p.tok)
		}
		e.lit = f
	case p.kind == textToken:
		e.lit = p.tok
	case p.kind == wordToken && (p.tok == "true" || p.tok == "false"):
		e.lit = p.tok == "true"
	case p.kind == wordToken:
		e.op, e.key = "key", p.tok
	default:
		p.fail("a value is missing")
	}
	p.next()
	return e
}
