package render

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// inlineSpans returns the spans of a block's text. Without colours, emphasis keeps its Markdown marks.
func (l layout) inlineSpans(parent ast.Node, k style, href string) (all []span) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		switch n := node.(type) {
		case *ast.Text:
			all = append(all, span{l.plainText(n.Value(l.source), n.IsRaw()), k, href})
			switch {
			case n.HardLineBreak():
				all = append(all, span{text: "\n"})
			case n.SoftLineBreak():
				all = append(all, span{" ", k, href})
			}
		case *ast.String:
			all = append(all, span{l.plainText(n.Value, n.IsRaw() || n.IsCode()), k, href})
		case *ast.CodeSpan:
			all = append(all, l.withMarks("`", l.inlineSpans(n, k|cyan, href), k)...)
		case *ast.Emphasis:
			if n.Level == 1 {
				all = append(all, l.withMarks("*", l.inlineSpans(n, k|italic, href), k)...)
			} else {
				all = append(all, l.withMarks("**", l.inlineSpans(n, k|bold, href), k)...)
			}
		case *table.Strikethrough:
			all = append(all, l.withMarks("~~", l.inlineSpans(n, k|struck, href), k)...)
		case *table.TaskCheckBox:
			all = append(all, span{map[bool]string{true: "[x] ", false: "[ ] "}[n.IsChecked], k, href})
		case *ast.Link:
			all = append(all, l.linkSpans(n, n.Destination, k)...)
		case *ast.Image:
			all = append(all, l.linkSpans(n, n.Destination, k)...)
		case *ast.AutoLink:
			all = append(all, l.addressSpan(l.plainText(n.URL(l.source), true), k))
		case *ast.RawHTML:
			all = append(all, span{Clean(string(n.Segments.Value(l.source))), k, href})
		}
	}
	return all
}

// withMarks puts a Markdown mark before and after spans, unless colours show the style.
func (l layout) withMarks(mark string, spans []span, k style) []span {
	if l.Colour {
		return spans
	}
	spans = append([]span{{text: mark, style: k}}, spans...)
	return append(spans, span{text: mark, style: k})
}

// plainText resolves escapes and entities, except in code, makes line feeds spaces, and cleans the result.
func (l layout) plainText(raw []byte, code bool) string {
	if !code {
		raw = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(raw)))
	}
	return Clean(strings.ReplaceAll(string(raw), "\n", " "))
}

// linkSpans returns the words of a link and its address, or the address alone if the words say nothing else.
func (l layout) linkSpans(n ast.Node, to []byte, k style) []span {
	address := l.addressSpan(l.plainText(to, false), k)
	words := l.inlineSpans(n, k, address.href)
	text := strings.Builder{}
	for _, s := range words {
		text.WriteString(s.text)
	}
	if said := strings.TrimSpace(text.String()); said == "" || said == address.text {
		return []span{address}
	}
	return append(append(words, span{text: " ", style: k}), address)
}
