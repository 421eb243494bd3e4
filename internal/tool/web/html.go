package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds that keep a hostile page's cost in proportion to its size. Real pages lie far below them.
const (
	maxElements        = 100_000 // of a page with a layout
	maxArticleElements = 30_000  // of a page that is searched for its main part
	maxNesting         = 16      // lists and quotations: each level indents every line below it
	maxSpan            = 50      // columns or rows of one cell
	maxTableCells      = 20_000
	minArticleChars    = 250
	minArticleShare    = 4 // an article has at least 1/4 of the page's text
)

// convertHTML sets the text of p from an HTML page: as Markdown or, if it is too large or too deep, as bare words.
func convertHTML(p *FetchData, source string, base *url.URL) {
	doc, ok := parseHTML(source)
	if !ok {
		p.Text, p.Extract = cleanText(bareText(source)), ExtractBare
		return
	}
	if own := firstOf(doc, atom.Base); own != nil { // the base of relative links
		if ref, err := base.Parse(attr(own, "href")); err == nil {
			base = ref
		}
	}
	prune(doc, 0)
	node := extractMain(p, doc, base)
	markdown, err := newConverter().ConvertNode(node, converter.WithDomain(base.String()))
	if err != nil {
		p.Text, p.Extract = cleanText(bareText(source)), ExtractBare
		return
	}
	p.Text = cleanText(string(markdown))
}

// extractMain sets title, byline and date of p, and returns the main part of the page, or all of it if none stands out.
func extractMain(p *FetchData, doc *html.Node, base *url.URL) *html.Node {
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxArticleElements
	article, err := parser.ParseDocument(doc, base)
	p.Title, p.Byline = article.Title, article.Byline
	if title := firstOf(doc, atom.Title); p.Title == "" && title != nil && title.FirstChild != nil {
		p.Title = title.FirstChild.Data
	}
	if article.PublishedTime != nil {
		p.Published = article.PublishedTime.Format(time.RFC3339)
	}
	chars := utf8.RuneCountInString(strings.TrimSpace(article.TextContent))
	if err == nil && article.Node != nil && chars >= minArticleChars && chars*minArticleShare >= countChars(doc) {
		p.Extract = ExtractArticle
		return article.Node
	}
	p.Extract = ExtractPage
	removeControls(doc)
	return doc
}

// newConverter makes a converter that keeps the words of a page unchanged, so that a quotation can be found: it escapes
// nothing. Tables have no padding, since aligned columns would multiply the longest cell by all the others.
func newConverter() *converter.Converter {
	c := converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(
				commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip),
				commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip),
			),
			table.NewTablePlugin(
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal),
				table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
			),
		),
	)
	for _, cell := range []string{"td", "th"} { // of a table without a layout: else the words would run together
		c.Register.TagType(cell, converter.TagTypeBlock, converter.PriorityEarly)
	}
	// The converter turns angle brackets into entities at standard priority. These two hide them from it.
	hide := strings.NewReplacer(hiddenLess, "", hiddenMore, "", "<", hiddenLess, ">", hiddenMore)
	show := strings.NewReplacer(hiddenLess, "<", hiddenMore, ">")
	c.Register.TextTransformer(func(_ converter.Context, text string) string {
		return hide.Replace(text)
	}, converter.PriorityEarly)
	c.Register.TextTransformer(func(_ converter.Context, text string) string {
		return show.Replace(text)
	}, converter.PriorityLate)
	return c
}

// Control characters, which cleanText removes from any page.
const hiddenLess, hiddenMore = "\x01", "\x02"

// parseHTML builds the tree of a page; false if it is too large or too deep, or has an SVG that does not end.
//
// By the HTML standard a parser repeats every unclosed formatting element in each paragraph that follows, so that a few
// kilobytes can become gigabytes. It repeats at most three equal ones: so the attributes of these elements are removed
// here, and the rarer kinds of them too. SVG and the tags of MathML are removed, because a parser reads tags in them
// where the tokenizer below reads text.
func parseHTML(source string) (*html.Node, bool) {
	var tamed strings.Builder
	tamed.Grow(len(source))
	tags, drawings := 0, 0
	tokens := html.NewTokenizer(strings.NewReader(source))
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		raw := string(tokens.Raw())
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken && kind != html.EndTagToken {
			if drawings == 0 {
				tamed.WriteString(raw)
			}
			continue
		}
		if tags++; tags > 2*maxElements {
			return nil, false
		}
		name, more := tokens.TagName()
		switch {
		case string(name) == "svg":
			drawings = max(drawings+drawingDepth(kind), 0)
		case drawings == 0:
			tamed.WriteString(tameTag(tokens, kind, string(name), more, raw))
		}
	}
	if drawings > 0 {
		return nil, false // the text after an unclosed drawing would be lost
	}
	doc, err := html.Parse(strings.NewReader(tamed.String()))
	return doc, err == nil
}

func drawingDepth(kind html.TokenType) int {
	switch kind {
	case html.StartTagToken:
		return 1
	case html.EndTagToken:
		return -1
	}
	return 0
}

