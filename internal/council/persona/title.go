package persona

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/text/markdown"
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
	return oneLine(markdown.Text(heading))
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
