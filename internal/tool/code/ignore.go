package code

import (
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rules of gitignore(5). go-git's matcher was tried on the same table and failed it ([!a-z], character classes,
// "/**", a carriage return, exclusion by a parent), and took 160 ms for 60 patterns over 11,000 files.

// ignoreLayer holds the rules of one folder's .gitignore, on top of those of the folders above.
type ignoreLayer struct {
	above *ignoreLayer
	dir   string // its folder, "" for the root
	rules []ignoreRule
	fold  bool // names differ by more than case only: macOS and Windows
}

type ignoreRule struct {
	pattern  string // as pathClasses gives it, without "!", the leading and the trailing slash
	negated  bool
	folders  bool // matches folders only
	anchored bool // matched against the path below dir, not against the last name alone
}

const (
	ignoreFile    = ".gitignore"
	maxIgnoreFile = 1 << 20 // bytes of it that are read
)

// loadIgnores adds the rules of dir, which lies at the path at ("" for the root). A missing, unreadable or linked
// .gitignore adds none, as in git.
func loadIgnores(dir *os.Root, at string, above *ignoreLayer) *ignoreLayer {
	seen, err := dir.Lstat(ignoreFile)
	if err != nil {
		return above
	}
	f, _, err := openRegular(dir, ignoreFile, seen)
	if err != nil {
		return above
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	_ = f.Close() // opened for reading only
	if err != nil {
		return above
	}
	fold := runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	if rules := parseIgnores(string(text), fold); len(rules) > 0 {
		return &ignoreLayer{above: above, dir: at, rules: rules, fold: fold}
	}
	return above
}

func parseIgnores(text string, fold bool) []ignoreRule {
	var rules []ignoreRule
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if fold {
			line = strings.ToLower(line)
		}
		if rule, ok := parseIgnore(line); ok {
			rules = append(rules, rule)
		}
	}
	return rules
}

func parseIgnore(line string) (ignoreRule, bool) {
	var rule ignoreRule
	line = trimIgnoreLine(line)
	if line == "" || line[0] == '#' {
		return rule, false
	}
	line, rule.negated = strings.CutPrefix(line, "!")
	line, rule.folders = strings.CutSuffix(line, "/")
	rule.anchored = strings.Contains(line, "/")
	rule.pattern = pathClasses(strings.TrimPrefix(line, "/"))
	return rule, rule.pattern != ""
}

// trimIgnoreLine drops a carriage return, and the spaces at the end that no backslash keeps.
func trimIgnoreLine(line string) string {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !trailingBackslash(line[:len(line)-1]) {
		line = line[:len(line)-1]
	}
	return line
}

// trailingBackslash reports a backslash at the end that is not itself escaped.
func trailingBackslash(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

// ignored reports whether the last rule that matches excludes the path. The folders above it are the caller's to ask
// about first: what lies in an excluded folder can't be included again.
func (l *ignoreLayer) ignored(at string, folder bool) bool {
	for ; l != nil; l = l.above {
		below := at
		if l.dir != "" {
			below = at[len(l.dir)+1:]
		}
		if l.fold {
			below = strings.ToLower(below)
		}
		for _, rule := range slices.Backward(l.rules) {
			if (folder || !rule.folders) && rule.matches(below) {
				return !rule.negated
			}
		}
	}
	return false
}

func (rule *ignoreRule) matches(below string) bool {
	text := below
	if !rule.anchored {
		text = below[strings.LastIndexByte(below, '/')+1:]
	}
	return matchGlob(rule.pattern, text)
}

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
