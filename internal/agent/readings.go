package agent

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// A word of a query that may be encoded, and what is known again of what it holds, in characters.
const (
	leastEncoded = 16
	leastHidden  = 4
	leastDecoded = 6 // of the word
)

// folded is a text as it is compared: without what can't be seen, in one form of its letters, in small ones without marks.
func folded(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
			return -1
		case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r': // a search tool takes it out
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return strings.ToLower(text)
}

// readingsOf are the ways in which a folded query can be read: as it is, from percent signs, backwards, shifted by thirteen letters. hidden
// is what single words of it hold that are encoded, folded.
func readingsOf(query, written string) (readings, hidden []string) {
	readings = []string{query}
	if plain, err := url.QueryUnescape(query); err == nil && plain != query {
		readings = append(readings, folded(plain))
	}
	back := []rune(query)
	slices.Reverse(back)
	readings = append(readings, string(back), strings.Map(shifted, query))
	for word := range fieldsOf(written) {
		if word = strings.TrimRight(word, "=.:!?"); len(word) < leastDecoded {
			continue
		}
		for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
			base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString} {
			if plain, err := decode(word); err == nil && isWritten(string(plain)) {
				hidden = append(hidden, folded(strings.TrimSpace(string(plain))))
			}
		}
	}
	return readings, hidden
}

// isWritten says whether decoded bytes are a text that somebody wrote.
func isWritten(text string) bool {
	return len(strings.TrimSpace(text)) >= leastHidden && !strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsGraphic(r) && !unicode.IsSpace(r)
	})
}

// shifted is a letter of the ASCII alphabet thirteen further.
func shifted(r rune) rune {
	if r >= 'a' && r <= 'z' {
		return 'a' + (r-'a'+13)%26
	}
	return r
}
