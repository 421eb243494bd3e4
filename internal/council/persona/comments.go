package persona

import (
	"strings"

	"sibyl/internal/markdown"
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
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if fence.Covers(line) {
			kept = append(kept, line)
			continue
		}
		had := false
		for from := 0; ; {
			at := opening(line, from)
			if at < 0 {
				break
			}
			last := i
			rest := line[at+len(commentOpens):]
			end := strings.Index(rest, commentCloses)
			for end < 0 && last+1 < len(lines) {
				last++
				rest = lines[last]
				end = strings.Index(rest, commentCloses)
			}
			if end < 0 {
				return strings.Join(append(kept, append([]string{line}, lines[i+1:]...)...), "\n"), false
			}
			line, from, i, had = line[:at]+rest[end+len(commentCloses):], at, last, true
		}
		switch {
		case !had || strings.TrimSpace(line) != "":
			kept = append(kept, line)
		case i+1 < len(lines) && strings.TrimSpace(lines[i+1]) == "" && (len(kept) == 0 || strings.TrimSpace(kept[len(kept)-1]) == ""):
			i++ // of the two blank lines around a comment one stays
		}
	}
	return strings.Join(kept, "\n"), true
}

// opening finds where a comment begins in a line, outside of code spans; -1 if none does.
func opening(line string, from int) int {
	for {
		at := strings.Index(line[from:], commentOpens)
		if at < 0 {
			return -1
		}
		at += from
		if strings.Count(line[:at], "`")%2 == 0 {
			return at
		}
		from = at + len(commentOpens)
	}
}