// tameTag rewrites the tag of a formatting element, removes one that means nothing to a reader, and keeps others.
func tameTag(tokens *html.Tokenizer, kind html.TokenType, name string, more bool, raw string) string {
	switch name {
	case "b":
		name = "strong"
	case "i":
		name = "em"
	case "tt":
		name = "code"
	case "a", "strong", "em", "code":
	case "big", "font", "math", "nobr", "s", "small", "strike", "u":
		return ""
	default:
		return raw
	}
	if kind == html.EndTagToken {
		return "</" + name + ">"
	}
	if name != "a" {
		return "<" + name + ">"
	}
	for more {
		var key, value []byte
		key, value, more = tokens.TagAttr()
		if string(key) == "href" && isLink(string(value)) {
			return `<a href="` + html.EscapeString(string(value)) + `">`
		}
	}
	return "" // an anchor that leads nowhere
}

// isLink says whether an address is one that a reader could use: not a script, not inline data.
func isLink(href string) bool {
	u, err := url.Parse(strings.TrimSpace(href))
	return err == nil && href != "" && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https" ||
		u.Scheme == "mailto")
}

// prune removes what a person would not see, and flattens deep lists and large tables, whose Markdown would be huge.
func prune(n *html.Node, nesting int) {
	switch n.DataAtom {
	case atom.Ul, atom.Ol, atom.Blockquote:
		if nesting++; nesting > maxNesting {
			makeBlock(n)
		}
	case atom.Li:
		if nesting > maxNesting {
			makeBlock(n)
		}
	case atom.Table:
		tameTable(n)
	}
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if child.Type == html.CommentNode || isUnseen(child) {
			n.RemoveChild(child)
		} else {
			prune(child, nesting)
		}
		child = next
	}
}

// isUnseen says whether an element is invisible: instructions to a model are often in hidden text. Scripts stay, since
// the reader of the page's metadata needs them, and removes them.
func isUnseen(n *html.Node) bool {
	if n.Type != html.ElementNode {
		return false
	}
	switch n.DataAtom {
	case atom.Style, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Canvas, atom.Svg:
		return true
	case atom.Img:
		return attr(n, "alt") == "" || !isLink(attr(n, "src"))
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "aria-hidden":
			if a.Val == "true" {
				return true
			}
		case "style":
			style := strings.ReplaceAll(strings.ToLower(a.Val), " ", "")
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		}
	}
	return false
}

// tameTable bounds the cells of a table; a table with too many becomes plain blocks.
func tameTable(t *html.Node) {
	rows, columns, inRow := 0, 0, 0
	for n := range t.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			rows, inRow = rows+1, 0
		case atom.Td, atom.Th:
			wide, high := boundSpan(n, "colspan"), boundSpan(n, "rowspan")
			inRow += wide * high
			columns = max(columns, inRow)
		}
	}
	if rows*columns <= maxTableCells {
		return
	}
	makeBlock(t)
	for n := range t.Descendants() {
		switch n.DataAtom {
		case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th:
			makeBlock(n)
		}
	}
}

// boundSpan returns how many columns or rows a cell covers, and removes the attribute if it is invalid or too large.
func boundSpan(cell *html.Node, key string) int {
	span, err := strconv.Atoi(attr(cell, key))
	if err == nil && span >= 1 && span <= maxSpan {
		return span
	}
	cell.Attr = slices.DeleteFunc(cell.Attr, func(a html.Attribute) bool { return a.Key == key })
	return 1
}

func makeBlock(n *html.Node) { n.DataAtom, n.Data = atom.Div, atom.Div.String() }

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// removeControls removes navigation and controls.
func removeControls(doc *html.Node) {
	for child := doc.FirstChild; child != nil; {
		next := child.NextSibling
		switch child.DataAtom {
		case atom.Nav, atom.Footer, atom.Aside, atom.Dialog, atom.Button, atom.Select, atom.Input, atom.Textarea:
			doc.RemoveChild(child)
		default:
			removeControls(child)
		}
		child = next
	}
}

// firstOf returns the first element of a kind; nil if there is none.
func firstOf(doc *html.Node, kind atom.Atom) *html.Node {
	for n := range doc.Descendants() {
		if n.DataAtom == kind {
			return n
		}
	}
	return nil
}

// countChars counts the characters of a page's text outside of scripts; each run of white space counts as one.
func countChars(n *html.Node) int {
	if n.DataAtom == atom.Script || n.DataAtom == atom.Noscript || n.DataAtom == atom.Head {
		return 0
	}
	chars := 0
	if n.Type == html.TextNode {
		chars = utf8.RuneCountInString(oneLine(n.Data))
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		chars += countChars(child)
	}
	return chars
}

// bareText returns the words of a page without building its tree: one line per run of text between tags.
func bareText(source string) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(source))
	skip := ""
	for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
		switch kind {
		case html.StartTagToken:
			name, _ := tokens.TagName()
			switch string(name) {
			case "script", "style", "noscript", "template":
				skip = string(name)
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) == skip {
				skip = ""
			}
		case html.TextToken:
			if line := oneLine(string(tokens.Text())); line != "" && skip == "" {
				text.WriteString(line + "\n")
			}
		}
	}
	return text.String()
}
