package render

import (
	"bytes"
	"html"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// formula is a formula of TeX in a line: $…$ or \(…\), and $$…$$ or \[…\] where it stands by itself.
type formula struct {
	ast.BaseInline
	tex     []byte
	display bool
}

// formulaBlock is a formula whose delimiters begin and end lines of their own.
type formulaBlock struct {
	ast.BaseBlock
	closing []byte
}

var (
	kindFormula      = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("Formula") })
	kindFormulaBlock = sync.OnceValue(func() ast.NodeKind { return ast.NewNodeKind("FormulaBlock") })
)

// Kind implements ast.Node.
func (*formula) Kind() ast.NodeKind { return kindFormula() }

// Dump implements ast.Node.
func (f *formula) Dump(source []byte, level int) {
	ast.DumpHelper(f, source, level, map[string]string{"TeX": string(f.tex)}, nil)
}

// Kind implements ast.Node.
func (*formulaBlock) Kind() ast.NodeKind { return kindFormulaBlock() }

// IsRaw implements ast.Node: nothing in it is Markdown.
func (*formulaBlock) IsRaw() bool { return true }

// Dump implements ast.Node.
func (f *formulaBlock) Dump(source []byte, level int) { ast.DumpHelper(f, source, level, nil, nil) }

// delimiters are the pairs around a formula, the longer ones first.
var delimiters = []struct {
	opening, closing string
	display          bool
}{{"$$", "$$", true}, {"$", "$", false}, {`\(`, `\)`, false}, {`\[`, `\]`, true}}

// formulaInline parses formulas in a line. Its key is of a map of the parsing: how far in the source it is known that a
// delimiter closes nothing. So a text with many that open and none that close is not read anew for each.
type formulaInline struct{ unclosed parser.ContextKey }

// Trigger implements parser.InlineParser.
func (formulaInline) Trigger() []byte { return []byte{'$', '\\'} }

// Parse implements parser.InlineParser. A formula ends in its paragraph. To leave amounts and variables as they are, a
// dollar stands neither beside a letter or digit outside, nor beside a space inside; and nothing with a backtick, which
// begins code, is a formula.
func (f formulaInline) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	for _, d := range delimiters {
		if !bytes.HasPrefix(line, []byte(d.opening)) {
			continue
		}
		dollar := d.opening[0] == '$'
		if dollar && isWord(block.PrecendingCharacter()) {
			return nil
		}
		row, at := block.Position()
		block.Advance(len(d.opening))
		tex := f.untilClosing(block, d.closing, pc)
		after, _ := block.PeekLine()
		next, _ := utf8.DecodeRune(after)
		inside := strings.TrimSpace(tex)
		if inside != "" && (!dollar || !isWord(next)) && (d.opening != "$" || inside == tex) {
			return &formula{tex: []byte(inside), display: d.display}
		}
		block.SetPosition(row, at)
		return nil
	}
	return nil
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// untilClosing reads up to a closing delimiter that no backslash escapes, and past it; "" if a backtick or the end of
// the paragraph comes first.
func (f formulaInline) untilClosing(block text.Reader, closing string, pc parser.Context) string {
	known := pc.ComputeIfAbsent(f.unclosed, func() any { return map[string]int{} }).(map[string]int)
	var read strings.Builder
	_, at := block.PeekLine()
	if at.Start < known[closing] {
		return ""
	}
	for {
		line, segment := block.PeekLine()
		if line == nil {
			known[closing] = at.Stop
			return ""
		}
		for i := 0; i < len(line); i++ {
			if bytes.HasPrefix(line[i:], []byte(closing)) {
				read.Write(line[:i])
				block.Advance(i + len(closing))
				return read.String()
			}
			if line[i] == '`' {
				known[closing] = segment.Start + i
				return ""
			}
			if line[i] == '\\' {
				i++
			}
		}
		read.Write(line)
		at = segment
		block.AdvanceLine()
	}
}

// formulaBlocks parses formulas that have lines of their own, which may hold empty ones.
type formulaBlocks struct{}

// Trigger implements parser.BlockParser.
func (formulaBlocks) Trigger() []byte { return []byte{'$', '\\'} }

// Open implements parser.BlockParser. What nothing closes is no formula.
func (formulaBlocks) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	for _, d := range delimiters {
		if d.display && string(bytes.TrimSpace(line)) == d.opening &&
			bytes.LastIndex(reader.Source(), []byte(d.closing)) >= segment.Stop {
			reader.AdvanceToEOL()
			return &formulaBlock{closing: []byte(d.closing)}, parser.NoChildren
		}
	}
	return nil, parser.NoChildren
}

// Continue implements parser.BlockParser.
func (formulaBlocks) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	f := node.(*formulaBlock)
	line, segment := reader.PeekLine()
	if rest, ends := bytes.CutSuffix(bytes.TrimRight(line, " \t\r\n"), f.closing); ends {
		if len(bytes.TrimSpace(rest)) > 0 {
			f.Lines().Append(segment.WithStop(segment.Start + len(rest)))
		}
		reader.AdvanceToEOL()
		return parser.Close
	}
	f.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// Close implements parser.BlockParser.
func (formulaBlocks) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (formulaBlocks) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (formulaBlocks) CanAcceptIndentedLine() bool { return false }

// A formula is code with a class, for whoever can't show it otherwise.
const (
	inLine   = "math"
	byItself = "math display"
)

func writeFormula(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	f := n.(*formula)
	class := inLine
	if f.display {
		class = byItself
	}
	return ast.WalkSkipChildren, writeTeX(w, class, f.tex)
}

func writeFormulaBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre>") // to memory
	_ = writeTeX(w, byItself, bytes.TrimSpace(n.Lines().Value(source)))
	_, err := w.WriteString("</pre>\n")
	return ast.WalkSkipChildren, err
}

// writeTeX writes TeX as code. Character references in it are those of markdown.Inert.
func writeTeX(w util.BufWriter, class string, tex []byte) error {
	plain := util.ResolveEntityNames(util.ResolveNumericReferences(tex))
	_, err := w.WriteString(`<code class="` + class + `">` + html.EscapeString(string(plain)) + "</code>")
	return err
}
