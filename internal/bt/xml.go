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

// parse parses the file into elements; on a syntax error it adds one problem and returns nil. It reads plain tags,
// comments and space itself. encoding/xml reads everything else, token by token, and says what is wrong.
func (s *source) parse() *element {
	if len(s.text) > maxFile {
		s.problem(0, "", "the file has %d bytes, and one of at most %d is read", len(s.text), maxFile)
		return nil
	}
	s.attrs = make([]attribute, 0, strings.Count(s.text, `="`))
	var root element // the parent of the root element
	stack := []*element{&root}
	for pos := s.skipComments(0); pos < len(s.text); pos = s.skipComments(pos) {
		top := stack[len(stack)-1]
		if n := closingTagLength(s.text[pos:], top.name); len(stack) > 1 && n > 0 {
			pos += n
			stack = stack[:len(stack)-1]
			continue
		}
		e, next, plain := s.readTag(pos)
		if !plain {
			next = s.readToken(pos, top, e)
		}
		switch {
		case next < 0:
			return nil
		case e == nil:
		case e.closes && len(stack) == 1:
			s.problem(pos, "", "</%s> closes nothing that is open", e.name)
			return nil
		case e.closes && top.name != e.name:
			s.problem(pos, "", "</%s> does not close <%s> of line %d", e.name, top.name, s.positionOf(top.at).line)
			return nil
		case e.closes:
			stack = stack[:len(stack)-1]
		case !s.checkElement(e):
			return nil
		case len(stack) > maxDepth:
			s.problem(pos, "move inner parts into trees of their own", "elements are nested deeper than %d", maxDepth)
			return nil
		default:
			top.kids = append(top.kids, e)
			if s.text[next-2] != '/' {
				stack = append(stack, e)
			}
		}
		pos = next
	}
	if open := stack[len(stack)-1]; open != &root {
		s.problem(open.at, "", "<%s> is never closed", open.name)
		return nil
	}
	return s.rootElement(&root)
}

// readToken has encoding/xml read the token at a place: the values of e, if it is a tag, or text in top. It returns the
// place after it; -1 if there is a problem.
func (s *source) readToken(at int, top, e *element) int {
	d := xml.NewDecoder(strings.NewReader(s.text[at:]))
	tok, err := d.RawToken()
	next := at + int(d.InputOffset())
	if err != nil {
		s.syntaxProblem(next, err)
		return -1
	}
	switch tok := tok.(type) {
	case xml.StartElement:
		for k, a := range tok.Attr {
			e.attrs[k].value = a.Value
		}
	case xml.CharData:
		if text := bytes.TrimSpace(tok); len(text) > 0 && top.text == "" {
			top.text, top.textAt = string(text), s.skipSpace(at)
		}
	}
	return next
}

// skipComments is the place after the comments and the space at a place.
func (s *source) skipComments(at int) int {
	for {
		next := s.skipSpace(at)
		if next < len(s.text) && s.text[next] != '<' {
			return at // the space belongs to the text
		}
		inner, isComment := strings.CutPrefix(s.text[next:], "<!--")
		if !isComment {
			return next
		}
		long := strings.Index(inner, "--")
		if long < 0 || !strings.HasPrefix(inner[long:], "-->") {
			return next
		}
		at = next + len("<!--") + long + len("-->")
	}
}

// readTag finds the parts of a tag; nil if there is none. A tag is plain if XML neither refuses nor changes anything in
// it; of any other tag only the places are right.
func (s *source) readTag(at int) (e *element, next int, plain bool) {
	pos := at + len("<")
	if s.text[at] != '<' || strings.HasPrefix(s.text[pos:], "!") || strings.HasPrefix(s.text[pos:], "?") {
		return nil, at, false
	}
	e = &element{at: at, closes: strings.HasPrefix(s.text[pos:], "/")}
	if e.closes {
		pos++
	}
	e.name, plain = s.readName(pos)
	pos += len(e.name)
	first := len(s.attrs)
	for {
		pos = s.skipSpace(pos)
		e.attrs = s.attrs[first:len(s.attrs):len(s.attrs)]
		switch rest := s.text[pos:]; {
		case strings.HasPrefix(rest, ">"):
			return e, pos + len(">"), plain && !(e.closes && len(e.attrs) > 0)
		case strings.HasPrefix(rest, "/>"):
			return e, pos + len("/>"), plain && !e.closes
		}
		name, known := s.readName(pos)
		a := attribute{name: name, at: pos}
		pos = s.skipSpace(pos + len(name))
		if name == "" || !strings.HasPrefix(s.text[pos:], "=") {
			return e, pos, false
		}
		if pos = s.skipSpace(pos + len("=")); pos == len(s.text) || s.text[pos] != '"' && s.text[pos] != '\'' {
			return e, pos, false
		}
		a.open = pos + 1
		long := strings.IndexByte(s.text[a.open:], s.text[pos])
		if long < 0 {
			return e, pos, false
		}
		a.value = s.text[a.open : a.open+long]
		pos = a.open + long + 1
		plain = plain && known && isPlain(a.value)
		s.attrs = append(s.attrs, a)
	}
}

