package code

import (
	"bytes"
	"regexp"
	"sync"

	"sibyl/internal/tool"
)

// pattern returns an expression that is compiled at its first use.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// lineFinder finds the lines that a regular expression matches.
type lineFinder struct{ *regexp.Regexp }

func newLineFinder(expr string) (lineFinder, error) {
	const hint = "the syntax is RE2; leave regex out to search for words"
	re, err := regexp.Compile(expr)
	switch {
	case err != nil:
		return lineFinder{}, tool.Errorf(tool.InvalidArgs, hint, "the query is no regular expression: %w", err)
	case re.MatchString(""):
		return lineFinder{}, tool.Errorf(tool.InvalidArgs, hint, "the regular expression matches every line")
	}
	return lineFinder{re}, nil
}

func (f lineFinder) find(content []byte, emit func(match)) {
	at := 0
	for line := range bytes.Lines(content) {
		if m := f.FindIndex(bytes.TrimRight(line, "\r\n")); m != nil {
			emit(match{start: at + m[0], end: at + m[1], strength: exactMatch})
		}
		at += len(line)
	}
}
