package code

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"sibyl/internal/text/markdown"
)

// definition is a named part of a file. Lines count from 1; doc <= line <= end.
type definition struct {
	name      string
	container string // the type, class or module it belongs to; "" at the top
	kind      string // func, method, type, field, const, ...
	doc       int    // first line of the comment and the attributes above it; equals line if there are none
	line      int    // of its name
	end       int
	member    bool // a part of another definition's text: a field, one constant of a group
}

// symbol returns the name as people write it: Container.name.
func (d *definition) symbol() string {
	if d.container == "" {
		return d.name
	}
	return d.container + "." + d.name
}

// isValue says whether it is a constant, a variable or a field.
func (d *definition) isValue() bool { return d.kind == "const" || d.kind == "var" || d.kind == "field" }

// source is one file split into lines.
type source struct {
	path  string
	text  []byte
	lang  *language
	lines []int // where each line begins

	before int // lines of the file before text
}

func newSource(at string, text []byte) *source {
	s := &source{path: at, text: text, lang: languageOf(at, text)}
	s.lines = make([]int, 0, len(text)/32+1)
	for start := 0; start < len(text); {
		s.lines = append(s.lines, start)
		i := bytes.IndexByte(text[start:], '\n')
		if i < 0 {
			break
		}
		start += i + 1
	}
	return s
}

// line returns the text of line n, from 1, without its line end.
func (s *source) line(n int) []byte {
	if n < 1 || n > len(s.lines) {
		return nil
	}
	end := len(s.text)
	if n < len(s.lines) {
		end = s.lines[n]
	}
	return bytes.TrimRight(s.text[s.lines[n-1]:end], "\r\n")
}

func (s *source) textOfLines(from, to int) string {
	end := len(s.text)
	if to < len(s.lines) {
		end = s.lines[to]
	}
	return string(s.text[s.lines[from-1]:end])
}

func (s *source) lineAt(offset int) int {
	i, exact := slices.BinarySearch(s.lines, offset)
	if exact {
		return i + 1
	}
	return i
}

func outline(s *source) []definition {
	var defs []definition
	switch s.lang.name {
	case "Go":
		defs = outlineGo(s)
	case "Markdown":
		defs = outlineMarkdown(s)
	}
	if defs == nil {
		defs = outlineByRules(s)
	}
	slices.SortStableFunc(defs, func(a, b definition) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(b.end, a.end))
	})
	return defs
}

// outlineByRules finds definitions by the language's rules, and their ends by indentation.
func outlineByRules(s *source) []definition {
	var defs []definition
	rules := s.lang.rules()
	for n := 1; n <= len(s.lines); n++ {
		line := s.line(n)
		if len(line) > maxLine || isComment(s.lang, line) {
			continue
		}
		kind, name := matchRules(rules, line)
		if name == "" {
			continue
		}
		defs = append(defs, definition{name: name, kind: kind, doc: s.docStart(n), line: n, end: s.blockEnd(n)})
	}
	setContainers(s, defs)
	return defs
}

func matchRules(rules []rule, line []byte) (kind, name string) {
	for _, r := range rules {
		if !bytes.Contains(line, []byte(r.need)) {
			continue
		}
		m := r.re.FindSubmatch(line)
		if m == nil {
			continue
		}
		if name := string(m[len(m)-1]); name != "" && !isControlWord(name) && !startsWithControl(line) {
			return r.kind, name
		}
	}
	return "", ""
}

// startsWithControl says whether a line such as "else if (x) {" or "return f(" is no definition.
func startsWithControl(line []byte) bool {
	word := bytes.TrimLeft(line, " \t\r\n\f}")
	if end := bytes.IndexFunc(word, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
		word = word[:end]
	}
	return isControlWord(string(word)) && string(word) != "function"
}

func isComment(l *language, line []byte) bool {
	trimmed := bytes.TrimLeft(line, " \t")
	return slices.ContainsFunc(l.comments, func(prefix string) bool {
		return bytes.HasPrefix(trimmed, []byte(prefix)) && prefix != "@" && prefix != "["
	})
}

// docStart returns the first line of the comment and the attributes right above line n; n if there are none.
func (s *source) docStart(n int) int {
	for n > 1 {
		above := bytes.TrimLeft(s.line(n-1), " \t")
		if !slices.ContainsFunc(s.lang.comments, func(p string) bool { return bytes.HasPrefix(above, []byte(p)) }) {
			return n
		}
		n--
	}
	return n
}

// blockEnd returns the last line of the block that begins at line n: all lines that are indented deeper, and the
// bracket or "end" that closes it.
func (s *source) blockEnd(n int) int {
	own := indent(s.line(n))
	end := n
	for i := n + 1; i <= len(s.lines); i++ {
		line := s.line(i)
		trimmed := bytes.TrimSpace(line)
		switch {
		case len(trimmed) == 0:
			continue
		case indent(line) > own:
			end = i
		case indent(line) == own && opensBlock(trimmed) && end < n+8:
			end = i // the opening brace of a block, on its own line
		case indent(line) == own && closesBlock(trimmed):
			return i
		default:
			return end
		}
	}
	return end
}

func indent(line []byte) int {
	n := 0
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}

func opensBlock(trimmed []byte) bool {
	return trimmed[0] == '{' || bytes.HasPrefix(trimmed, []byte("begin")) || bytes.HasPrefix(trimmed, []byte("where"))
}

func closesBlock(trimmed []byte) bool {
	word, _, _ := bytes.Cut(trimmed, []byte(" "))
	return strings.IndexByte("})]", trimmed[0]) >= 0 || string(word) == "end"
}

// setContainers sets the container of each definition to the innermost one around it.
func setContainers(s *source, defs []definition) {
	var open []int // indexes of the definitions around the current one, the outermost first
	for i := range defs {
		deep := indent(s.line(defs[i].line))
		for len(open) > 0 {
			last := &defs[open[len(open)-1]]
			if last.end >= defs[i].end && indent(s.line(last.line)) < deep {
				defs[i].container = last.name
				break
			}
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
}

// outlineMarkdown makes a definition of each section. A # in a code block is no heading.
func outlineMarkdown(s *source) []definition {
	defs := []definition{}
	var open []section // the outermost first
	var code markdown.Fence
	for n := 1; n <= len(s.lines); n++ {
		line := string(s.line(n))
		if code.Covers(line) {
			continue
		}
		if level, text, is := markdown.Heading(line); is && text != "" {
			open = closeSections(defs, open, level, n-1)
			open = append(open, section{def: len(defs), level: level})
			defs = append(defs, definition{name: printable(text, maxShort), kind: "section", doc: n, line: n})
		}
	}
	closeSections(defs, open, 1, len(s.lines))
	return defs
}

// section is a heading whose end is not yet known.
type section struct{ def, level int }

// closeSections ends the open sections to which a heading of that level does not belong, and returns the others.
func closeSections(defs []definition, open []section, level, end int) []section {
	for len(open) > 0 && open[len(open)-1].level >= level {
		defs[open[len(open)-1].def].end = end
		open = open[:len(open)-1]
	}
	return open
}
