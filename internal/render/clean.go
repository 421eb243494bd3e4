package render

import (
	"strings"
	"unicode"
)

// Clean removes unsafe characters (IsUnsafe) except line feeds and tabs. Unicode's line and paragraph separators become
// spaces, and bytes that are not UTF-8 U+FFFD.
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

// IsUnsafe reports whether a character controls a terminal, changes the direction of writing, or is an invisible tag.
func IsUnsafe(r rune) bool {
	return unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || r == '\ufeff' ||
		'\U000e0000' <= r && r <= '\U000e007f'
}
