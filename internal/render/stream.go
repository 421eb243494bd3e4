package render

import (
	"strings"

	"sibyl/internal/markdown"
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

// maxParagraph is the size in bytes from which on a paragraph is cut, so that the last part stays small.
const maxParagraph = 8 << 10

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
		s.flush()
		s.begin(line)
	}
}

// goesOn says whether a line belongs to the part before it.
func (s *Stream) goesOn(line string) bool {
	in, starts := startOf(line)
	switch s.kind {
	case paragraph:
		switch {
		case starts.heading, starts.fence, starts.item && starts.interrupts:
			return false
		}
		return len(s.text) < maxParagraph || strings.HasPrefix(strings.TrimSpace(line), "|")
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
	s.give(l.blocks(parse(source), s.o.width(), true))
	s.before, s.apart = s.kind, s.blank
	s.kind, s.blank, s.text = none, false, s.text[:0]
}

func (s *Stream) give(lines []string) {
	s.stable = append(s.stable, lines...)
	s.some = s.some || len(lines) > 0
}
