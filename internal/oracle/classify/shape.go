package classify

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// shapes are the patterns by which a chunk or a line is judged.
type shapes struct{ version, camel, member, header, domain, plural, code, pascal, letters, trace, sql, program *regexp.Regexp }

// Endings of files, and the usual names of the folders of programs.
const (
	codeFiles = `go rs py js jsx ts tsx mjs c h cc cpp hpp cs java kt kts swift rb php scala ex exs erl hs ml lua sh bash ps1 sql html css scss vue svelte
		yaml yml json toml ini xml proto gradle tf lock mod sum cfg conf env glsl frag vert wgsl gd dart r jl zig nim asm s ipynb cmake mk`
	docFiles = "md markdown txt adoc rst org pdf docx"
	folders  = "app bin cmd config docs include internal lib libs packages pkg plugins scripts src test tests tools vendor"
)

var files = sync.OnceValue(func() map[string]map[string]bool { return wordSets(codeFiles, docFiles, folders) })

var shape = sync.OnceValue(func() shapes {
	return shapes{
		version: regexp.MustCompile(`^v?\d[\d.,:%]*[a-z]{0,3}$`),
		camel:   regexp.MustCompile(`[a-z]{2}[A-Z]|[a-z0-9][A-Z][a-z]{2}`),
		member:  regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$`),
		header:  regexp.MustCompile(`^(X|Content|Accept|Cache|Set|If|Access)(-[A-Z][A-Za-z]*)+$`),
		domain:  regexp.MustCompile(`^(www\.)?[\w-]+\.(com|org|net|io|dev|de|br|pt|eu|gov|edu)(/.*)?$`),
		plural:  regexp.MustCompile(`^[A-Z]{2,}s$`),
		code:    regexp.MustCompile(`^[\w.$]+\(.*|[\w)]->\w|\w::\w|^--?[a-z][\w-]*$|^0x[0-9a-fA-F]+$|^@[A-Z]\w+$|[{}=]\w|\w[{}=]|\w#\w|\w\[\w*\]|\w<\w+>`),
		letters: regexp.MustCompile(`^[A-Za-z](\.[A-Za-z])+$`), // e.g, z.B
		pascal:  regexp.MustCompile(`^[A-Z][a-z0-9]+([A-Z]+[a-z0-9]*)+$`),
		trace:   regexp.MustCompile(`^(goroutine \d+|at [\w$.<>]+\(|File ".+", line \d+|[\w./-]+\.(go|c|cc|cpp|rs|java|py|js|ts|rb):\d+|#\d+ +0x|Caused by:)`),
		sql:     regexp.MustCompile(`^(SELECT|INSERT INTO|DELETE FROM|UPDATE|CREATE TABLE|ALTER TABLE|WITH) .*\b(FROM|SET|VALUES|WHERE|\()`),
		program: regexp.MustCompile(`[{}]$|\);$|=.*;$|^(func|def|fn) [\w(].*\(|^class \w+ *[(:{]|^import [\w{*"'].* from |^from [\w.]+ import |^#include |` +
			`^(let|const|var) \w+ *[:=]|^return .*;$|^(public|private|protected|static) [\w<>\[\] ]+[({;=]`),
	}
})

// kindOf judges a chunk by its shape alone; norm is its folded form.
func kindOf(raw, norm string) kind {
	switch {
	case isPlain(norm) && raw[1:] == norm[1:]:
		return word
	case shape().version.MatchString(norm):
		return number
	case strings.Contains(norm, "://"), shape().domain.MatchString(norm):
		return link
	case strings.ContainsRune(raw, '/') && isPath(raw, norm):
		return path
	case shape().plural.MatchString(raw):
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

// inFolder knows a folder's name by the usual names of folders of programs.
func inFolder(norm string) bool {
	first, rest, ok := strings.Cut(norm, "/")
	return ok && files()[folders][first] && isPlain(rest)
}

func isIdent(raw string) bool {
	if strings.Contains(raw, "_") && strings.Trim(raw, "_") != "" || shape().code.MatchString(raw) || shape().header.MatchString(raw) {
		return true
	}
	if shape().camel.MatchString(raw) && !strings.ContainsAny(raw, "-'’") {
		return true
	}
	return shape().member.MatchString(raw) && !shape().letters.MatchString(raw)
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
	if ext, _, _ := strings.Cut(norm[i+1:], ":"); files()[codeFiles][ext] || files()[docFiles][ext] {
		return ext
	}
	return ""
}

// looksPasted reports whether a line is program text or a stack trace rather than something said.
func looksPasted(line string) bool {
	keyword := len(line) > 1 && 'A' <= line[1] && line[1] <= 'Z' || strings.HasPrefix(line, "goroutine ") || strings.HasPrefix(line, "import ") || strings.HasPrefix(line, "from ")
	if !keyword && !strings.ContainsAny(line, "{}()=:;#\"") {
		return false // no pattern matches without one of these
	}
	return shape().trace.MatchString(line) || shape().sql.MatchString(line) || shape().program.MatchString(line) && !strings.HasSuffix(line, "?")
}

// pascal reports names written in capitalised words without any other mark of a program, such as OrderService.
func pascal(raw string) bool { return shape().pascal.MatchString(raw) }
