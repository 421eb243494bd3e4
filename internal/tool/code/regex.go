package code

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"sync"

	"sibyl/internal/tool"
)

// pattern is an expression that is compiled when it is first used.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// lineFinder finds the lines that a regular expression matches. A literal that every match holds, if the expression
// has one, is looked for first: that is some 50 times faster.
type lineFinder struct {
	re      *regexp.Regexp
	literal []byte
}

func newLineFinder(expr string) (*lineFinder, error) {
	const hint = "the syntax is RE2; leave regex out to search for words"
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidArgs, hint, "the query is no regular expression: %w", err)
	}
	re, err := regexp.Compile(expr)
	if err != nil || re.MatchString("") {
		return nil, tool.Errorf(tool.InvalidArgs, hint, "the regular expression matches every line, or is too large")
	}
	return &lineFinder{re: re, literal: []byte(requiredLiteral(tree.Simplify()))}, nil
}

// requiredLiteral gives the longest text that every match of the expression holds in one piece; "" if none is certain.
func requiredLiteral(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredLiteral(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredLiteral(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if l := requiredLiteral(sub); len(l) > len(longest) {
				longest = l
			}
		}
		return longest
	}
	return ""
}

func (f *lineFinder) find(content []byte, emit func(match)) {
	for at := 0; at < len(content); {
		if len(f.literal) > 0 {
			i := bytes.Index(content[at:], f.literal)
			if i < 0 {
				return
			}
			at = bytes.LastIndexByte(content[:at+i], '\n') + 1
		}
		end := bytes.IndexByte(content[at:], '\n')
		if end < 0 {
			end = len(content) - at
		}
		line := bytes.TrimSuffix(content[at:at+end], []byte("\r"))
		if m := f.re.FindIndex(line); m != nil {
			emit(match{start: at + m[0], end: at + m[1], strength: exactMatch})
		}
		at += end + 1
	}
}
