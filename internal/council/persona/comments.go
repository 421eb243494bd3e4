package persona

import (
	"strings"

	"sibyl/internal/text/markdown"
)

const (
	commentOpens  = "<!--"
	commentCloses = "-->"
)

// uncomment takes the comments out of a Markdown text, and with them the lines that held nothing else. Code blocks and code spans keep
// theirs. A comment that is never closed stays, and closed is false.
func uncomment(text string) (plain string, closed bool) {
	if !strings.Contains(text, commentOpens) {
		return text, true
	}
	var fence markdown.Fence
	var kept []string
	blank := func(line string) bool { return strings.TrimSpace(line) == "" }
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if fence.Covers(lines[i]) {
			kept = append(kept, lines[i])
			continue
		}
		line, last, closed := strip(lines, i)
		had := last > i || len(line) < len(lines[i])
		if !closed {
			return strings.Join(append(kept, lines[i:]...), "\n"), false
		}
		i = last
		switch {
		case !had || !blank(line):
			kept = append(kept, line)
		case i+1 < len(lines) && blank(lines[i+1]) && (len(kept) == 0 || blank(kept[len(kept)-1])):
			i++ // of the two blank lines around a comment one stays
		}
	}
	return strings.Join(kept, "\n"), true
}

// strip gives the line at i without its comments, and the line in which the last of them ends, the rest of which belongs to it.
func strip(lines []string, i int) (line string, last int, closed bool) {
	var b strings.Builder
	rest, ticks := lines[i], 0
	for {
		before, after, opens := strings.Cut(rest, commentOpens)
		b.WriteString(before)
		if !opens {
			return b.String(), i, true
		}
		if ticks += strings.Count(before, "`"); ticks%2 == 1 { // in a code span
			b.WriteString(commentOpens)
			rest = after
			continue
		}
		_, rest, closed = strings.Cut(after, commentCloses)
		for !closed && i+1 < len(lines) {
			i++
			_, rest, closed = strings.Cut(lines[i], commentCloses)
		}
		if !closed {
			return "", i, false
		}
	}
}
