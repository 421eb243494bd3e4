package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Text is what a reader sees of a line: without marks of emphasis, links and code, without tags, and with entities
// resolved. The line is one of a paragraph or the text of a heading: marks of blocks are words in it.
func Text(line string) string {
	source := []byte(line)
	p := parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	var b strings.Builder
	// nothing in it fails
	_ = ast.Walk(p.Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			part := n.Segment.Value(source)
			if n.Parent().Kind() != ast.KindCodeSpan {
				part = resolveEscapes(string(part))
			}
			b.Write(part)
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// Unescaped is a Markdown text in which escapes and references are resolved. Code and marks stay as they are.
func Unescaped(source string) string {
	var out []byte
	done := 0
	code, _ := findCode(source)
	for _, at := range append(code, [2]int{len(source), len(source)}) {
		out = append(append(out, resolveEscapes(source[done:at[0]])...), source[at[0]:at[1]]...)
		done = at[1]
	}
	return string(out)
}

func resolveEscapes(text string) []byte {
	return util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(text))))
}

// CodeBlocks are the contents of the fenced code blocks of a Markdown text, in order, each with its last line end.
func CodeBlocks(source string) (all []string) {
	raw := []byte(source)
	// nothing in it fails
	_ = ast.Walk(goldmark.New().Parser().Parse(text.NewReader(raw)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if block, is := n.(*ast.FencedCodeBlock); is && entering {
				all = append(all, string(block.Lines().Value(raw)))
			}
			return ast.WalkContinue, nil
		})
	return all
}
