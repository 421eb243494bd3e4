package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find finds a quotation in a text, letter by letter: only case, and the kind of white space, quotation marks and
// dashes may differ. It is never found inside a word or a number: “6 mg” is not in “16 mg”, nor in “1.6 mg”. The place
// is the first one.
func Find(text, quotation string) (place Span, found bool) {
	words := Fold(quotation)
	if words == "" {
		return Span{}, false
	}
	all, at := foldWithPlaces(text)
	for from := 0; ; {
		i := strings.Index(all[from:], words)
		if i < 0 {
			return Span{}, false
		}
		begin, end := from+i, from+i+len(words)
		if !isInsideWord(all, begin) && !isInsideWord(all, end) {
			_, last := utf8.DecodeRuneInString(text[at[end-1]:])
			return Span{at[begin], at[end-1] + last}, true
		}
		from = begin + 1
	}
}

// Fold is a text in the form that Find compares, without white space around it.
func Fold(text string) string {
	words, _ := foldWithPlaces(text)
	return strings.Trim(words, " ")
}

// foldWithPlaces is a text in the form that Find compares, with the place in the text of each byte.
func foldWithPlaces(text string) (string, []int) {
	var b strings.Builder
	var at []int
	for i, r := range text {
		switch {
		case unicode.IsSpace(r):
			if r = ' '; strings.HasSuffix(b.String(), " ") {
				continue
			}
		case strings.ContainsRune("“”„‟«»", r):
			r = '"'
		case strings.ContainsRune("‘’‚‛", r):
			r = '\''
		case strings.ContainsRune("‐‑‒–—−", r):
			r = '-'
		case r == '\u00ad' || r == '\u200b' || r == '\ufeff': // shown as nothing
			continue
		default:
			r = unicode.ToLower(r)
		}
		for range utf8.RuneLen(r) {
			at = append(at, i)
		}
		b.WriteRune(r)
	}
	return b.String(), at
}

// isInsideWord says whether a place is inside a word or a number.
func isInsideWord(text string, at int) bool {
	before, n := utf8.DecodeLastRuneInString(text[:at])
	after, m := utf8.DecodeRuneInString(text[at:])
	if isPart(before) && isPart(after) {
		return true
	}
	point := func(r rune) bool { return r == '.' || r == ',' }
	far, _ := utf8.DecodeLastRuneInString(text[:at-n])
	next, _ := utf8.DecodeRuneInString(text[at+m:])
	return point(before) && unicode.IsDigit(far) && unicode.IsDigit(after) || point(after) && unicode.IsDigit(before) &&
		unicode.IsDigit(next)
}

func isPart(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
