package bt

import (
	"bytes"
	"encoding/xml"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// element is an XML element with its place.
type element struct {
	name   string
	attrs  []attribute
	kids   []*element
	at     int    // byte offset of its ‘<’
	closes bool   // it is a closing tag
	text   string // the first text in it that is not blank
	textAt int
}

type attribute struct {
	name, value string
	at          int // byte offset of its name
	open        int // … of its value, after the quote
}

func (e *element) attr(name string) (attribute, bool) {
	for _, a := range e.attrs {
		if a.name == name {
			return a, true
		}
	}
	return attribute{}, false
}

const maxDepth = 200

// parse reads the file into elements; on a syntax error it notes one problem and returns nil. Plain tags and comments are read here;
// encoding/xml reads all else, token by token, and words what is wrong.
func (s *source) parse() *element {
	var root element // stands above the root element
	stack := []*element{&root}
	for pos := 0; pos < len(s.text); {
		top := stack[len(stack)-1]
		e, next := s.plainTag(pos)
		var tok xml.Token
		if next == pos {
			if next = s.comment(pos); next > pos {
				pos = next
				continue
			}
			d := xml.NewDecoder(strings.NewReader(s.text[pos:]))
			var err error
			tok, err = d.RawToken()
			next = pos + int(d.InputOffset())
			if err != nil {
				s.syntaxProblem(next, err)
				return nil
			}
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e = s.element(tok, pos)
		case xml.EndElement:
			e = element{name: qualified(tok.Name), at: pos, closes: true}
		case xml.CharData:
			if text := bytes.TrimSpace(tok); len(text) > 0 && top.text == "" {
				top.text, top.textAt = string(text), s.skipSpace(pos)
			}
		}
		switch {
		case e.name == "":
		case !e.closes:
			s.twice(&e)
			if len(stack) > maxDepth {
				s.problem(e.at, "move inner parts into trees of their own", "elements are nested deeper than %d", maxDepth)
				return nil
			}
			kept := &element{}
			*kept = e
			top.kids = append(top.kids, kept)
			if s.text[next-2] != '/' {
				stack = append(stack, kept)
			}
		case len(stack) == 1:
			s.problem(e.at, "", "</%s> closes nothing that is open", e.name)
			return nil
		case top.name != e.name:
			p := s.place(top.at)
			s.problem(e.at, "", "</%s> does not close <%s> of line %d", e.name, top.name, p.line)
			return nil
		default:
			stack = stack[:len(stack)-1]
		}
		pos = next
	}
	if open := stack[len(stack)-1]; open != &root {
		s.problem(open.at, "", "<%s> is never closed", open.name)
		return nil
	}
	return s.onlyRoot(&root)
}

// plainTag reads a tag whose names are ASCII without a prefix, and whose values stand for themselves. At anything else, next is at.
func (s *source) plainTag(at int) (e element, next int) {
	if s.text[at] != '<' {
		return element{}, at
	}
	e.at = at
	pos := at + len("<")
	if strings.HasPrefix(s.text[pos:], "/") {
		e.closes = true
		pos++
	}
	e.name = plainName(s.text[pos:])
	pos += len(e.name)
	first := len(s.attrs)
	for e.name != "" {
		pos = s.skipSpace(pos)
		e.attrs = s.attrs[first:len(s.attrs):len(s.attrs)]
		switch rest := s.text[pos:]; {
		case strings.HasPrefix(rest, ">"):
			return e, pos + len(">")
		case !e.closes && strings.HasPrefix(rest, "/>"):
			return e, pos + len("/>")
		}
		a := s.plainAttribute(pos)
		if e.closes || a.open == 0 {
			break
		}
		pos = a.open + len(a.value) + 1
		s.attrs = append(s.attrs, a)
	}
	return element{}, at
}

// plainAttribute reads an attribute of a plain tag; without open there is none.
func (s *source) plainAttribute(at int) attribute {
	a := attribute{name: plainName(s.text[at:]), at: at}
	pos := s.skipSpace(at + len(a.name))
	if a.name == "" || !strings.HasPrefix(s.text[pos:], "=") {
		return attribute{}
	}
	pos = s.skipSpace(pos + len("="))
	if pos == len(s.text) || s.text[pos] != '"' && s.text[pos] != '\'' {
		return attribute{}
	}
	a.open = pos + 1
	long := strings.IndexByte(s.text[a.open:], s.text[pos])
	if long < 0 || !isPlain(s.text[a.open:a.open+long]) {
		return attribute{}
	}
	a.value = s.text[a.open : a.open+long]
	return a
}

func plainName(text string) string {
	for i := range len(text) {
		c := text[i]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'; !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.') {
			return text[:i]
		}
	}
	return text
}

