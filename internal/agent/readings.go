package agent

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

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
		case r >= utf8.RuneSelf && unicode.IsDigit(r):
			return asciiDigit(r)
		case unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r': // a search tool takes it out
			return -1
		}
		return r
	}, norm.NFKD.String(text))
	return strings.ToLower(text)
}

// asciiDigit is a decimal digit of any script. Those of a script stand in order, in blocks of ten.
func asciiDigit(r rune) rune {
	for _, block := range unicode.Nd.R16 {
		if lo, hi := rune(block.Lo), rune(block.Hi); lo <= r && r <= hi {
			return '0' + (r-lo)%10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if lo, hi := rune(block.Lo), rune(block.Hi); lo <= r && r <= hi { //nolint:gosec // both are runes
			return '0' + (r-lo)%10
		}
	}
	return r
}

// readingsOf are the ways in which a folded query can be read: as it is, from escapes, backwards, shifted by thirteen letters, with its words or
// the letters of each the other way round, with what is spelled out or grouped in one, from the numbers of its letters. hidden is what words
// of it hold that are encoded, folded.
func readingsOf(query, written string) (readings, hidden []string) {
	back, fields := reversed(query), strings.Fields(query)
	slices.Reverse(fields)
	hidden = numbered(written)
	readings = []string{query}
	for _, r := range []string{folded(unescaped(written)), back, strings.Map(shifted, query), strings.Join(fields, " "), reversed(strings.Join(fields, " ")),
		spelled(query), strings.Join(hidden, " ")} {
		if r != "" && !slices.Contains(readings, r) {
			readings = append(readings, r)
		}
	}
	for word := range fieldsOf(written) {
		hidden = decoded(hidden, word, mostNested)
	}
	return readings, decoded(hidden, strings.Join(strings.Fields(written), ""), mostNested)
}

// mostNested is how often a text is decoded again.
const mostNested = 3

// decoded appends what a word holds that is encoded, folded, also where that is encoded itself.
func decoded(to []string, word string, most int) []string {
	if word = strings.TrimRight(word, "=.:!?"); len(word) < leastDecoded || most == 0 {
		return to
	}
	base32Of := base32.StdEncoding.WithPadding(base32.NoPadding)
	for _, decode := range []func(string) ([]byte, error){hex.DecodeString, base64.RawStdEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
		func(s string) ([]byte, error) { return base32Of.DecodeString(strings.ToUpper(s)) }} {
		if plain, err := decode(word); err == nil && isWritten(string(plain)) {
			to = decoded(append(to, folded(strings.TrimSpace(string(plain)))), strings.TrimSpace(string(plain)), most-1)
		}
	}
	return to
}

func reversed(text string) string {
	r := []rune(text)
	slices.Reverse(r)
	return string(r)
}

var escape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:%|=|\\x|\\u00|&#x)([0-9a-f]{2});?|&#([0-9]{2,3});?`)
})

// unescaped is a text without its escapes: those of addresses, JSON, HTML and mail, also of each other.
func unescaped(text string) string {
	for range mostNested {
		plain := escape().ReplaceAllStringFunc(strings.ReplaceAll(text, "+", " "), func(found string) string {
			m, base := escape().FindStringSubmatch(found), 16
			digits := m[1]
			if digits == "" {
				digits, base = m[2], 10
			}
			n, err := strconv.ParseUint(digits, base, 8)
			if err != nil {
				return found
			}
			return string([]byte{byte(n)})
		})
		if plain == text {
			break
		}
		text = plain
	}
	return strings.ToValidUTF8(text, " ")
}

// Of what is spelled out.
const (
	leastSpelled = 4 // letters, one by one
	mostGrouped  = 3 // digits of a group of a number
)

// spelled is a text in which letters and digits that stand one by one are words, and groups of digits are numbers.
func spelled(text string) string {
	var out, run []string
	flush := func() {
		single, digits := true, true
		for _, w := range run {
			single, digits = single && utf8.RuneCountInString(w) == 1, digits && isDigits(w)
		}
		if single && len(run) >= leastSpelled || digits && len(run) > 1 {
			run = []string{strings.Join(run, "")}
		}
		out, run = append(out, run...), nil
	}
	for _, w := range wordsOf(text) {
		if utf8.RuneCountInString(w) > 1 && (len(w) > mostGrouped || !isDigits(w)) {
			flush()
			out = append(out, w)
			continue
		}
		run = append(run, w)
	}
	flush()
	return strings.Join(out, " ")
}

func isDigits(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
}

// numbered is what a text says by the numbers of its letters, in pairs of hexadecimal digits, as bits, or as numbers, folded.
func numbered(text string) (said []string) {
	for _, form := range []struct{ base, least, most int }{{16, 2, 2}, {2, 8, 8}, {10, 2, 3}} {
		var run []byte
		flush := func() {
			if len(run) >= leastSpelled && isWritten(string(run)) {
				said = append(said, folded(strings.TrimSpace(string(run))))
			}
			run = nil
		}
		for _, w := range wordsOf(text) {
			n, err := strconv.ParseUint(w, form.base, 8)
			if err != nil || len(w) < form.least || len(w) > form.most {
				flush()
				continue
			}
			run = append(run, byte(n))
		}
		flush()
	}
	return said
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
