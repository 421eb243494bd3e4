package search

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxWord is how many bytes of a word count; longer runs are keys, hashes and the like, and are found by their beginning.
const MaxWord = 64

// Words takes text apart into words as search compares them: in lower case, without accents. Scripts that do not put
// spaces between words give every pair of neighbouring characters, and the last one alone.
func Words(text string) []string {
	var list []string
	EachWord(text, func(word []byte) { list = append(list, string(word)) })
	return list
}

// EachWord yields the words of text. The slice is valid during the call only.
func EachWord(text string, yield func(word []byte)) {
	if !isASCII(text) {
		text = norm.NFKD.String(text)
	}
	var buf [MaxWord]byte
	word := buf[:0]
	flush := func() {
		if len(word) > 0 {
			yield(word)
			word = buf[:0]
		}
	}
	var previous rune // the last character of a run without spaces; 0 outside of one
	for _, r := range text {
		if r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) {
			continue
		}
		if unspaced(r) {
			flush()
			if previous != 0 {
				yield(utf8.AppendRune(utf8.AppendRune(buf[:0], previous), r))
			}
			previous = r
			continue
		}
		if previous != 0 {
			yield(utf8.AppendRune(buf[:0], previous))
			previous = 0
		}
		if r = wordRune(r); r == 0 {
			flush()
		} else if len(word)+utf8.RuneLen(r) <= MaxWord {
			word = utf8.AppendRune(word, r)
		}
	}
	if previous != 0 {
		yield(utf8.AppendRune(buf[:0], previous))
	}
	flush()
}

// wordRune is r as words hold it; 0 if r is between words.
func wordRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return 0
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		return unicode.ToLower(unicode.ToUpper(r))
	}
	return 0
}

func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
