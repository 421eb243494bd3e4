package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown lays a Markdown text out for a terminal, with colours or with marks in their place. Lines are left to the terminal to wrap, so that
// a citation stays in one piece. No control character of the text is left, however it was written.
func markdown(content string, colour bool) string {
	source := []byte(content)
	reader := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
	m := layout{source: source, colour: colour}
	return m.blocks(reader.Parser().Parse(text.NewReader(source)), "\n\n")
}

// layout writes the nodes of a text.
type layout struct {
	source []byte
	colour bool
}

// style is how a part of the text is set off: by a sequence of the terminal and the one that ends it, or by a mark on both sides.
type style struct{ on, off, mark string }

var (
	headingStyle = style{"\x1b[1;34m", "\x1b[22;39m", ""}
	strongStyle  = style{"\x1b[1m", "\x1b[22m", "**"}
	faintStyle   = style{"\x1b[2m", "\x1b[22m", ""}
	italicStyle  = style{"\x1b[3m", "\x1b[23m", "*"}
	linkStyle    = style{"\x1b[4m", "\x1b[24m", ""}
	struckStyle  = style{"\x1b[9m", "\x1b[29m", "~~"}
	codeStyle    = style{"\x1b[36m", "\x1b[39m", "`"}
)

func (k style) paint(text string, colour bool) string {
	if colour {
		return k.on + text + k.off
	}
	return k.mark + text + k.mark
}

// blocks writes the blocks below a node.
func (m layout) blocks(parent ast.Node, gap string) string {
	var all []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		all = append(all, m.block(n))
	}
	return strings.Join(all, gap)
}

func (m layout) block(node ast.Node) string {
	switch n := node.(type) {
	case *ast.Heading:
		return headingStyle.paint(strings.Repeat("#", n.Level)+" "+m.inline(n), m.colour)
	case *ast.ThematicBreak:
		return "────────"
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return hang(strings.TrimRight(m.lines(n), "\n"), "    ", "    ")
	case *ast.HTMLBlock:
		return strings.TrimRight(m.lines(n), "\n")
	case *ast.Blockquote:
		return hang(m.blocks(n, "\n\n"), "│ ", "│ ")
	case *ast.List:
		return m.list(n)
	case *table.Table:
		return m.table(n)
	}
	return m.inline(node)
}

// lines are a block's own, as they were written.
func (m layout) lines(n ast.Node) string {
	lines := n.Lines()
	return printable(string(lines.Value(m.source)))
}

func (m layout) list(l *ast.List) string {
	gap := "\n\n"
	if l.IsTight {
		gap = "\n"
	}
	number := l.Start
	var items []string
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		mark := "• "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		items = append(items, hang(m.blocks(n, gap), mark, strings.Repeat(" ", len([]rune(mark)))))
	}
	return strings.Join(items, gap)
}

// hang puts a text before the first line, and another before each further one that is not empty.
func hang(text, first, further string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(further+line, " ")
	}
	return first + strings.Join(lines, "\n")[len(further):]
}

func (m layout) table(t *table.Table) string {
	var rows [][]string
	widths := make([]int, len(t.Alignments))
	for r := t.FirstChild(); r != nil; r = r.NextSibling() {
		row := make([]string, len(widths))
		i := 0
		for c := r.FirstChild(); c != nil && i < len(row); c = c.NextSibling() {
			row[i] = m.inline(c)
			widths[i] = max(widths[i], ansi.StringWidth(row[i]))
			i++
		}
		rows = append(rows, row)
	}
	var lines []string
	for at, row := range rows {
		for i, cell := range row {
			space := widths[i] - ansi.StringWidth(cell)
			left := map[table.Alignment]int{table.AlignRight: space, table.AlignCenter: space / 2}[t.Alignments[i]]
			row[i] = strings.Repeat(" ", left) + cell + strings.Repeat(" ", space-left)
		}
		lines = append(lines, strings.TrimRight(strings.Join(row, " │ "), " "))
		if at == 0 {
			rule := make([]string, len(widths))
			for i, w := range widths {
				rule[i] = strings.Repeat("─", w)
			}
			lines = append(lines, strings.Join(rule, "─┼─"))
		}
	}
	return strings.Join(lines, "\n")
}

// inline writes what stands in the lines of a block.
func (m layout) inline(parent ast.Node) string {
	var b strings.Builder
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Text:
			b.WriteString(m.plain(n.Value(m.source), n.IsRaw()))
			switch {
			case n.HardLineBreak():
				b.WriteByte('\n')
			case n.SoftLineBreak():
				b.WriteByte(' ')
			}
		case *ast.String:
			b.WriteString(m.plain(n.Value, n.IsRaw() || n.IsCode()))
		case *ast.CodeSpan:
			b.WriteString(codeStyle.paint(m.inline(n), m.colour))
		case *ast.Emphasis:
			if n.Level == 1 {
				b.WriteString(italicStyle.paint(m.inline(n), m.colour))
			} else {
				b.WriteString(strongStyle.paint(m.inline(n), m.colour))
			}
		case *table.Strikethrough:
			b.WriteString(struckStyle.paint(m.inline(n), m.colour))
		case *table.TaskCheckBox:
			b.WriteString(map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked])
		case *ast.Link:
			b.WriteString(m.link(m.inline(n), n.Destination))
		case *ast.Image:
			b.WriteString(m.link(m.inline(n), n.Destination))
		case *ast.AutoLink:
			b.WriteString(m.link("", n.URL(m.source)))
		case *ast.RawHTML:
			b.WriteString(printable(string(n.Segments.Value(m.source))))
		}
	}
	return b.String()
}

// plain is a text without what Markdown and HTML write in the place of characters.
func (m layout) plain(raw []byte, code bool) string {
	if !code {
		raw = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
	}
	return printable(strings.ReplaceAll(string(raw), "\n", " "))
}

// link shows where a link leads.
func (m layout) link(words string, to []byte) string {
	address := linkStyle.paint(m.plain(to, false), m.colour)
	if words == "" || words == m.plain(to, false) {
		return address
	}
	return words + " " + address
}
