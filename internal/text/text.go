// Package text has what all rooms need for texts: sentences, stems, a text in one line or cut short, a count.
// Below it are search (words, ranking), language and markdown.
//
// Guarantees:
//   - Pure: equal texts give equal results.
//   - Any bytes are accepted; valid UTF-8 is never cut within a character.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clip is the longest beginning of s within a limit of bytes that ends with a whole character.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:max(limit, 0)]
}

// OneLine is a text with each run of white space as one blank, and without control characters.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// Brief is a text as one line of at most so many characters; if it is cut, the last one is ….
func Brief(s string, most int) string {
	s = OneLine(s)
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:max(most-1, 0)]) + "…"
}

// Count writes a number with its noun: 1 note, 2 notes, 2 entries, 2 days.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && !strings.ContainsAny(noun[max(len(stem)-1, 0):len(stem)],
		"aeiou") {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Capitalize returns the text with its first character in upper case.
func Capitalize(s string) string {
	_, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:size]) + s[size:]
}
