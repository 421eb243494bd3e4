package render

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"

	"sibyl/internal/text/markdown"
)

// Stream lays a text out as it arrives. All blocks but the last are whole, and so are all items of a list but its last
// and every line of a block of code: nothing behind them changes them, so they are laid out once. What is not whole is
// laid out anew for each Tail.
type Stream struct {
	o      Options
	rest   []byte         // of the line that has not ended
	text   []byte         // lines that are not laid out yet, clean
	code   bool           // a block of code is open
	fence  markdown.Fence // of it
	indent int            // of the fence
	head   []byte         // of a table that was cut, in case that rows follow
	number numbering
	item   bool // the part before was an item of a list
	apart  bool // a blank line stands before text
	some   bool // a line was given
	stable []string
}

// numbering is what the next item of a list that is cut is numbered by.
type numbering struct {
	marker byte // of the list; 0: none goes on
	next   int
}

// maxPart is the size in bytes from which on a part is cut, so that what is laid out anew stays small. A longer line is
// no Markdown, nor is one with more than maxMarks marks of quotes and items before its words: a parser takes very long
// for those.
const (
	maxPart  = 8 << 10
	maxMarks = 50
)

// tooMuch says whether a line is laid out as it was written.
func tooMuch(line string) bool {
	words := strings.TrimLeft(line, " \t>-*+0123456789.)")
	return len(line) > maxPart || len(strings.ReplaceAll(line[:len(line)-len(words)], " ", "")) > maxMarks
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
	t.text, t.stable = bytes.Clone(s.text), nil
	return t.Close()
}

// Close ends the text, and returns the lines that were not stable. Nothing may be written behind it.
func (s *Stream) Close() []string {
	if len(s.rest) > 0 {
		s.line(string(s.rest))
	}
	s.rest = nil
	s.layOut(parse(s.text), nil)
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
	if s.code {
		s.codeLine(line)
		return
	}
	if line = Clean(line); strings.TrimSpace(line) == "" {
		line = ""
	}
	if tooMuch(line) {
		s.layOut(parse(s.text), nil)
		s.gap(false, false)
		s.give(Wrap(line, s.o.width()))
		return
	}
	if strings.Contains(line, "|") {
		s.text = append(s.text, s.head...)
	}
	s.head = nil
	goesOn := goesOn(line) && !bytes.HasSuffix(s.text, []byte("\n\n"))
	s.text = append(append(s.text, line...), '\n')
	if !goesOn || len(s.text) >= maxPart {
		s.settle(line)
	}
}

// goesOn says that a line ends no block, unless one before it was blank: it begins with a letter, or like the row of a
// table.
func goesOn(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return first == '|' || unicode.IsLetter(first)
}

// settle lays out what nothing behind it changes any more.
func (s *Stream) settle(line string) {
	doc := parse(s.text)
	last := doc.LastChild()
	keep, whole := last, len(s.text) >= maxPart
	switch n := last.(type) {
	case nil:
		whole = true
	case *ast.FencedCodeBlock:
		if s.fence = (markdown.Fence{}); s.fence.Covers(line) {
			s.layOut(doc, last)
			s.gap(false, false)
			s.code, s.text = true, nil
			s.indent = len(line) - len(strings.TrimLeft(line, " "))
			return
		}
	case *ast.Heading, *ast.ThematicBreak:
		whole = true
	case *ast.Paragraph, *ast.Blockquote:
		whole = whole || line == ""
	case *table.Table:
		if whole {
			s.head = headOf(s.text[n.Pos():])
		}
		whole = whole || line == ""
	case *ast.List:
		keep = n.LastChild()
	}
	if whole {
		keep = nil
	}
	s.layOut(doc, keep)
}

// headOf is the head of a table, with its line end; nil where it is too long to be shown again.
func headOf(rows []byte) []byte {
	head, rest, _ := bytes.Cut(rows, []byte("\n"))
	rule, _, _ := bytes.Cut(rest, []byte("\n"))
	if len(head)+len(rule) > maxPart/8 {
		return nil
	}
	return bytes.Clone(rows[:len(head)+len(rule)+2])
}

// layOut lays out the text before a block or an item of its last list; nil: all of it.
func (s *Stream) layOut(doc, until ast.Node) {
	l := layout{Options: s.o, source: s.text}
	for n := doc.FirstChild(); n != nil && n != until; n = n.NextSibling() {
		list, isList := n.(*ast.List)
		if !isList {
			s.gap(false, false)
			s.give(l.block(n, s.o.width()))
			continue
		}
		for item := list.FirstChild(); item != nil && item != until; item = item.NextSibling() {
			before := item
			if item.PreviousSibling() == nil {
				before = list
			}
			s.gap(true, before.PreviousSibling() == nil && s.apart || before.PreviousSibling() != nil &&
				before.HasBlankPreviousLines())
			if s.number.marker != list.Marker {
				s.number = numbering{list.Marker, list.Start}
			}
			s.give(l.item(list, item, s.number.next, s.o.width()))
			s.number.next++
		}
	}
	if until == nil {
		s.text = nil
		return
	}
	start := bytes.LastIndexByte(s.text[:until.Pos()], '\n') + 1
	if start > 0 {
		s.apart = bytes.HasSuffix(s.text[:start], []byte("\n\n"))
		s.text = bytes.Clone(s.text[start:])
	}
}

// codeLine gives a line of a block of code, or ends it.
func (s *Stream) codeLine(line string) {
	if s.fence.Covers(line); s.fence.End() == "" {
		s.code = false
		return
	}
	cut := min(s.indent, len(line)-len(strings.TrimLeft(line, " ")))
	s.give(s.o.codeLine(line[cut:], s.o.width()))
}

// gap gives the blank line between two parts. Items stand together, unless they were written apart.
func (s *Stream) gap(item, apart bool) {
	if s.some && (!item || !s.item || apart) {
		s.give([]string{""})
	}
	if !item {
		s.number = numbering{}
	}
	s.item = item
}

func (s *Stream) give(lines []string) {
	s.stable = append(s.stable, lines...)
	s.some = s.some || len(lines) > 0
}
