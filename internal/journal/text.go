package journal

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Plain says whether text can be kept as text: it is valid UTF-8 without the character NUL, for which PostgreSQL has no
// place.
func Plain(text string) bool { return utf8.ValidString(text) && !strings.Contains(text, "\x00") }

// Clean gives text as it can be kept: what is not valid UTF-8 becomes U+FFFD, and NUL is left out.
func Clean(text string) string {
	if Plain(text) {
		return text
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

const MostTitle = 72 // characters that a title should have at most

// CheckTitle checks the title of a session.
func CheckTitle(title string) error { return wantPlain("the title of a session", title) }

// wantPlain checks texts that are kept as text.
func wantPlain[T ~string](what string, texts ...T) error {
	for _, text := range texts {
		if !Plain(string(text)) {
			return fmt.Errorf("%s is %q: text must be valid UTF-8 without the character NUL: %w", what, text, ErrInvalid)
		}
	}
	return nil
}
