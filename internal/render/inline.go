package render

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inline gives what stands in the lines of a block. Without colours, marks set it off.
func (l layout) inline(parent ast.Node, k look, href string) (all []span) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Text:
			all = append(all, span{l.plain(n.Value(l.source), n.IsRaw()), k, href})
			switch {
			case n.HardLineBreak():
				all = append(all, span{text: "\n"})
			case n.SoftLineBreak():
				all = append(all, span{" ", k, href})
			}
		case *ast.String:
			all = append(all, span{l.plain(n.Value, n.IsRaw() || n.IsCode()), k, href})
		case *ast.CodeSpan:
			all = append(all, l.marked("`", l.inline(n, k|cyan, href), k)...)
		case *ast.Emphasis:
			if n.Level == 1 {
				all = append(all, l.marked("*", l.inline(n, k|italic, href), k)...)
			} else {
				all = append(all, l.marked("**", l.inline(n, k|bold, href), k)...)
			}
		case *table.Strikethrough:
			all = append(all, l.marked("~~", l.inline(n, k|struck, href), k)...)
		case *table.TaskCheckBox:
			all = append(all, span{map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked], k, href})
		case *ast.Link:
			all = append(all, l.link(n, n.Destination, k)...)
		case *ast.Image:
			all = append(all, l.link(n, n.Destination, k)...)
		case *ast.AutoLink:
			all = append(all, l.address(l.plain(n.URL(l.source), true), k))
		case *ast.RawHTML:
			all = append(all, span{Clean(string(n.Segments.Value(l.source))), k, href})
		}
	}
	return all
}

// marked puts the mark of Markdown on both sides where colours don't show it.
func (l layout) marked(mark string, spans []span, k look) []span {
	if l.Colour {
		return spans
	}
	spans = append([]span{{text: mark, look: k}}, spans...)
	return append(spans, span{text: mark, look: k})
}

// plain is a text without what Markdown and HTML write in the place of characters.
func (l layout) plain(raw []byte, code bool) string {
	if !code {
		raw = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
	}
	return Clean(strings.ReplaceAll(string(raw), "\n", " "))
}

// link is the words of a link, and where it leads.
func (l layout) link(n ast.Node, to []byte, k look) []span {
	address := l.address(l.plain(to, false), k)
	words := l.inline(n, k, address.href)
	text := strings.Builder{}
	for _, s := range words {
		text.WriteString(s.text)
	}
	if said := strings.TrimSpace(text.String()); said == "" || said == address.text {
		return []span{address}
	}
	return append(append(words, span{text: " ", look: k}), address)
}
