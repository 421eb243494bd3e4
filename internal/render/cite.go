package render

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Citation is the text that names a source, as it occurs in an answer, with the number that users see.
type Citation struct {
	Text   string
	Number int
	Unread bool // the run did not read that source
}

// chip is the node that replaces a citation.
type chip struct {
	ast.BaseInline
	citation  Citation
	bracketed bool // it was in brackets or behind its link: only the number is shown
}

var kindChip = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Chip") })

// Kind implements ast.Node.
func (*chip) Kind() ast.NodeKind { return kindChip() }

// Dump implements ast.Node.
func (c *chip) Dump(source []byte, level int) {
	ast.DumpHelper(c, source, level, map[string]string{"Text": c.citation.Text}, nil)
}

// insertChips replaces citations with chips: in words, as a whole code span, or as the address of a link, which keeps
// its words. It ignores blocks of code and the words of links.
func insertChips(doc ast.Node, source []byte, all []Citation) {
	known := make(map[string]Citation, len(all))
	for _, c := range all {
		known[c.Text] = c
	}
	var parents []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // never fails
		switch {
		case !entering:
		case n.Kind() == ast.KindCodeSpan, n.Kind() == ast.KindLink:
			return ast.WalkSkipChildren, nil
		case n.FirstChild() != nil && n.FirstChild().Type() == ast.TypeInline:
			parents = append(parents, n)
		}
		return ast.WalkContinue, nil
	})
	find := citationFinder(all)
	for _, parent := range parents {
		pieces := withChips(parent, source, known, find)
		if !removeBrackets(pieces, source) {
			continue
		}
		parent.RemoveChildren(parent)
		for _, p := range pieces {
			if p != nil {
				parent.AppendChild(parent, p)
			}
		}
	}
}

// citationFinder returns a function that finds citations in a text, except within longer words, preferring long ones.
func citationFinder(all []Citation) func(text []byte) [][]int {
	var each []string
	for _, c := range all {
		each = append(each, regexp.QuoteMeta(c.Text))
	}
	slices.SortFunc(each, func(a, b string) int { return len(b) - len(a) })
	pattern := regexp.MustCompile(strings.Join(each, "|"))
	return func(text []byte) (found [][]int) {
		for _, at := range pattern.FindAllIndex(text, -1) {
			if !endsWord(text[:at[0]]) && !continuesWord().Match(text[at[1]:]) {
				found = append(found, at)
			}
		}
		return found
	}
}

// endsWord reports whether a text ends within a word or path. It looks only at the last character, to stay fast if
// there are very many citations.
func endsWord(text []byte) bool {
	last, _ := utf8.DecodeLastRune(text)
	return unicode.In(last, unicode.L, unicode.N) || strings.ContainsRune("_/~@+-", last)
}

var continuesWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[.:?#&–-]?[\pL\pN_/%=]`) })

// withChips returns the children of a node, with chips in place of citations; neighbouring texts are joined.
func withChips(
	parent ast.Node, source []byte, known map[string]Citation, find func([]byte) [][]int,
) (pieces []ast.Node) {
	var words *ast.Text // the texts since the last other node, joined
	part := func() {
		if words != nil {
			pieces = append(pieces, splitAtCitations(words, source, known, find)...)
		}
		words = nil
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			if words != nil && words.Segment.Stop == t.Segment.Start && !words.SoftLineBreak() &&
				!words.HardLineBreak() {
				start := words.Segment.Start
				words = ast.NewTextSegment(t.Segment.WithStart(start))
				words.SetSoftLineBreak(t.SoftLineBreak())
				words.SetHardLineBreak(t.HardLineBreak())
				continue
			}
			part()
			words = t
			continue
		}
		part()
		switch n := n.(type) {
		case *ast.CodeSpan:
			if c, is := known[codeText(n, source)]; is {
				pieces = append(pieces, &chip{citation: c})
				continue
			}
		case *ast.AutoLink:
			if c, is := known[string(n.URL(source))]; is {
				pieces = append(pieces, &chip{citation: c})
				continue
			}
		case *ast.Link:
			if c, is := known[string(n.Destination)]; is {
				pieces = append(pieces, n, &chip{citation: c, bracketed: true})
				continue
			}
		}
		pieces = append(pieces, n)
	}
	part()
	return pieces
}

