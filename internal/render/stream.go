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
	options     Options
	partialLine []byte         // of the line that has not ended
	pending     []byte         // lines that are not laid out yet, clean
	inCode      bool           // a block of code is open
	fence       markdown.Fence // of it
	indent      int            // of the fence
	tableHead   []byte         // of a table that was cut, in case that rows follow
	number      numbering
	afterItem   bool // the part before was an item of a list
	blankBefore bool // a blank line stands before text
	hasLines    bool // a line was given
	stable      []string
}

// numbering is the number of the next item of a list that is laid out in parts.
type numbering struct {
	marker byte // of the list; 0: no list continues
	next   int
}

// maxPart is the size in bytes from which on a part is cut, so that what is laid out anew stays small. A longer line is
// no Markdown, nor is one with more than maxMarks marks of quotes and items before its words: a parser takes very long
// for those.
const (
	maxPart  = 8 << 10
	maxMarks = 50
)

// isTooLong says that a line is too much for the parser, so that it is laid out as it was written.
func isTooLong(line string) bool {
	words := strings.TrimLeft(line, " \t>-*+0123456789.)")
	return len(line) > maxPart || len(strings.ReplaceAll(line[:len(line)-len(words)], " ", "")) > maxMarks
}

// NewStream begins a text.
func NewStream(o Options) *Stream { return &Stream{options: o} }

// Write takes the next piece of the text, and returns the lines that have become stable by it, without line feeds.
func (s *Stream) Write(piece string) []string {
	for {
		line, rest, ended := strings.Cut(piece, "\n")
		s.partialLine = append(s.partialLine, line...)
		if !ended {
			break
		}
		s.addLine(string(s.partialLine))
		s.partialLine, piece = s.partialLine[:0], rest
	}
	return s.takeStable()
}

// Tail returns the lines behind the stable ones, as the text would be if it ended here. They hold until the next Write.
func (s *Stream) Tail() []string {
	t := *s
	t.pending, t.stable = bytes.Clone(s.pending), nil
	return t.Close()
}

// Close ends the text, and returns the lines that were not stable. Nothing may be written behind it.
func (s *Stream) Close() []string {
	if len(s.partialLine) > 0 {
		s.addLine(string(s.partialLine))
	}
	s.partialLine = nil
	s.layOut(parse(s.pending), nil)
	return s.takeStable()
}

func (s *Stream) takeStable() []string {
	lines := s.stable
	s.stable = nil
	return lines
}

// addLine adds a whole line, and lays out the blocks that it completes.
func (s *Stream) addLine(line string) {
	line = strings.TrimSuffix(line, "\r")
	if s.inCode {
		s.addCodeLine(line)
		return
	}
	if line = Clean(line); strings.TrimSpace(line) == "" {
		line = ""
	}
	if isTooLong(line) {
		s.layOut(parse(s.pending), nil)
		s.addGap(false, false)
		s.addStable(Wrap(line, s.options.width()))
		return
	}
	if strings.Contains(line, "|") {
		s.pending = append(s.pending, s.tableHead...)
	}
	s.tableHead = nil
	isOpen := endsNoBlock(line) && !bytes.HasSuffix(s.pending, []byte("\n\n"))
	s.pending = append(append(s.pending, line...), '\n')
	if !isOpen || len(s.pending) >= maxPart {
		s.layOutStable(line)
	}
}

// endsNoBlock says that a line ends no block, unless a blank line came before: it begins with a letter or a bar.
func endsNoBlock(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return first == '|' || unicode.IsLetter(first)
}

// layOutStable lays out the blocks that no further text can change.
func (s *Stream) layOutStable(line string) {
	doc := parse(s.pending)
	last := doc.LastChild()
	keep, whole := last, len(s.pending) >= maxPart
	switch n := last.(type) {
	case nil:
		whole = true
	case *ast.FencedCodeBlock:
		if s.fence = (markdown.Fence{}); s.fence.Covers(line) {
			s.layOut(doc, last)
			s.addGap(false, false)
			s.inCode, s.pending = true, nil
			s.indent = len(line) - len(strings.TrimLeft(line, " "))
			return
		}
	case *ast.Heading, *ast.ThematicBreak:
		whole = true
	case *ast.Paragraph, *ast.Blockquote:
		whole = whole || line == ""
	case *table.Table:
		if whole {
			s.tableHead = tableHeadIn(s.pending[n.Pos():])
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

// tableHeadIn is the head of a table, with its line end; nil where it is too long to be shown again.
func tableHeadIn(rows []byte) []byte {
	head, rest, _ := bytes.Cut(rows, []byte("\n"))
	rule, _, _ := bytes.Cut(rest, []byte("\n"))
	if len(head)+len(rule) > maxPart/8 {
		return nil
	}
	return bytes.Clone(rows[:len(head)+len(rule)+2])
}

// layOut lays out the text before a block or an item of its last list; nil: all of it.
func (s *Stream) layOut(doc, until ast.Node) {
	l := layout{Options: s.options, source: s.pending}
	for n := doc.FirstChild(); n != nil && n != until; n = n.NextSibling() {
		list, isList := n.(*ast.List)
		if !isList {
			s.addGap(false, false)
			s.addStable(l.layOutBlock(n, s.options.width()))
			continue
		}
		for item := list.FirstChild(); item != nil && item != until; item = item.NextSibling() {
			before := item
			if item.PreviousSibling() == nil {
				before = list
			}
			s.addGap(true, before.PreviousSibling() == nil && s.blankBefore || before.PreviousSibling() != nil &&
				before.HasBlankPreviousLines())
			if s.number.marker != list.Marker {
				s.number = numbering{list.Marker, list.Start}
			}
			s.addStable(l.listItem(list, item, s.number.next, s.options.width()))
			s.number.next++
		}
	}
	if until == nil {
		s.pending = nil
		return
	}
	start := bytes.LastIndexByte(s.pending[:until.Pos()], '\n') + 1
	if start > 0 {
		s.blankBefore = bytes.HasSuffix(s.pending[:start], []byte("\n\n"))
		s.pending = bytes.Clone(s.pending[start:])
	}
}

// addCodeLine lays out a line of a block of code, or ends the block.
func (s *Stream) addCodeLine(line string) {
	if s.fence.Covers(line); s.fence.End() == "" {
		s.inCode = false
		return
	}
	cut := min(s.indent, len(line)-len(strings.TrimLeft(line, " ")))
	s.addStable(s.options.codeLine(line[cut:], s.options.width()))
}

// addGap adds the blank line between two parts. Items of a list have none, unless they were written apart.
func (s *Stream) addGap(item, apart bool) {
	if s.hasLines && (!item || !s.afterItem || apart) {
		s.addStable([]string{""})
	}
	if !item {
		s.number = numbering{}
	}
	s.afterItem = item
}

func (s *Stream) addStable(lines []string) {
	s.stable = append(s.stable, lines...)
	s.hasLines = s.hasLines || len(lines) > 0
}
