package search

import "strings"

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

// isWord reports bytes that words are made of: letters, digits and all of UTF-8 beyond ASCII. The underscore parts words.
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

// PartEnd gives the end of the word of an identifier that holds i, or a place further on in one that nobody would call a word. Src is
// padded.
func PartEnd(src []byte, i int) int {
	last := min(len(src)-Padding, i+MaxPart)
	for i++; i < last && isWord(src[i]) && !StartsPart(src, i); i++ {
	}
	return i
}

// Parts takes an identifier apart into its words, in lower case.
func Parts(name string) []string {
	var parts []string
	src := append([]byte(name), make([]byte, Padding)...)
	for start := 0; start < len(name); {
		if !isWord(src[start]) {
			start++
			continue
		}
		end := PartEnd(src, start)
		parts = append(parts, strings.ToLower(name[start:end]))
		start = end
	}
	return parts
}
