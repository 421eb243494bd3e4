package classify

import (
	"regexp"
	"strings"
	"unicode"
)

var (
	versionShape = regexp.MustCompile(`^v?\d[\d.,:%]*[a-z]{0,3}$`)
	camelShape   = regexp.MustCompile(`[a-z]{2}[A-Z]|[a-z0-9][A-Z][a-z]{2}`)
	memberShape  = regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$`)
	headerShape  = regexp.MustCompile(`^(X|Content|Accept|Cache|Set|If|Access)(-[A-Z][A-Za-z]*)+$`)
	domainShape  = regexp.MustCompile(`^(www\.)?[\w-]+\.(com|org|net|io|dev|de|br|pt|eu|gov|edu)(/.*)?$`)
	pluralShape  = regexp.MustCompile(`^[A-Z]{2,}s$`)
	codeShape    = regexp.MustCompile(`^[\w.$]+\(.*|[\w)]->\w|\w::\w|^--?[a-z][\w-]*$|^0x[0-9a-fA-F]+$|^@[A-Z]\w+$|[{}=]\w|\w[{}=]|\w#\w|\w\[\w*\]|\w<\w+>`)
)

// kindOf judges a chunk by its shape alone; norm is its folded form.
func kindOf(raw, norm string) kind {
	switch {
	case isPlain(norm) && raw[1:] == norm[1:]:
		return word
	case versionShape.MatchString(norm):
		return number
	case strings.Contains(norm, "://"), domainShape.MatchString(norm) && !products[norm]:
		return link
	case strings.ContainsRune(raw, '/') && isPath(raw, norm):
		return path
	case products[norm], pluralShape.MatchString(raw):
		return word
	case fileExt(norm) != "":
		return path
	case isIdent(raw):
		return ident
	case isSymbol(raw):
		return symbol
	}
	return word
}

// isPlain says that a word is of ASCII letters alone, so that only capitals can make it anything but a word.
func isPlain(norm string) bool {
	return norm != "" && !strings.ContainsFunc(norm, func(r rune) bool { return r < 'a' || r > 'z' })
}

func isPath(raw, norm string) bool {
	return inFolder(norm) || fileExt(norm) != "" || strings.Count(raw, "/") > 1 || strings.ContainsAny(raw, "_.{*") ||
		len(raw) > 1 && (raw[0] == '/' || raw[0] == '~' || raw[len(raw)-1] == '/')
}

// folders are names that folders of programs begin with, and pairs of ordinary words do not: "net/http" is a place,
// "client/server" and "and/or" are not.
var folders = map[string]bool{
	"app": true, "archive": true, "bin": true, "cmd": true, "components": true, "compress": true, "config": true, "container": true,
	"controllers": true, "crypto": true, "database": true, "encoding": true, "handlers": true, "hash": true, "hooks": true,
	"include": true, "internal": true, "io": true, "lib": true, "libs": true, "log": true, "math": true, "modules": true, "net": true,
	"os": true, "packages": true, "pkg": true, "plugins": true, "routes": true, "runtime": true, "scripts": true, "services": true,
	"src": true, "std": true, "tests": true, "tools": true, "unicode": true, "utils": true, "vendor": true, "views": true,
}

func inFolder(norm string) bool {
	first, rest, ok := strings.Cut(norm, "/")
	return ok && folders[first] && isPlain(rest)
}

func isIdent(raw string) bool {
	if strings.Contains(raw, "_") && strings.Trim(raw, "_") != "" || codeShape.MatchString(raw) || headerShape.MatchString(raw) {
		return true
	}
	if camelShape.MatchString(raw) && !strings.ContainsAny(raw, "-'’") {
		return true
	}
	return memberShape.MatchString(raw) && !abbreviations[strings.ToLower(raw)]
}

func isSymbol(raw string) bool {
	seen := false
	for _, r := range raw {
		switch {
		case unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r):
			seen = true
		case !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Cf, r):
			return seen && unicode.IsPunct(r)
		}
	}
	return seen
}

// fileExt returns the known extension of a file name, without its dot.
func fileExt(norm string) string {
	i := strings.LastIndexByte(norm, '.')
	if i < 0 {
		return ""
	}
	if ext, _, _ := strings.Cut(norm[i+1:], ":"); codeFiles[ext] || docFiles[ext] {
		return ext
	}
	return ""
}

var (
	traceLine = regexp.MustCompile(`^(goroutine \d+|at [\w$.<>]+\(|File ".+", line \d+|[\w./-]+\.(go|c|cc|cpp|rs|java|py|js|ts|rb):\d+|#\d+ +0x|Caused by:)`)
	sqlLine   = regexp.MustCompile(`^(SELECT|INSERT INTO|DELETE FROM|UPDATE|CREATE TABLE|ALTER TABLE|WITH) .*\b(FROM|SET|VALUES|WHERE|\()`)
	codeLine  = regexp.MustCompile(`[{}]$|\);$|=.*;$|^(func|def|fn) [\w(].*\(|^class \w+ *[(:{]|^import [\w{*"'].* from |^from [\w.]+ import |^#include |` +
		`^(let|const|var) \w+ *[:=]|^return .*;$|^(public|private|protected|static) [\w<>\[\] ]+[({;=]`)
)

// looksPasted reports whether a line is program text or a stack trace rather than something said.
func looksPasted(line string) bool {
	return traceLine.MatchString(line) || sqlLine.MatchString(line) || codeLine.MatchString(line) && !strings.HasSuffix(line, "?")
}

// pascal reports names written in capitalised words without any other mark of a program, such as OrderService.
func pascal(raw string) bool { return pascalShape.MatchString(raw) }

var pascalShape = regexp.MustCompile(`^[A-Z][a-z0-9]+([A-Z]+[a-z0-9]*)+$`)
