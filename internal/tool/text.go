package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Clip is the longest beginning of s within limit bytes that ends with a whole character.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:max(limit, 0)]
}

// Count writes a number with its noun: 1 note, 2 notes, 2 entries.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
