package render

import (
	"strings"

	"sibyl/internal/text/markdown"
)

// starts says what a line begins, by CommonMark 0.31.
type starts struct {
	heading, rule, fence, quote, item bool
	interrupts                        bool // the item ends a paragraph before it
	content                           int  // the column of what belongs to the item
}

func (s starts) any() bool { return s.heading || s.rule || s.fence || s.quote || s.item }

// startOf reads the beginning of a line. in is how far it is indented, in columns.
func startOf(line string) (in int, s starts) {
	words := strings.TrimLeft(line, " \t")
	for _, r := range line[:len(line)-len(words)] {
		if r == '\t' {
			in += 4 - in%4
		} else {
			in++
		}
	}
	if in > 3 {
		return in, s
	}
	_, _, s.heading = markdown.Heading(line)
	s.rule = isRule(words)
	var fence markdown.Fence
	s.fence = fence.Covers(line) && fence.End() != ""
	s.quote = strings.HasPrefix(words, ">")
	if s.rule || s.heading || s.fence {
		return in, s
	}
	m := markerOf(words, in)
	s.item, s.interrupts, s.content = m.item, m.interrupts, m.content
	return in, s
}

// markerOf reads the mark of an item of a list.
func markerOf(words string, in int) (s starts) {
	digits := len(words) - len(strings.TrimLeft(words, "0123456789"))
	mark := 1
	switch {
	case words == "":
		return s
	case strings.ContainsRune("-*+", rune(words[0])):
		s.interrupts = true
	case digits > 0 && digits < 10 && len(words) > digits && (words[digits] == '.' || words[digits] == ')'):
		mark = digits + 1
		s.interrupts = words[:digits] == "1"
	default:
		return s
	}
	rest := words[mark:]
	behind := strings.TrimLeft(rest, " \t")
	if rest != "" && len(rest) == len(behind) {
		return starts{}
	}
	s.item = true
	s.interrupts = s.interrupts && behind != ""
	s.content = in + mark + 1
	if n := len(rest) - len(behind); behind != "" && n < 5 && !strings.Contains(rest[:n], "\t") {
		s.content = in + mark + n
	}
	return s
}

// isRule says that a line is a thematic break.
func isRule(words string) bool {
	plain := strings.NewReplacer(" ", "", "\t", "").Replace(words)
	return len(plain) >= 3 && strings.ContainsRune("-*_", rune(plain[0])) && strings.Trim(plain, plain[:1]) == ""
}
