package render

import (
	"bytes"
	"html"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"sibyl/internal/text/markdown"
)

// highest is the level of the first heading of a text, in the page that shows it, and of those that stand above that one in the text.
const highest = 3

// HTML is a Markdown text as HTML for a page that shows it below a heading of the second level, whatever level its own begin at. It needs nothing from elsewhere and nothing in it
// runs: pictures are links, tags are text, and a link leads to the web or to a mail address, in a window that knows nothing of this one.
// Elements are those of Markdown with tables, and their only attributes are href, target, rel, start, class of a block of code, and style of
// a table's cell, as align.
func HTML(source string) string {
	raw := []byte(markdown.Inert(source))
	var b bytes.Buffer
	m := toHTML()
	if err := m.Renderer().Render(&b, raw, m.Parser().Parse(text.NewReader(raw))); err != nil {
		return "<pre>" + html.EscapeString(Clean(source)) + "</pre>"
	}
	return Clean(b.String())
}

var toHTML = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(embedded{}, 0))))
})

// embedded makes of a text a part of a page.
type embedded struct{}

// Transform implements parser.ASTTransformer.
func (embedded) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	var inert []ast.Node
	first := 0                                                                  // the level of the first heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // nothing in it fails
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if first == 0 {
				first = n.Level
			}
			n.Level = min(6, max(highest, highest+n.Level-first))
		case *ast.Link:
			if abroad(string(n.Destination)) {
				lead(n)
			} else {
				inert = append(inert, n)
			}
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkEmail || abroad(string(n.URL(r.Source()))) {
				lead(n)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, link := range inert {
		parent := link.Parent()
		for c := link.FirstChild(); c != nil; {
			next := c.NextSibling()
			parent.InsertBefore(parent, link, c)
			c = next
		}
		parent.RemoveChild(parent, link)
	}
}

// abroad says that an address leads to the web or to a mail address, and not to a file or a place in this page.
func abroad(address string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), ":")
	return scheme == "http" || scheme == "https" || scheme == "mailto"
}

func lead(link ast.Node) {
	link.SetAttributeString("target", "_blank")
	link.SetAttributeString("rel", "noopener noreferrer nofollow")
}
