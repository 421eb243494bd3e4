package code

import (
	"bytes"
	_ "embed"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// language says how to recognise comments and definitions of a language. Go has a parser of its own, and its rules here
// serve files that don't parse.
type language struct {
	name     string
	comments []string // the beginnings of a line of comment, or of an attribute above a definition
	defines  bool     // it has rules
	rules    func() []rule
}

// rule finds one kind of definition in a line. The last group that matched is the name. need is a literal that every
// match holds: looking for it is 50 times cheaper than the expression.
type rule struct {
	kind, need string
	re         *regexp.Regexp
}

// languageTable finds languages. A file that fits none of them is searched, but has no definitions.
type languageTable struct {
	byEnding map[string]*language // with the dot
	byFile   map[string]*language // whole file names
	byName   map[string]*language // in lower case
	unknown  *language
}

//go:embed languages.txt
var languagesText string

// languages is the one table, read at its first use; the expressions of a language are compiled at their first use.
var languages = sync.OnceValue(func() *languageTable {
	t := &languageTable{
		byEnding: map[string]*language{}, byFile: map[string]*language{}, byName: map[string]*language{},
		unknown: &language{name: "other", rules: func() []rule { return nil }},
	}
	shared := map[string][]string{}
	for block := range strings.SplitSeq(strings.ReplaceAll(languagesText, "\n\t", "\t"), "\n") {
		if block == "" || block[0] == '#' {
			continue
		}
		head, body, _ := strings.Cut(block, "\t")
		if set, is := strings.CutPrefix(head, "rules "); is {
			shared[set] = expandModifiers(strings.Split(body, "\t"))
			continue
		}
		t.addLanguage(head, strings.Split(body, "\t"), shared)
	}
	return t
})

// expandModifiers replaces ^MODS in a shared set of rules by the set's modifiers.
func expandModifiers(lines []string) []string {
	mods, found := strings.CutPrefix(lines[0], "mods ")
	if !found {
		return lines
	}
	var rules []string
	for _, line := range lines[1:] {
		rules = append(rules, strings.Replace(line, "^MODS", mods, 1))
	}
	return rules
}

func (t *languageTable) addLanguage(name string, lines []string, shared map[string][]string) {
	l := &language{name: name}
	t.byName[strings.ToLower(name)] = l
	var rules []string
	for _, line := range lines {
		what, rest, _ := strings.Cut(line, " ")
		switch what {
		case "endings":
			for ending := range strings.FieldsSeq(rest) {
				t.byEnding[ending] = l
			}
		case "names":
			for file := range strings.FieldsSeq(rest) {
				t.byFile[file] = l
			}
		case "comments":
			l.comments = strings.Fields(rest)
		case "uses":
			rules = shared[rest]
		default:
			rules = append(rules, line)
		}
	}
	l.defines = rules != nil
	l.rules = sync.OnceValue(func() []rule {
		compiled := make([]rule, len(rules))
		for i, text := range rules {
			compiled[i] = parseRule(text)
		}
		return compiled
	})
}

// parseRule parses a rule of the embedded table, which a test checks.
func parseRule(text string) rule {
	kind, rest, _ := strings.Cut(text, " ")
	quoted, err := strconv.QuotedPrefix(rest)
	need, bad := strconv.Unquote(quoted)
	if err != nil || bad != nil {
		panic(fmt.Sprintf("rule %q holds no quoted literal", text))
	}
	return rule{kind, need, regexp.MustCompile(strings.TrimSpace(rest[len(quoted):]))}
}

// isControlWord says whether a word is a keyword that rules would take for a function's name.
func isControlWord(word string) bool {
	switch word {
	case "if", "for", "while", "switch", "catch", "return", "else", "do", "new", "function", "sizeof", "defined",
		"throw", "await", "foreach",
		"using", "lock", "when", "match", "until", "unless", "constexpr", "decltype", "super", "this":
		return true
	}
	return false
}

// languageOf recognises a file's language by its name, or else by the interpreter in its first line.
func languageOf(at string, content []byte) *language {
	t, name := languages(), path.Base(at)
	if l := t.byEnding[path.Ext(name)]; l != nil {
		return l
	}
	if l := t.byFile[name]; l != nil {
		return l
	}
	if bytes.HasPrefix(content, []byte("#!")) {
		first, _, _ := bytes.Cut(content, []byte("\n"))
		for _, i := range []struct{ program, language string }{
			{"python", "python"}, {"node", "javascript"}, {"ruby", "ruby"}, {"perl", "perl"}, {"sh", "shell"},
		} {
			if bytes.Contains(first, []byte(i.program)) {
				return t.byName[i.language]
			}
		}
	}
	return t.unknown
}
