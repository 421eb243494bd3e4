package render

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
)

// What begins each line of a block.
const (
	codeGutter = "▏ "
	cutGutter  = "↪ " // before the rest of a line of code that was cut
	quoteGuard = "│ "
)

// layout lays out the blocks of a parsed source.
type layout struct {
	Options
	source []byte
}

// layOutBlocks lays out the blocks below a node. If loose, it puts a blank line between any two, else only where the
// source has one.
func (l layout) layOutBlocks(parent ast.Node, width int, loose bool) (lines []string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && (loose || n.HasBlankPreviousLines()) {
			lines = append(lines, "")
		}
		lines = append(lines, l.layOutBlock(n, width)...)
	}
	return lines
}

func (l layout) layOutBlock(node ast.Node, width int) []string {
	switch n := node.(type) {
	case *ast.Heading:
		mark := span{text: strings.Repeat("#", n.Level) + " ", style: bold | blue}
		return l.wrapped(append([]span{mark}, l.inlineSpans(n, bold|blue, "")...), width)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", min(width, 8))}
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return l.codeBlock(n, width)
	case *ast.HTMLBlock:
		return l.htmlBlock(n, width)
	case *ast.Blockquote:
		return l.indented(quoteGuard, quoteGuard, width, func(width int) []string { return l.layOutBlocks(n, width, true) })
	case *ast.List:
		return l.list(n, width)
	case *table.Table:
		return l.layOutTable(n, width)
	}
	return l.wrapped(l.inlineSpans(node, 0, ""), width)
}

func (l layout) wrapped(spans []span, width int) []string {
	var lines []string
	for _, line := range wrap(l.withLinks(mergeSpans(spans)), width) {
		lines = append(lines, l.paintLine(line))
	}
	return lines
}

// indented puts first before the first line that write returns, and further before each other one. If that leaves too
// little room, first gets a line of its own, or is omitted if further equals it.
func (l layout) indented(first, further string, width int, write func(width int) []string) []string {
	const least = 6
	inner := width - ansi.StringWidth(first)
	if inner < least {
		if first == further {
			return write(width)
		}
		return append([]string{strings.TrimRight(ansi.Truncate(first, width, ""), " ")}, write(width)...)
	}
	lines := write(inner)
	if len(lines) == 0 {
		lines = []string{""}
	}
	for i, line := range lines {
		before := further
		if i == 0 {
			before = first
		}
		if line == "" {
			before = strings.TrimRight(before, " ")
		}
		lines[i] = before + line
	}
	return lines
}

func (l layout) list(n *ast.List, width int) (lines []string) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil && item.HasBlankPreviousLines() {
			lines = append(lines, "")
		}
		lines = append(lines, l.listItem(n, item, number, width)...)
		number++
	}
	return lines
}

func (l layout) listItem(list *ast.List, item ast.Node, number, width int) []string {
	mark := "• "
	if list.IsOrdered() {
		mark = fmt.Sprintf("%d%c ", number, list.Marker)
	}
	return l.indented(mark, strings.Repeat(" ", ansi.StringWidth(mark)), width, func(width int) []string {
		return l.layOutBlocks(item, width, false)
	})
}

func (l layout) codeBlock(n ast.Node, width int) (lines []string) {
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		lines = append(lines, l.codeLine(string(segment.Value(l.source)), width)...)
	}
	return lines
}

// codeLine lays out a line of code behind a gutter, on several lines if it is too long.
func (o Options) codeLine(line string, width int) []string {
	pieces := chopLine(strings.TrimRight(expandTabs(Clean(line)), " \n"), max(width-2, 2))
	for i, piece := range pieces {
		gutter := codeGutter
		if i > 0 {
			gutter = cutGutter
		}
		if piece == "" {
			gutter = strings.TrimRight(gutter, " ")
		}
		pieces[i] = o.paintText(gutter, faint) + piece
	}
	return pieces
}

// htmlBlock lays out a block of HTML as text, tags included.
func (l layout) htmlBlock(n *ast.HTMLBlock, width int) (lines []string) {
	text := string(n.Lines().Value(l.source))
	if n.HasClosure() {
		text += string(n.ClosureLine.Value(l.source))
	}
	for _, line := range strings.Split(strings.TrimRight(Clean(text), "\n"), "\n") {
		lines = append(lines, l.wrapped([]span{{text: line}}, width)...)
	}
	return lines
}
