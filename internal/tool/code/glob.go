package code

import (
	"strings"
	"unicode/utf8"
)

// matchGlob matches a slash-separated path with a pattern in which * and ? stay within one name, "**/" stands for any
// number of folders and "/**" for everything below. Its time is bounded by a product of the lengths: only the last star
// is ever tried again, on either level.
func matchGlob(pattern, text string) bool {
	var backPattern, backText string // where to go on with one name more under the last **
	back := false
	p, t := pattern, text
	pMore, tMore := true, true
	for tMore {
		if pMore {
			seg, rest, more := strings.Cut(p, "/")
			if seg == "**" {
				if !more {
					return true // /** needs something below, and here it is
				}
				p, back, backPattern, backText = rest, true, rest, t
				continue
			}
			name, tail, tailMore := strings.Cut(t, "/")
			if matchName(seg, name) {
				p, pMore, t, tMore = rest, more, tail, tailMore
				continue
			}
		}
		if !back {
			return false
		}
		_, tail, more := strings.Cut(backText, "/")
		if !more {
			return false
		}
		backText = tail
		p, pMore, t, tMore = backPattern, true, tail, true
	}
	return !pMore
}

// matchName matches one name with *, ?, [classes] and backslash escapes.
func matchName(pattern, name string) bool {
	p, n := 0, 0
	starP, starN := -1, 0
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				starP, starN = p, n
				p++
				continue
			}
			if n < len(name) {
				if width, used, ok := matchOne(pattern[p:], name[n:]); ok {
					p, n = p+used, n+width
					continue
				}
			}
		}
		if starP < 0 || starN >= len(name) {
			return false
		}
		_, width := utf8.DecodeRuneInString(name[starN:])
		starN += width
		p, n = starP+1, starN
	}
	return true
}

// matchOne matches the first character of a name with the first element of a pattern, and gives the bytes of each.
func matchOne(pattern, name string) (width, used int, ok bool) {
	r, width := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return width, 1, true
	case '[':
		used, ok = matchClass(pattern, r)
		return width, used, ok
	case '\\':
		if len(pattern) == 1 {
			return 0, 0, false
		}
		want, n := utf8.DecodeRuneInString(pattern[1:])
		return width, n + 1, want == r
	}
	want, n := utf8.DecodeRuneInString(pattern)
	return width, n, want == r
}

// matchClass matches a character with the [class] that begins a pattern. A class that is never closed matches nothing.
func matchClass(pattern string, r rune) (used int, ok bool) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	found := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, found != negated
		}
		if name, rest, isNamed := namedClass(pattern[i:]); isNamed {
			found = found || name(r)
			i = len(pattern) - len(rest)
			continue
		}
		low, n := classRune(pattern[i:])
		i += n
		high := low
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			high, n = classRune(pattern[i+1:])
			i += 1 + n
		}
		found = found || low <= r && r <= high
	}
}

func classRune(s string) (rune, int) {
	if s[0] == '\\' && len(s) > 1 {
		r, n := utf8.DecodeRuneInString(s[1:])
		return r, n + 1
	}
	return utf8.DecodeRuneInString(s)
}

// namedClass reads [:name:] at the start of s.
func namedClass(s string) (in func(rune) bool, rest string, ok bool) {
	inner, cut := strings.CutPrefix(s, "[:")
	if !cut {
		return nil, "", false
	}
	name, rest, cut := strings.Cut(inner, ":]")
	if !cut {
		return nil, "", false
	}
	in, ok = posixClasses[name]
	return in, rest, ok
}

func within(low, high rune) func(rune) bool {
	return func(r rune) bool { return low <= r && r <= high }
}

func isLower(r rune) bool { return 'a' <= r && r <= 'z' }
func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }
func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isAlpha(r rune) bool { return isLower(r) || isUpper(r) }
func isAlnum(r rune) bool { return isAlpha(r) || isDigit(r) }

var posixClasses = map[string]func(rune) bool{
	"alpha": isAlpha, "alnum": isAlnum, "digit": isDigit, "lower": isLower, "upper": isUpper,
	"graph": within('!', '~'), "print": within(' ', '~'), "cntrl": func(r rune) bool { return r < ' ' || r == 0x7f },
	"blank": func(r rune) bool { return r == ' ' || r == '\t' },
	"space": func(r rune) bool { return r == ' ' || '\t' <= r && r <= '\r' },
	"punct": func(r rune) bool { return '!' <= r && r <= '~' && !isAlnum(r) },
	"xdigit": func(r rune) bool {
		return isDigit(r) || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F'
	},
}
