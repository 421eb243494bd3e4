package render

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Options say what the lines are for.
type Options struct {
	Width  int  // columns; 0: 80, and at least 8
	Colour bool // styles by sequences; without them, by the marks of Markdown
	Links  bool // addresses of http, https and of citations can be clicked (OSC 8)
	// Cite gives the address of a place in a file that a text names, and "" where there is no such file. line is 0 for
	// the file as a whole. Nil: none. It is asked for whatever looks like a place, once for each time that it stands in
	// the text.
	Cite func(path string, line int) string
}

const (
	usualWidth = 80
	leastWidth = 8
)

func (o Options) width() int {
	if o.Width == 0 {
		return usualWidth
	}
	return max(o.Width, leastWidth)
}

// Lines lays a whole text out, without line feeds.
func Lines(markdown string, o Options) []string {
	s := NewStream(o)
	return append(s.Write(markdown), s.Close()...)
}

// Wrap breaks a text that is no Markdown into lines of at most width columns, between words, and makes it clean. Line
// feeds stay.
func Wrap(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(Clean(text), "\n") {
		for _, spans := range wrap([]span{{text: line}}, width) {
			lines = append(lines, Options{}.paintLine(spans))
		}
	}
	return lines
}

// markdownParser parses without links by reference.
var markdownParser = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers([]util.PrioritizedValue{}...))),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
})

func parse(source []byte) ast.Node { return markdownParser().Parser().Parse(text.NewReader(source)) }
