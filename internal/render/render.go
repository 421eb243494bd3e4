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

// Options describe the lines to lay out.
type Options struct {
	Width  int  // columns; 0: 80; less than 8: 8
	Colour bool // show styles by escape sequences; else by Markdown's marks
	Links  bool // make web addresses, and places that Cite knows, clickable (OSC 8)
	// Cite returns the address of a file that a text names, at a line (0: none); "" if there is no such file. It is
	// called only with Links, for each occurrence of what looks like a place in a file, and again each time that a text
	// is laid out. Nil: no links to files.
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

// Lines lays out a whole text, and returns its lines without line feeds.
func Lines(markdown string, o Options) []string {
	s := NewStream(o)
	return append(s.Write(markdown), s.Close()...)
}

// Wrap cleans a text that is no Markdown, and breaks it into lines of at most width columns, at its line feeds and
// between words where possible.
func Wrap(text string, width int) (lines []string) {
	for line := range strings.SplitSeq(Clean(text), "\n") {
		for _, spans := range wrap([]span{{text: line}}, width) {
			lines = append(lines, Options{}.paintLine(spans))
		}
	}
	return lines
}

// markdownParser returns the parser for terminals, which ignores links by reference.
var markdownParser = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(parser.DefaultBlockParsers()...),
			parser.WithInlineParsers(parser.DefaultInlineParsers()...),
			parser.WithParagraphTransformers([]util.PrioritizedValue{}...))),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList))
})

func parse(source []byte) ast.Node { return markdownParser().Parser().Parse(text.NewReader(source)) }
