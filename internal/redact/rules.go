package redact

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed rules.txt
var ruleTexts string

// rule is a line of rules.txt: the form of a token around its keyword.
type rule struct {
	after  func() *regexp.Regexp // from the keyword on; compiled when it is first met
	before func() *regexp.Regexp // nil: the token begins with its keyword
}

// The bounds of a token: bytes that a rule is tried on, and bytes before its keyword. extendToken finds longer ones.
const (
	maxToken  = 512
	maxBefore = 32
)

func addRules(add func(keyword string, find finder)) {
	for line := range strings.Lines(ruleTexts) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] == "#" {
			continue
		}
		for keyword := range strings.SplitSeq(fields[0], "|") {
			r := rule{after: compileLazily(`\A(` + regexp.QuoteMeta(keyword) + fields[1] + `)(?:[^0-9A-Za-z]|\z)`)}
			if len(fields) > 2 {
				r.before = compileLazily(`(?:\A|[^0-9A-Fa-f])(` + fields[2] + `)\z`)
			}
			add(keyword, r.find)
		}
	}
}

func compileLazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func (r rule) find(t string, from, i int) (start, end int) {
	start = i
	if r.before != nil {
		low := max(from, i-maxBefore)
		m := r.before().FindStringSubmatchIndex(t[low:i])
		if m == nil {
			return -1, -1
		}
		start = low + m[2]
	} else if !beginsWord(t, i) {
		return -1, -1
	}
	stop := min(len(t), i+maxToken)
	m := r.after().FindStringSubmatchIndex(t[i:stop])
	if m == nil || !isToken(t[start:i+m[3]]) {
		return -1, -1
	}
	return start, extendToken(t, i+m[3], stop)
}

// extendToken is the end of a token that may continue after stop, the end of the bytes that were tried.
func extendToken(t string, end, stop int) int {
	for end >= stop && end < len(t) && isBearer(t[end]) {
		end++
	}
	return end
}

// isToken says whether a text has a run of letters and digits that no word has: with a digit, or very long.
func isToken(text string) bool {
	const least, enough = 10, 30
	run, digit := 0, false
	for i := range len(text) {
		if !isAlnum(text[i]) {
			run, digit = 0, false
			continue
		}
		run++
		digit = digit || isDigit(text[i])
		if digit && run >= least || run >= enough {
			return true
		}
	}
	return false
}

// beginsWord says whether i is the beginning of a word. The last character of an escape, as in \n, \u0022 or %3D, is
// not part of a word.
func beginsWord(t string, i int) bool {
	before := t[:i]
	if i == 0 || !isURLSafe(t[i-1]) {
		return true
	}
	return strings.HasSuffix(before[:i-1], `\`) || i >= 4 && strings.HasSuffix(before[:i-4], `\u`) ||
		i >= 2 && strings.HasSuffix(before[:i-2], "%")
}

func isDigit(c byte) bool    { return '0' <= c && c <= '9' }
func isUpper(c byte) bool    { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool    { return 'a' <= c && c <= 'z' }
func isAlnum(c byte) bool    { return isDigit(c) || isUpper(c) || isLower(c) }
func isSign(r rune) bool     { return r > 127 || !isAlnum(byte(r)) }
func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isURLSafe(c byte) bool  { return isAlnum(c) || c == '-' || c == '_' }
func isBearer(c byte) bool   { return isURLSafe(c) || strings.IndexByte(".~+/=%", c) >= 0 }