// splitAtCitations splits a text at its citations, and puts chips in their place.
func splitAtCitations(
	words *ast.Text, source []byte, known map[string]Citation, find func([]byte) [][]int,
) (pieces []ast.Node) {
	from := words.Segment.Start
	value := words.Segment.Value(source)
	for _, at := range find(value) {
		begin, end := words.Segment.Start+at[0], words.Segment.Start+at[1]
		pieces = append(pieces, ast.NewTextSegment(text.NewSegment(from, begin)),
			&chip{citation: known[string(value[at[0]:at[1]])]})
		from = end
	}
	if from == words.Segment.Start {
		return []ast.Node{words}
	}
	rest := ast.NewTextSegment(text.NewSegment(from, words.Segment.Stop))
	rest.SetSoftLineBreak(words.SoftLineBreak())
	rest.SetHardLineBreak(words.HardLineBreak())
	return append(pieces, rest)
}

// codeText returns the text of a code span.
func codeText(n *ast.CodeSpan, source []byte) string {
	b := &bytes.Buffer{}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	return b.String()
}

var chipSeparator = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[,;]?\s*(?:and|und|e|&)?\s*$`) })

// removeBrackets removes brackets that hold only chips, and sets separators between these to nil; false: no chips.
func removeBrackets(pieces []ast.Node, source []byte) (any bool) {
	words := func(at int) *ast.Text {
		if at < 0 || at >= len(pieces) {
			return nil
		}
		t, _ := pieces[at].(*ast.Text)
		return t
	}
	isChip := func(at int) bool { return at < len(pieces) && pieces[at] != nil && pieces[at].Kind() == kindChip() }
	for first := 0; first < len(pieces); first++ {
		if !isChip(first) {
			continue
		}
		any = true
		last := first
		for isChip(last+2) && words(last+1) != nil && chipSeparator().Match(words(last+1).Segment.Value(source)) {
			last += 2
		}
		before, behind := words(first-1), words(last+1)
		if before != nil && behind != nil && isInBrackets(before.Segment.Value(source), behind.Segment.Value(source)) {
			before.Segment.Stop--
			behind.Segment.Start++
			for at := first; at <= last; at++ {
				if c, is := pieces[at].(*chip); is {
					c.bracketed = true
				} else {
					pieces[at] = nil
				}
			}
		}
		first = last
	}
	return any
}

// isInBrackets reports whether before ends with an opening bracket that behind begins by closing.
func isInBrackets(before, behind []byte) bool {
	return bytes.HasSuffix(before, []byte("(")) && bytes.HasPrefix(behind, []byte(")")) ||
		bytes.HasSuffix(before, []byte("[")) && bytes.HasPrefix(behind, []byte("]"))
}

// writeChip writes a chip as a button whose value is the citation's number; the page opens the source by it.
func writeChip(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	c := n.(*chip)
	if !entering {
		return ast.WalkContinue, nil
	}
	class, place := "cite", c.citation.Text
	if c.citation.Unread {
		class += " unread"
	}
	if u, err := url.Parse(c.citation.Text); err == nil && u.Host != "" {
		place = u.Host
	}
	hidden := ""
	if c.bracketed {
		hidden = " unseen"
	}
	number := strconv.Itoa(c.citation.Number)
	_, err := w.WriteString(`<button type="button" class="` + class + `" value="` + number + `" title="` +
		html.EscapeString(c.citation.Text) + `"><span class="place` + hidden + `">` +
		html.EscapeString(place) + `</span> <span class="number">` + number + `</span></button>`)
	return ast.WalkContinue, err
}
