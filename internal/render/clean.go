package render

import (
	"strings"
	"unicode"
)

// Clean drops the characters that steer a terminal, turn the direction of writing or can't be seen, but for line feeds
// and tabs. Bytes that are no UTF-8 become U+FFFD.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029':
			return ' '
		case r != '\n' && r != '\t' && IsUnsafe(r):
			return -1
		}
		return r
	}, text)
}

// IsUnsafe says that a character steers a terminal, turns the direction of the text around it, or is invisible.
func IsUnsafe(r rune) bool {
	return unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || r == '\ufeff' ||
		'\U000e0000' <= r && r <= '\U000e007f'
}