// readName is the name at a place; plain says that it is certainly valid.
func (s *source) readName(at int) (name string, plain bool) {
	end := at
	for end < len(s.text) && strings.IndexByte(" \t\r\n=/>", s.text[end]) < 0 {
		end++
	}
	return s.text[at:end], isWord(strings.TrimLeft(s.text[at:end], "_"))
}

// isPlain says whether a value certainly has no escapes.
func isPlain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\n' && c != '\t' || c == '&' || c == '<' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// rootElement is the one element of a document; nil if there is a problem.
func (s *source) rootElement(document *element) *element {
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
		s.problem(at, `save it as UTF-8, beginning with <?xml version="1.0" encoding="UTF-8"?>`,
			"the file can't be read: %s", what)
		return
	}
	hint := ""
	if strings.Contains(syntax.Msg, "entity") || strings.Contains(syntax.Msg, "unescaped <") {
		hint = "in XML, write &amp; for & and &lt; for <"
	}
	s.problem(at, hint, "this is not XML: %s", syntax.Msg)
}

// closingTagLength is the length of the closing tag of an element in its usual form, if text begins with it; else 0.
func closingTagLength(text, name string) int {
	end := len("</") + len(name)
	if len(text) <= end || text[:len("</")] != "</" || text[end] != '>' || text[len("</"):end] != name {
		return 0
	}
	return end + len(">")
}

// checkElement reports attributes that an element has twice, and says whether it is within the bounds of a file.
func (s *source) checkElement(e *element) bool {
	if len(e.attrs) > maxAttrs {
		s.problem(e.at, "", "<%s> has %d attributes, and an element has at most %d",
			clipped(e.name), len(e.attrs), maxAttrs)
		return false
	}
	if !s.namesFit(e) {
		return false
	}
	for k, a := range e.attrs {
		if slices.ContainsFunc(e.attrs[:k], func(b attribute) bool { return a.name == b.name }) {
			s.problem(a.at, "", "attribute %s stands twice", a.name)
		}
	}
	return true
}

func (s *source) skipSpace(at int) int {
	for at < len(s.text) && strings.IndexByte(" \t\r\n", s.text[at]) >= 0 {
		at++
	}
	return at
}

// valueOffsets maps the bytes of an attribute's value to offsets in the file. They differ if the file has an entity, or
// a line break of two characters. It continues from the last place, so that all bytes of a value together take linear
// time.
type valueOffsets struct {
	src       *source
	attr      attribute
	pos, read int // bytes of the value, and of the file after its quote, that were read
}

// offset is the offset in the file of byte pos of the value.
func (v *valueOffsets) offset(pos int) int {
	if pos < v.pos {
		v.pos, v.read = 0, 0
	}
	text := v.src.text
	for v.pos < pos && v.attr.open+v.read < len(text) {
		switch raw := text[v.attr.open+v.read:]; {
		case raw[0] == '&':
			long := strings.IndexByte(raw, ';') + 1
			v.read += long
			v.pos += entityLen(raw[:long])
		case strings.HasPrefix(raw, "\r\n"):
			v.read += 2
			v.pos++
		default:
			v.read++
			v.pos++
		}
	}
	return v.attr.open + v.read
}

// entityLen is how many bytes an entity represents: 1 for all that have a name.
func entityLen(entity string) int {
	number, isNumber := strings.CutPrefix(strings.TrimSuffix(entity, ";"), "&#")
	if isNumber && strings.HasPrefix(number, "x") {
		number = "0" + number
	} else {
		number = strings.TrimLeft(number, "0")
	}
	char, _ := strconv.ParseInt(number, 0, 32)
	if !isNumber || char == 0 {
		return 1
	}
	return max(1, utf8.RuneLen(rune(char)))
}
