package persona

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"sibyl/internal/markdown"
)

const (
	maxName      = 120  // characters
	maxTitleLine = 2000 // bytes that are looked at
)

// title is the text of a first line that is a heading of level 1, as a reader of the page would see it: without marks of emphasis, links
// and code. It is "" if the line is none, or holds nothing.
func title(line string) string {
	level, heading, is := markdown.Heading(line)
	if !is || level != 1 {
		return ""
	}
	if len(heading) > maxTitleLine {
		heading = heading[:maxTitleLine]
	}
	return oneLine(inlineText(heading))
}

// inlineText takes the marks of Markdown out of a line.
func inlineText(line string) string {
	source := []byte(line)
	p := parser.NewParser( // no blocks: “1. First things” is a title too
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	var b strings.Builder
	_ = ast.Walk(p.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(n.Segment.Value(source)))))
			case *ast.String:
				b.Write(n.Value)
			case *ast.AutoLink:
				b.Write(n.Label(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// oneLine is a name as a terminal and a header can show it.
func oneLine(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.Is(unicode.Cf, r) && r != '\u200d': // which holds emojis together
			return -1
		case unicode.IsControl(r), unicode.IsSpace(r):
			return ' '
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if runes := []rune(name); len(runes) > maxName {
		name = strings.TrimSpace(string(runes[:maxName-1])) + "…"
	}
	return name
}

// fileTitle is a file's name without its ending.
func fileTitle(file string) string {
	base := filepath.Base(file)
	if name := oneLine(strings.TrimSuffix(base, filepath.Ext(base))); name != "" {
		return name
	}
	return emptySlug
}
