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
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"sibyl/internal/text/markdown"
)

// topHeadingLevel is the level that a text's first heading gets in the page, as do headings that rank above it.
const topHeadingLevel = 3

// HTML renders a Markdown text for a page that shows it below a heading of the second level; the text's first heading
// gets the third. The result loads nothing and runs nothing: pictures are links, tags are text, and links lead only to
// the web or to a mail address, in a new window without access to this one. Elements are those of Markdown with tables
// and footnotes, spans with a class in blocks of code and for a check box, and buttons for citations and the numbers of
// footnotes; their only attributes are href, target, rel, start, class, value and title of a citation, and align of a
// table's cell. A formula is TeX in code of the class math, and of display where it stands by itself.
//
// Blocks of code are coloured by the language that they name. Each of the citations in the text becomes a button with
// its number.
func HTML(source string, cited ...Citation) string {
	return renderHTML(source, cited, &colouring{left: mostColoured, until: time.Now().Add(colourWithin)})
}

// Draft renders a text that is still growing like HTML, but colours no code and has no citations.
func Draft(source string) string { return renderHTML(source, nil, nil) }

// Still renders a text like HTML for a page on which nothing is pressed: citations stay as they are written, and the
// numbers of footnotes are no buttons.
func Still(source string) string {
	return stillNote.ReplaceAllString(HTML(source), "<sup>$1</sup>")
}

func renderHTML(source string, cited []Citation, colours *colouring) string {
	raw := []byte(markdown.Inert(source))
	var b bytes.Buffer
	m := pageMarkdown()
	if strings.Count(source, "[^") > mostFootnotes {
		m = withoutFootnotes()
	}
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

// mostFootnotes is how many marks of footnotes a text may have for them to be shown as such: goldmark looks through all
// footnotes for each mark.
const mostFootnotes = 1000

var (
	pageMarkdown     = sync.OnceValue(func() goldmark.Markdown { return newMarkdown(extension.Footnote) })
	withoutFootnotes = sync.OnceValue(func() goldmark.Markdown { return newMarkdown() })
)

func newMarkdown(more ...goldmark.Extender) goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(append(more,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough, extension.TaskList)...),
		goldmark.WithParserOptions(
			parser.WithBlockParsers(util.Prioritized(formulaBlocks{}, 650)),
			parser.WithInlineParsers(util.Prioritized(formulaInline{parser.NewContextKey()}, 150)), // behind code
			parser.WithASTTransformers(util.Prioritized(pageTransformer{}, 1000))),                 // behind footnotes
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(pageNodes{}, 0))))
}

// pageNodes renders chips and fenced blocks of code, which differ from goldmark's own HTML.
type pageNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (pageNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(kindChip(), writeChip)
	r.Register(ast.KindFencedCodeBlock, writeFenced)
	r.Register(kindFormula(), writeFormula)
	r.Register(kindFormulaBlock(), writeFormulaBlock)
	r.Register(extended.KindTaskCheckBox, writeCheckBox)
	r.Register(extended.KindFootnoteLink, writeNoteNumber)
	r.Register(extended.KindFootnoteBacklink, writeNothing)
	r.Register(extended.KindFootnoteList, writeNotes)
	r.Register(extended.KindFootnote, writeNote)
}

// colouringAttribute is the attribute of a document that holds its *colouring.
const colouringAttribute = "coloured"

func writeFenced(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := n.(*ast.FencedCodeBlock)
	language, class := string(block.Language(source)), ""
	if language == inLine {
		return writeFormulaBlock(w, source, n, entering)
	}
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

// pageTransformer fits a text into a page: it shifts headings, and turns links that are not external into text.
type pageTransformer struct{}

// Transform implements parser.ASTTransformer.
func (pageTransformer) Transform(doc *ast.Document, r text.Reader, _ parser.Context) {
	var inert []ast.Node
	first := 0                                                                  // level of the first heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
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
		case *ast.Image: // was code until a formula took what began it
			inert = append(inert, n)
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

// isExternal reports whether an address is one of http, https or mailto.
func isExternal(address string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(address)), ":")
	return scheme == "http" || scheme == "https" || scheme == "mailto"
}

func openOutside(link ast.Node) {
	link.SetAttributeString("target", "_blank")
	link.SetAttributeString("rel", "noopener noreferrer nofollow")
}
