package bert

import (
	"strings"
	"unicode"
)

// gap stands where a text was cut.
const gap = " … "

// excerpt is the text in one line, without control characters and invalid UTF-8, and at most n characters long: head and tail,
// because a turn says at its beginning what it is about and at its end what it came to.
func excerpt(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	return headAndTail(strings.Join(strings.Fields(text), " "), n)
}

// headAndTail leaves at most n characters of the text.
func headAndTail(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	keep := n - len([]rune(gap))
	if keep <= 0 {
		return string(runes[:n])
	}
	head := (keep + 1) / 2
	return string(runes[:head]) + gap + string(runes[len(runes)-(keep-head):])
}

// alike is the form in which the names of labels are compared: “Go-On”, “go on” and “go_on” are one.
func alike(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(name)))
}

// snippet is foreign text fit for the line of an error: one line, no control characters, short.
func snippet(text string) string { return excerpt(text, 300) }
