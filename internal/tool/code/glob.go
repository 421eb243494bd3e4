package code

import (
	"path"
	"strings"
	"unicode/utf8"
)

// matchGlob matches a slash-separated path with a pattern, as pathClasses gives it, in which * and ? stay within one name, "**/" stands for any
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
			if matches, err := path.Match(seg, name); matches && err == nil {
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

// pathClasses writes the [classes] of a pattern as path.Match takes them: negated by ^, named classes as ranges, all else escaped. One that is
// never closed within its name stays open, and matches nothing.
func pathClasses(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '[':
			i += writeClass(&b, pattern[i:]) - 1
		case pattern[i] == '\\' && i+1 < len(pattern):
			b.WriteString(pattern[i : i+2])
			i++
		default:
			b.WriteByte(pattern[i])
		}
	}
	return b.String()
}

// writeClass writes the class that s begins with, and returns its length.
func writeClass(b *strings.Builder, s string) int {
	b.WriteByte('[')
	i := 1
	if strings.HasPrefix(s[i:], "!") || strings.HasPrefix(s[i:], "^") {
		b.WriteByte('^')
		i++
	}
	for first := true; i < len(s) && s[i] != '/'; first = false {
		if s[i] == ']' && !first {
			b.WriteByte(']')
			return i + 1
		}
		if name, _, closed := strings.Cut(s[i:], ":]"); closed && namedClasses[name] != "" {
			b.WriteString(namedClasses[name])
			i += len(name) + len(":]")
			continue
		}
		i += writeRune(b, s[i:])
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			b.WriteByte('-')
			i += 1 + writeRune(b, s[i+1:])
		}
	}
	return i
}

// writeRune writes a character of a class, with or without a backslash in s, escaped, and returns its length in s.
func writeRune(b *strings.Builder, s string) int {
	rest := s
	if s[0] == '\\' && len(s) > 1 {
		rest = s[1:]
	}
	_, width := utf8.DecodeRuneInString(rest)
	b.WriteString(`\` + rest[:width])
	return len(s) - len(rest) + width
}

// namedClasses are POSIX's, as they begin, in the ranges of path.Match.
var namedClasses = map[string]string{
	"[:alpha": "a-zA-Z", "[:alnum": "a-zA-Z0-9", "[:digit": "0-9", "[:lower": "a-z", "[:upper": "A-Z", "[:xdigit": "0-9a-fA-F",
	"[:graph": "!-~", "[:print": "\\ -~", "[:punct": "!-.:-@\\[-`{-~", "[:cntrl": "\x00-\x1f\x7f", "[:blank": "\\ \t", "[:space": "\\ \t-\r",
}
