package bt

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// element is an XML element with its place.
type element struct {
	name   string
	attrs  []attribute
	kids   []*element
	at     int    // byte offset of its ‘<’
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

// parse reads the file into elements; on a syntax error it notes one problem and returns nil.
func (s *source) parse() *element {
	d := xml.NewDecoder(bytes.NewReader(s.text))
	var root element // stands above the root element
	stack := []*element{&root}
	for {
		before := int(d.InputOffset())
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.syntaxProblem(int(d.InputOffset()), err)
			return nil
		}
		top := stack[len(stack)-1]
		switch tok := tok.(type) {
		case xml.StartElement:
			e := s.element(tok, before)
			if len(stack) > maxDepth {
				s.problem(e.at, "move inner parts into trees of their own", "elements are nested deeper than %d", maxDepth)
				return nil
			}
			top.kids = append(top.kids, e)
			stack = append(stack, e)
		case xml.EndElement:
			name := qualified(tok.Name)
			switch {
			case len(stack) == 1:
				s.problem(before, "", "</%s> closes nothing that is open", name)
				return nil
			case top.name != name:
				p := s.place(top.at)
				s.problem(before, "", "</%s> does not close <%s> of line %d", name, top.name, p.line)
				return nil
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if text := bytes.TrimSpace(tok); len(text) > 0 && top.text == "" {
				top.text, top.textAt = string(text), s.skipSpace(before)
			}
		}
	}
	if open := stack[len(stack)-1]; open != &root {
		s.problem(open.at, "", "<%s> is never closed", open.name)
		return nil
	}
	return s.onlyRoot(&root)
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
func (s *source) element(tok xml.StartElement, at int) *element {
	e := &element{name: qualified(tok.Name), at: at}
	pos := at + 1 + len(e.name)
	for _, a := range tok.Attr {
		pos = s.skipSpace(pos)
		open := pos + bytes.IndexAny(s.text[pos:], `"'`) + 1
		name := qualified(a.Name)
		if _, twice := e.attr(name); twice {
			s.problem(pos, "", "attribute %s stands twice", name)
		}
		e.attrs = append(e.attrs, attribute{name: name, value: a.Value, at: pos, open: open})
		pos = open + bytes.IndexByte(s.text[open:], s.text[open-1]) + 1
	}
	return e
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
			long := bytes.IndexByte(raw, ';') + 1
			at += long
			pos -= entityLen(raw[:long])
		case bytes.HasPrefix(raw, []byte("\r\n")):
			at += 2
			pos--
		default:
			at++
			pos--
		}
	}
	return at
}

// entityLen is how many bytes an entity stands for.
func entityLen(entity []byte) int {
	var char string
	if err := xml.Unmarshal([]byte("<a>"+string(entity)+"</a>"), &char); err != nil {
		return 1
	}
	return max(1, utf8.RuneLen([]rune(char + " ")[0]))
}
