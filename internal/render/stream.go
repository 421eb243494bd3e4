package render

import (
	"bytes"
	"strings"

	"sibyl/internal/text/markdown"
)

// Stream lays a text out as it arrives. It takes the text apart into parts that nothing behind them changes: a paragraph, an item of a list, a
// table, a line of code. Parts that are whole are laid out once; only the last one is laid out anew.
type Stream struct {
	o      Options
	rest   []byte // of the line that has not ended
	kind   kind
	text   []byte // of the part that has not ended
	indent int    // of what belongs to the item
	blank  bool   // a blank line came behind the part's last line
	fence  markdown.Fence
	number numbering
	some   bool // a line was given
	before kind // the part before, and
	apart  bool // whether a blank line was behind it
	stable []string
}

// kind is what a part is.
type kind int

const (
	none      kind = iota
	paragraph      // and all that ends with a blank line
	item
	indented
	fenced
)

// maxPart is the size in bytes from which on a part is cut, so that what is laid out anew stays small. A longer line is no Markdown, nor is
// one with more than maxMarks marks of quotes and items before its words: a parser takes very long for those.
const (
	maxPart  = 8 << 10
	maxMarks = 50
)

// tooMuch says whether a part is laid out as it was written.
func tooMuch(text []byte) bool {
	for line := range bytes.Lines(text) {
		words := bytes.TrimLeft(line, " \t>-*+0123456789.)")
		if len(line) > maxPart || len(bytes.ReplaceAll(line[:len(line)-len(words)], []byte(" "), nil)) > maxMarks {
			return true
		}
	}
	return false
}

// NewStream begins a text.
func NewStream(o Options) *Stream { return &Stream{o: o} }

// Write takes the next piece of the text, and returns the lines that have become stable by it, without line feeds.
func (s *Stream) Write(piece string) []string {
	for {
		line, rest, ended := strings.Cut(piece, "\n")
		s.rest = append(s.rest, line...)
		if !ended {
			break
		}
		s.line(string(s.rest))
		s.rest, piece = s.rest[:0], rest
	}
	return s.take()
}

// Tail returns the lines behind the stable ones, as the text would be if it ended here. They hold until the next Write.
func (s *Stream) Tail() []string {
	t := *s
	t.text, t.rest, t.stable = append([]byte(nil), s.text...), nil, nil
	t.line(string(s.rest))
	t.flush()
	return t.stable
}

// Close ends the text, and returns the lines that were not stable. Nothing may be written behind it.
func (s *Stream) Close() []string {
	s.line(string(s.rest))
	s.rest = nil
	s.flush()
	return s.take()
}

func (s *Stream) take() []string {
	lines := s.stable
	s.stable = nil
	return lines
}

// line takes a whole line.
func (s *Stream) line(line string) {
	line = strings.TrimSuffix(line, "\r")
	empty := strings.TrimSpace(line) == ""
	switch {
	case s.kind == fenced:
		s.fencedLine(line)
	case empty && s.kind == paragraph:
		s.flush()
	case empty:
		s.blank = s.kind != none
		if s.kind != none {
			s.text = append(s.text, '\n')
		}
	case s.goesOn(line):
		s.add(line)
	default:
		head := s.headOfTable(line)
		s.flush()
		s.begin(head + line)
	}
}

// headOfTable is the head of a table that is cut before a line, with its line end; "" where there is none.
func (s *Stream) headOfTable(line string) string {
	if s.kind != paragraph || len(s.text) < maxPart || !strings.Contains(line, "|") {
		return ""
	}
	head, rest, _ := bytes.Cut(s.text, []byte("\n"))
	rule, _, _ := bytes.Cut(rest, []byte("\n"))
	if len(head)+len(rule) > maxPart/8 || !bytes.Contains(rule, []byte("-")) || len(bytes.Trim(rule, "|:- \t")) > 0 {
		return ""
	}
	return string(head) + "\n" + string(rule) + "\n"
}

// goesOn says whether a line belongs to the part before it.
func (s *Stream) goesOn(line string) bool {
	if len(s.text) >= maxPart {
		return false
	}
	in, starts := startOf(line)
	switch s.kind {
	case paragraph:
		return !starts.heading && !starts.fence && (!starts.item || !starts.interrupts)
	case item:
		if in >= s.indent {
			return true
		}
		return !s.blank && !starts.any()
	case indented:
		return in >= 4
	}
	return false
}

func (s *Stream) add(line string) {
	s.text = append(append(s.text, line...), '\n')
	s.blank = false
}

// begin begins a part with its first line.
func (s *Stream) begin(line string) {
	in, starts := startOf(line)
	switch {
	case starts.fence:
		s.kind, s.fence, s.indent = fenced, markdown.Fence{}, in
		s.fence.Covers(line)
		s.gap()
		return
	case starts.item:
		s.kind, s.indent = item, starts.content
	case in >= 4:
		s.kind = indented
	default:
		s.kind = paragraph
	}
	s.add(line)
	if starts.heading || starts.rule {
		s.flush()
	}
}

// fencedLine gives a line of a code block, or ends it.
func (s *Stream) fencedLine(line string) {
	if s.fence.Covers(line); s.fence.End() == "" {
		s.kind, s.before, s.apart = none, fenced, false
		return
	}
	cut := min(s.indent, len(line)-len(strings.TrimLeft(line, " ")))
	s.give(s.o.codeLine(line[cut:], s.o.width()))
}

// gap gives the blank line between two parts. Items stand together, unless they were written apart.
func (s *Stream) gap() {
	if s.some && (s.kind != item || s.before != item || s.apart) {
		s.give([]string{""})
	}
	if s.kind != item {
		s.number = numbering{}
	}
}

// flush lays the last part out and ends it.
func (s *Stream) flush() {
	if s.kind == none || s.kind == fenced {
		s.kind = none
		return
	}
	s.gap()
	source := []byte(Clean(string(s.text)))
	l := layout{Options: s.o, source: source, number: &s.number}
	if tooMuch(source) {
		s.give(Wrap(strings.TrimRight(string(source), "\n"), s.o.width()))
	} else {
		s.give(l.blocks(parse(source), s.o.width(), true))
	}
	s.before, s.apart = s.kind, s.blank
	s.kind, s.blank, s.text = none, false, s.text[:0]
}

func (s *Stream) give(lines []string) {
	s.stable = append(s.stable, lines...)
	s.some = s.some || len(lines) > 0
}
