package render

import (
	"bytes"
	"html"
	"strings"
	"sync"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"sibyl/internal/text/markdown"
)

// topHeadingLevel is the level in the page of a text's first heading, and of headings that rank above it in the text.
const topHeadingLevel = 3

// HTML is a Markdown text as HTML for a page that shows it below a heading of the second level, whatever level its own
// begin at. It needs nothing from elsewhere and nothing in it runs: pictures are links, tags are text, and a link leads
// to the web or to a mail address, in a window that knows nothing of this one. Elements are those of Markdown with
// tables, spans with a class in blocks of code, and buttons for citations; their only attributes are href, target, rel,
// start, class, value and title of a citation, and align of a table's cell.
//
// A block of code is coloured by the name of its language. Where the text has one of the citations, a button stands
// with its number.
func HTML(source string, cited ...Citation) string {
	return renderHTML(source, cited, &colouring{left: mostColoured, until: time.Now().Add(colourWithin)})
}

// Draft is HTML of a text that still grows: nothing is coloured.
func Draft(source string) string { return renderHTML(source, nil, nil) }

func renderHTML(source string, cited []Citation, colours *colouring) string {
	raw := []byte(markdown.Inert(source))
	var b bytes.Buffer
	m := pageMarkdown()
	doc := m.Parser().Parse(text.NewReader(raw))
	if len(cited) > 0 {
		insertChips(doc, raw, cited)
	}
	if colours != nil {
		doc.SetAttributeString(colouringAttribute, colours)
	}
	if err := m.Renderer().Render(&b, raw, doc); err != nil {
		return "<pre>" + html.EscapeString(Clean(source)) + "</pre>"
	}
	return Clean(b.String())
}

var pageMarkdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(pageTransformer{}, 0))),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(pageNodes{}, 0))))
})

// pageNodes writes chips and blocks of code, which the page shows in its own way.
type pageNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (pageNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindChip(), writeChip)
	r.Register(ast.KindFencedCodeBlock, writeFenced)
}

// colouringAttribute is the attribute of a document that has its colouring.
const colouringAttribute = "coloured"

func writeFenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	language, class := string(block.Language(source)), ""
	if language != "" {
		class = ` class="language-` + html.EscapeString(language) + `"`
	}
	_, _ = w.WriteString("<pre><code" + class + ">") // to memory
	given, _ := block.OwnerDocument().AttributeString(colouringAttribute)
	colours, _ := given.(*colouring)
	colours.write(w, language, string(block.Lines().Value(source)))
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkContinue, err
}

// pageTransformer fits a text into a page: it shifts headings, and removes links that lead to no other site.
type pageTransformer struct{}

// Transform implements parser.ASTTransformer.
func (pageTransformer) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
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
			n.Level = min(6, max(topHeadingLevel, topHeadingLevel+n.Level-first))
		case *ast.Link:
			if isExternal(string(n.Destination)) {
				openOutside(n)
			} else {
				inert = append(inert, n)
			}
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkEmail || isExternal(string(n.URL(r.Source()))) {
				openOutside(n)
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

// isExternal says that an address leads to the web or to a mail address, and not to a file or a place in this page.
func isExternal(address string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), ":")
	return scheme == "http" || scheme == "https" || scheme == "mailto"
}

func openOutside(link ast.Node) {
	link.SetAttributeString("target", "_blank")
	link.SetAttributeString("rel", "noopener noreferrer nofollow")
}
