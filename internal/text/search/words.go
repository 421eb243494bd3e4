package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxWord is how many bytes of a word count; longer runs are keys, hashes and the like, and are found by their
// beginning.
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
		if IsUnspaced(r) {
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

// IsUnspaced says whether a letter is of a script that puts no spaces between words.
func IsUnspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Padding is how many zero bytes must follow a text that is read as identifiers.
const Padding = 16

// MaxPart is how many bytes of a word of an identifier are looked at: base64 must not cost the square of its length.
const MaxPart = 100

// Lower is a byte in lower case, if it is ASCII.
func Lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// isWord reports bytes that words are made of: letters, digits and all of UTF-8 beyond ASCII. The underscore parts
// words.
func isWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || isUpper(c) || c >= 0x80 }

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// StartsPart reports whether a word of an identifier begins at i: i in idleConn is 0 and 4, in HTTPServer 0 and 4, in
// max_idle 0 and 4. Digits belong to the letters before them. Src is padded.
func StartsPart(src []byte, i int) bool {
	if i == 0 || !isWord(src[i-1]) {
		return true
	}
	if !isUpper(src[i]) {
		return false
	}
	if !isUpper(src[i-1]) {
		return true
	}
	next := src[i+1]
	if !isLetter(next) || isUpper(next) {
		return false
	}
	plural := next == 's' && !isLetter(src[i+2]) // URLs is one word
	return !plural
}

// PartEnd is the end of the word of an identifier that includes i, or a place further on if the word is extremely long.
// src is padded.
func PartEnd(src []byte, i int) int {
	last := min(len(src)-Padding, i+MaxPart)
	for i++; i < last && isWord(src[i]) && !StartsPart(src, i); i++ {
	}
	return i
}

// Parts splits an identifier into its words, in lower case.
func Parts(name string) []string {
	var parts []string
	eachPart(name, func(part string) { parts = append(parts, strings.ToLower(part)) })
	return parts
}

// CountParts is how many words an identifier has.
func CountParts(name string) (n int) {
	eachPart(name, func(string) { n++ })
	return n
}

func eachPart(name string, emit func(part string)) {
	src := append([]byte(name), make([]byte, Padding)...)
	for start := 0; start < len(name); {
		if !isWord(src[start]) {
			start++
			continue
		}
		end := PartEnd(src, start)
		emit(name[start:end])
		start = end
	}
}
