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

// Stream lays out a text as it arrives. All blocks but the last are complete, and so are all items of a list but its
// last, and each line of a block of code: no later text changes them, so they are laid out once. The rest is laid out
// again for each Tail.
type Stream struct {
	options     Options
	partialLine []byte         // the line that has not ended yet
	pending     []byte         // clean lines that are not laid out yet
	inCode      bool           // within a fenced block of code
	fence       markdown.Fence // of that block
	indent      int            // of the fence
	tableHead   []byte         // of a table that was cut, for the rows that may follow
	number      numbering
	afterItem   bool     // the previous part was an item of a list
	blankBefore bool     // a blank line precedes pending
	hasLines    bool     // at least one line is stable
	stable      []string // lines that Write or Close returns next
}

// numbering is the number of the next item of a list that is laid out in parts.
type numbering struct {
	marker byte // of the list; 0: no list is open
	next   int
}

// maxPart is the size in bytes at which pending text is cut, so that little is laid out again. A longer line is not
// parsed as Markdown, nor is one with more than maxMarks characters of quote and item marks before its words, since the
// parser would take very long.
const (
	maxPart  = 8 << 10
	maxMarks = 50
)

// isTooLong reports whether a line is too much for the parser, and is laid out as plain text instead.
func isTooLong(line string) bool {
	words := strings.TrimLeft(line, " \t>-*+0123456789.)")
	return len(line) > maxPart || len(strings.ReplaceAll(line[:len(line)-len(words)], " ", "")) > maxMarks
}

// NewStream returns a Stream for a new text.
func NewStream(o Options) *Stream { return &Stream{options: o} }

// Write adds the next piece of the text, and returns the lines that are now stable, without line feeds.
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

// Tail returns the lines behind the stable ones, as if the text ended here. They are valid until the next Write.
func (s *Stream) Tail() []string {
	t := *s
	t.pending, t.stable = bytes.Clone(s.pending), nil
	return t.Close()
}

// Close ends the text, and returns its remaining lines. Write must not be called afterwards.
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

// addLine adds a complete line, and lays out the blocks that it completes.
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

// endsNoBlock reports whether a line begins with a letter or a bar, and so ends no block unless a blank line precedes.
func endsNoBlock(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return first == '|' || unicode.IsLetter(first)
}

// layOutStable lays out the blocks that no further text can change, or all if pending is too long; line is the last.
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

// tableHeadIn returns the first two lines of a table, its head and rule; nil if they are too long to be repeated.
func tableHeadIn(rows []byte) []byte {
	head, rest, _ := bytes.Cut(rows, []byte("\n"))
	rule, _, _ := bytes.Cut(rest, []byte("\n"))
	if len(head)+len(rule) > maxPart/8 {
		return nil
	}
	return bytes.Clone(rows[:len(head)+len(rule)+2])
}

// layOut lays out doc up to a block, or an item of its last list, and drops that from pending; until nil: all.
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

// addCodeLine lays out a line of a block of code, or ends the block if the line is its closing fence.
func (s *Stream) addCodeLine(line string) {
	if s.fence.Covers(line); s.fence.End() == "" {
		s.inCode = false
		return
	}
	cut := min(s.indent, len(line)-len(strings.TrimLeft(line, " ")))
	s.addStable(s.options.codeLine(line[cut:], s.options.width()))
}

// addGap adds the blank line before a part: none before the first, nor between items unless they are apart.
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
