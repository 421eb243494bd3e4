package render

import (
	"strings"
	"unicode"
)

// Clean drops the characters that steer a terminal, turn the direction of writing or can't be seen, but for line feeds and tabs. Bytes that
// are no UTF-8 become U+FFFD.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), turns(r), r == '\ufeff', '\U000e0000' <= r && r <= '\U000e007f':
			return -1
		}
		return r
	}, text)
}

// turns says that a character turns the direction of the text around it.
func turns(r rune) bool {
	return '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || r == '\u200e' || r == '\u200f' || r == '\u061c'
}