// isPlain says whether a value stands for itself: XML neither refuses nor changes anything in it.
func isPlain(value string) bool {
	ascii := true
	for i := range len(value) {
		switch c := value[i]; {
		case c < ' ' && c != '\n' && c != '\t', c == '&', c == '<':
			return false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return ascii || utf8.ValidString(value) && !strings.ContainsAny(value, "\ufffe\uffff")
}

// comment is the end of the comment or the space at a place; the place itself where neither is.
func (s *source) comment(at int) int {
	if inner, ok := strings.CutPrefix(s.text[at:], "<!--"); ok {
		if long := strings.Index(inner, "--"); long >= 0 && strings.HasPrefix(inner[long:], "-->") {
			return at + len("<!--") + long + len("-->")
		}
	}
	if next := s.skipSpace(at); next == len(s.text) || s.text[next] == '<' {
		return next
	}
	return at
}

// onlyRoot gives the one element that a document has; on a problem, nil.
func (s *source) onlyRoot(document *element) *element {
	switch {
	case document.text != "":
		s.problem(document.textAt, "", "text stands outside the root element")
	case len(document.kids) == 0:
		s.problem(0, writeRoot, "there is no root element")
	case len(document.kids) > 1:
		second := document.kids[1]
		s.problem(second.at, "put all trees into one <root>", "a second root element <%s>", second.name)
	default:
		return document.kids[0]
	}
	return nil
}

func (s *source) syntaxProblem(at int, err error) {
	var syntax *xml.SyntaxError
	if !errors.As(err, &syntax) {
		what, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "xml: "), " declared")
		s.problem(at, `save it as UTF-8, beginning with <?xml version="1.0" encoding="UTF-8"?>`, "the file can't be read: %s", what)
		return
	}
	hint := ""
	if strings.Contains(syntax.Msg, "entity") || strings.Contains(syntax.Msg, "unescaped <") {
		hint = "in XML, write &amp; for & and &lt; for <"
	}
	s.problem(at, hint, "this is not XML: %s", syntax.Msg)
}

// element notes where each attribute stands, by walking the tag's own text: the decoder has checked its form.
func (s *source) element(tok xml.StartElement, at int) element {
	e := element{name: qualified(tok.Name), at: at}
	pos := at + 1 + len(e.name)
	for _, a := range tok.Attr {
		pos = s.skipSpace(pos)
		open := pos + strings.IndexAny(s.text[pos:], `"'`) + 1
		e.attrs = append(e.attrs, attribute{name: qualified(a.Name), value: a.Value, at: pos, open: open})
		pos = open + strings.IndexByte(s.text[open:], s.text[open-1]) + 1
	}
	return e
}

// twice notes attributes that stand twice in an element.
func (s *source) twice(e *element) {
	for k, a := range e.attrs {
		if slices.ContainsFunc(e.attrs[:k], func(b attribute) bool { return a.name == b.name }) {
			s.problem(a.at, "", "attribute %s stands twice", a.name)
		}
	}
}

func qualified(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func (s *source) skipSpace(at int) int {
	for at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at]) >= 0 {
		at++
	}
	return at
}

// inValue is the offset in the file of byte pos of an attribute's value. They run apart where the file has an entity, or
// ends a line with two characters.
func (s *source) inValue(a attribute, pos int) int {
	at := a.open
	for pos > 0 && at < len(s.text) {
		switch raw := s.text[at:]; {
		case raw[0] == '&':
			long := strings.IndexByte(raw, ';') + 1
			at += long
			pos -= entityLen(raw[:long])
		case strings.HasPrefix(raw, "\r\n"):
			at += 2
			pos--
		default:
			at++
			pos--
		}
	}
	return at
}

// entityLen is how many bytes an entity stands for. All that have a name stand for one.
func entityLen(entity string) int {
	number, isNumber := strings.CutPrefix(strings.TrimSuffix(entity, ";"), "&#")
	if !isNumber {
		return 1
	}
	base := 10
	if hex, ok := strings.CutPrefix(number, "x"); ok {
		number, base = hex, 16
	}
	char, err := strconv.ParseInt(number, base, 32)
	if err != nil {
		return 1
	}
	return max(1, utf8.RuneLen(rune(char)))
}
