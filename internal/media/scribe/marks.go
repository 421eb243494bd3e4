package scribe

import (
	"regexp"
	"strings"
	"unicode"

	"sibyl/internal/model"
)

// mark matches the innermost of what transcribers put in brackets in place of speech: [BLANK_AUDIO], (silence),
// 【音楽】, <|nospeech|>, *sighs*. What is longer was said.
var mark = regexp.MustCompile(`\[[^\[\]]{0,60}\]|\([^()]{0,60}\)|（[^（）]{0,60}）|［[^［］]{0,60}］|【[^【】]{0,60}】|〈[^〈〉]{0,60}〉|` +
	`\{[^{}]{0,60}\}|<[^<>]{1,60}>|\*[^*]{1,60}\*`)

// mostSplit is the most segments that one mark is looked for in.
const mostSplit = 6

// isNoSpeech says whether a text has marks and punctuation, and no words beside them.
func isNoSpeech(text string) bool {
	for {
		without := mark.ReplaceAllString(text, "")
		if without == text {
			break
		}
		text = without
	}
	return strings.IndexFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) < 0
}

// withoutMarks returns a transcript without the segments, or the lines where it has none, in which nobody speaks.
func withoutMarks(t model.Transcript) model.Transcript {
	var kept []model.Segment
	var text strings.Builder
	rest, whole := t.Text, true // whether the text consists of its segments
	for i := 0; i < len(t.Segments); i++ {
		silent := silentSegments(t.Segments[i:])
		for _, s := range t.Segments[i : i+max(silent, 1)] {
			part := strings.TrimSpace(s.Text)
			before, after, found := strings.Cut(rest, part)
			whole = whole && found && strings.TrimSpace(before) == ""
			if silent == 0 {
				text.WriteString(before + part)
				kept = append(kept, s)
			}
			rest = after
		}
		i += max(silent, 1) - 1
	}
	if len(t.Segments) > 0 && whole {
		if len(kept) < len(t.Segments) {
			if !isNoSpeech(rest) {
				text.WriteString(rest)
			}
			t.Text, t.Segments = text.String(), kept
		}
		return t
	}
	var lines strings.Builder
	for line := range strings.Lines(t.Text) {
		if strings.TrimSpace(line) == "" || !isNoSpeech(line) {
			lines.WriteString(line)
		}
	}
	if t.Text = lines.String(); isNoSpeech(t.Text) {
		t.Text, kept = "", nil
	}
	t.Segments = kept
	return t
}

// silentSegments returns how many segments at the beginning are one mark, or one without words: a mark may be cut as
// words are.
func silentSegments(segments []model.Segment) int {
	together := ""
	for i, s := range segments[:min(len(segments), mostSplit)] {
		together += s.Text
		switch {
		case isNoSpeech(together):
			return i + 1
		case !strings.ContainsAny(together, "[(（［【〈{<*"):
			return 0
		}
	}
	return 0
}
