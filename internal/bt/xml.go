package bt

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"
)

// Problem is one thing wrong with a tree file. Line and Col count from 1, in characters.
type Problem struct {
	File      string
	Line, Col int
	Message   string
	Hint      string // what would fix it
	Warning   bool   // the tree loads all the same
}

func (p Problem) String() string {
	s := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Col)
	if p.Warning {
		s += "warning: "
	}
	s += p.Message
	if p.Hint != "" {
		s += "\n    " + p.Hint
	}
	return s
}

// LoadError holds all problems of a tree file, in the order of their places.
type LoadError struct{ Problems []Problem }

func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// element is an XML element with its place.
type element struct {
	name  string
	attrs []attribute
	kids  []*element
	text  string
	at    int // byte offset of its ‘<’
}

type attribute struct {
	name, value string
	at          int // byte offset of its name
}

func (e *element) attr(name string) (attribute, bool) {
	for _, a := range e.attrs {
		if a.name == name {
			return a, true
		}
	}
	return attribute{}, false
}

// source is a tree file with the problems found in it so far.
type source struct {
	file     string
	text     []byte
	problems []Problem
}

func (s *source) place(offset int) (line, col int) {
	before := s.text[:min(offset, len(s.text))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}

func (s *source) problem(at int, hint, format string, args ...any) {
	s.add(at, Problem{Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (s *source) warn(at int, hint, format string, args ...any) {
	s.add(at, Problem{Message: fmt.Sprintf(format, args...), Hint: hint, Warning: true})
}

func (s *source) add(at int, p Problem) {
	p.File = s.file
	p.Line, p.Col = s.place(at)
	s.problems = append(s.problems, p)
}

// split gives the errors as one error, and the warnings.
func (s *source) split() (warnings []Problem, err error) {
	sort.SliceStable(s.problems, func(i, j int) bool {
		a, b := s.problems[i], s.problems[j]
		return a.Line < b.Line || (a.Line == b.Line && a.Col < b.Col)
	})
	var bad []Problem
	for _, p := range s.problems {
		if p.Warning {
			warnings = append(warnings, p)
		} else {
			bad = append(bad, p)
		}
	}
	if bad != nil {
		return warnings, &LoadError{Problems: bad}
	}
	return warnings, nil
}

const maxDepth = 200

// parse reads the file into elements; on a syntax error it notes one problem and returns nil.
func (s *source) parse() *element {
	d := xml.NewDecoder(bytes.NewReader(s.text))
	var stack []*element
	var root *element
	for {
		before := int(d.InputOffset())
		tok, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var syntax *xml.SyntaxError
			msg := err.Error()
			if errors.As(err, &syntax) {
				msg = syntax.Msg
			}
			s.problem(int(d.InputOffset()), "", "this is not XML: %s", msg)
			return nil
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			e := s.element(tok, before)
			switch {
			case len(stack) == maxDepth:
				s.problem(e.at, "", "elements are nested deeper than %d", maxDepth)
				return nil
			case len(stack) > 0:
				parent := stack[len(stack)-1]
				parent.kids = append(parent.kids, e)
			case root != nil:
				s.problem(e.at, "put all trees into one <root>", "a second root element <%s>", e.name)
				return nil
			default:
				root = e
			}
			stack = append(stack, e)
		case xml.EndElement:
			if len(stack) == 0 || stack[len(stack)-1].name != tok.Name.Local {
				s.problem(before, "", "</%s> closes nothing that is open", tok.Name.Local)
				return nil
			}
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].text += string(tok)
			}
		}
	}
	switch {
	case root == nil:
		s.problem(0, `a tree file begins with <root BTCPP_format="4">`, "there is no root element")
	case len(stack) > 0:
		s.problem(stack[len(stack)-1].at, "", "<%s> is never closed", stack[len(stack)-1].name)
		return nil
	}
	return root
}

// element notes where each attribute stands, by walking the tag's own text.
func (s *source) element(tok xml.StartElement, at int) *element {
	e := &element{name: tok.Name.Local, at: at}
	rest := at + 1
	for _, a := range tok.Attr {
		name := a.Name.Local
		if a.Name.Space != "" {
			name = a.Name.Space + ":" + name
		}
		pos := findAttribute(s.text, rest, name)
		if _, dup := e.attr(name); dup {
			s.problem(pos, "", "attribute %s stands twice", name)
		}
		e.attrs = append(e.attrs, attribute{name: name, value: a.Value, at: pos})
		rest = afterValue(s.text, pos+len(name))
	}
	return e
}

func findAttribute(text []byte, from int, name string) int {
	for i := from; i < len(text); i++ {
		if text[i-1] <= ' ' && bytes.HasPrefix(text[i:], []byte(name)) {
			return i
		}
	}
	return from
}

// afterValue skips `= "…"`.
func afterValue(text []byte, from int) int {
	open := bytes.IndexAny(text[from:], `"'`)
	if open < 0 {
		return from
	}
	start := from + open + 1
	end := bytes.IndexByte(text[start:], text[start-1])
	if end < 0 {
		return start
	}
	return start + end + 1
}
