package code

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
)

// language is what the tools know of one: how its files are called and what a definition looks like. Go is read by its
// own parser as well, and its rules here serve files that don't parse.
type language struct {
	name     string
	endings  []string // of file names, with the dot
	names    []string // whole file names
	comments []string // what a line of comment or attribute above a definition begins with
	rules    []rule
}

// rule finds one kind of definition in a line. The last group that matched is the name. need is a literal that every
// match holds: looking for it is 50 times cheaper than the expression.
type rule struct {
	kind, need string
	re         *regexp.Regexp
}

func def(kind, need, expr string) rule { return rule{kind, need, regexp.MustCompile(expr)} }

var (
	hash    = []string{"#"}
	slashes = []string{"//", "/*", "*", "@", "#["}
	dashes  = []string{"--"}
)

const jsMods = `^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?`

const classMods = `^\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|partial|case|` +
	`readonly|unsafe|async|override|virtual|export|inline|suspend|export|implicit|lazy|fileprivate|mutating)\s+)*`

// languages is the one table. A file whose ending is not in it is searched, but has no definitions.
var languages = []language{
	{"Go", []string{".go"}, nil, []string{"//", "/*", "*"}, []rule{
		def("method", "func (", `^func \([^)]*\)\s*(\w+)`), def("func", "func ", `^func (\w+)`),
		def("type", "type ", `^type (\w+)`), def("const", "const ", `^const (\w+)`), def("var", "var ", `^var (\w+)`),
	}},
	{"Python", []string{".py", ".pyi", ".pyx"}, nil, []string{"#", "@"}, []rule{
		def("func", "def ", `^\s*(?:async\s+)?def\s+(\w+)`), def("class", "class ", `^\s*class\s+(\w+)`),
		def("const", "=", `^([A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=[^=]`),
	}},
	{"JavaScript", []string{".js", ".jsx", ".mjs", ".cjs"}, nil, slashes, scriptRules},
	{"TypeScript", []string{".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"}, nil, slashes, scriptRules},
	{"Rust", []string{".rs"}, nil, slashes, []rule{
		def("func", "fn ", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+|const\s+|async\s+|unsafe\s+|extern\s+"[^"]*"\s+)*fn\s+(\w+)`),
		def("type", "", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|trait|union|type|mod)\s+(\w+)`),
		def("const", "", `^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static)\s+(?:mut\s+)?([A-Z]\w*)\s*:`),
		def("impl", "impl", `^\s*(?:unsafe\s+)?impl\b(?:<[^{]*?>)?\s+(?:[^{]*?\bfor\s+)?&?(?:\w+::)*(\w+)`),
		def("macro", "macro_rules!", `^\s*macro_rules!\s*(\w+)`),
	}},
	{"Java", []string{".java"}, nil, slashes, classRules},
	{"Kotlin", []string{".kt", ".kts"}, nil, slashes, classRules},
	{"C#", []string{".cs"}, nil, append([]string{"["}, slashes...), classRules},
	{"Scala", []string{".scala", ".sc"}, nil, slashes, classRules},
	{"Swift", []string{".swift"}, nil, slashes, classRules},
	{"PHP", []string{".php"}, nil, append(hash, slashes...), classRules},
	{"Dart", []string{".dart"}, nil, slashes, classRules},
	{"C", []string{".c", ".h"}, nil, slashes, cRules},
	{"C++", []string{".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".ipp", ".cu", ".m", ".mm"}, nil, slashes, cRules},
	{"Ruby", []string{".rb", ".rake", ".gemspec"}, []string{"Rakefile", "Gemfile"}, hash, []rule{
		def("func", "def ", `^\s*def\s+(?:self\.)?([\w]+[?!=]?)`), def("class", "class ", `^\s*class\s+(?:\w+::)*(\w+)`),
		def("module", "module ", `^\s*module\s+(?:\w+::)*(\w+)`), def("const", "=", `^\s*([A-Z][A-Z0-9_]+)\s*=[^=]`),
	}},
	{"Shell", []string{".sh", ".bash", ".zsh", ".ksh"}, nil, hash, []rule{
		def("func", "()", `^\s*(?:function\s+)?([\w:.-]+)\s*\(\)`), def("func", "function ", `^\s*function\s+([\w:.-]+)`),
	}},
	{"Lua", []string{".lua"}, nil, dashes, []rule{def("func", "function", `^\s*(?:local\s+)?function\s+(?:\w+[.:])*(\w+)`)}},
	{"Perl", []string{".pl", ".pm"}, nil, hash, []rule{
		def("func", "sub ", `^\s*sub\s+(\w+)`), def("package", "package ", `^\s*package\s+(?:\w+::)*(\w+)`),
	}},
	{"Elixir", []string{".ex", ".exs"}, nil, append([]string{"@"}, hash...), []rule{
		def("func", "def", `^\s*defp?\s+(\w+[?!]?)`), def("macro", "defmacro", `^\s*defmacrop?\s+(\w+[?!]?)`),
		def("module", "defmodule", `^\s*defmodule\s+(?:\w+\.)*(\w+)`),
	}},
	{"SQL", []string{".sql"}, nil, dashes, []rule{
		def("table", "", `(?i)^\s*create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|virtual\s+|materiali[sz]ed\s+)*`+
			`(?:table|view|index|function|procedure|trigger|type)\s+(?:if\s+not\s+exists\s+)?(?:["\w]+\.)?["`+"`"+`]?(\w+)`),
	}},
	{"Protocol Buffers", []string{".proto"}, nil, slashes, []rule{
		def("type", "", `^\s*(?:message|service|enum)\s+(\w+)`), def("func", "rpc ", `^\s*rpc\s+(\w+)`),
	}},
	{"Assembly", []string{".s", ".S", ".asm"}, nil, []string{"//", ";", "#"}, []rule{
		def("func", "TEXT", `^TEXT\s+(?:[\w∕/.<>]*·)?(\w+)`), def("label", ":", `^([A-Za-z_.]\w*):`),
	}},
	{"Make", []string{".mk"}, []string{"Makefile", "GNUmakefile", "makefile"}, hash, []rule{def("target", ":", `^([\w./-]+)\s*:(?:[^=]|$)`)}},
	{"Terraform", []string{".tf"}, nil, append(hash, slashes...), []rule{
		def("block", `"`, `^(?:resource|data|module|variable|output|provider)\s+(?:"[^"]*"\s+)?"([^"]+)"`),
	}},
	{"Markdown", []string{".md", ".markdown", ".mdx"}, nil, nil, nil},
	{"YAML", []string{".yaml", ".yml"}, nil, hash, nil},
	{"JSON", []string{".json"}, nil, nil, nil},
	{"TOML", []string{".toml"}, nil, hash, []rule{def("table", "[", `^\[+([^\]]+)\]`)}},
	{"XML", []string{".xml", ".xsd", ".plist"}, nil, nil, nil},
	{"HTML", []string{".html", ".htm"}, nil, nil, nil},
	{"CSS", []string{".css", ".scss", ".less"}, nil, slashes, nil},
	{"Docker", []string{".dockerfile"}, []string{"Dockerfile"}, hash, nil},
	{"Text", []string{".txt", ".rst", ".adoc"}, nil, nil, nil},
}

var scriptRules = []rule{
	def("func", "function", jsMods+`function\s*\*?\s*([\w$]+)`),
	def("class", "", jsMods+`(?:class|interface|enum|namespace)\s+([\w$]+)`),
	def("type", "type ", jsMods+`type\s+([\w$]+)\s*[=<]`),
	def("func", "=", jsMods+`(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:function\b|\([^()]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)`),
	def("const", "=", `^(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=`),
	def("method", "(", `^\s+(?:(?:public|private|protected|static|async|override|readonly|get|set)\s+)*\*?([\w$#]+)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^{;]+)?\{\s*$`),
}

// classRules serve the languages whose classes hold their functions.
var classRules = []rule{
	def("class", "", classMods+`(?:class|interface|enum(?:\s+class)?|record|struct|trait|object|protocol|extension|@interface|namespace|mixin)\s+(\w+)`),
	def("func", "fun", classMods+`(?:fun|func|function)\s+(?:<[^>]*>\s*)?(?:\w+\.)?&?(\w+)`),
	def("func", "def ", classMods+`def\s+(\w+)`),
	def("method", "(", `^\s+(?:@\w+\s+)?(?:(?:public|private|protected|internal|static|final|abstract|synchroni[sz]ed|virtual|override|async|`+
		`sealed|native|default|unsafe|extern|external|factory|const)\s+)*(?:<[^>]+>\s+)?[\w<>\[\],.?]+\s+(\w+)\s*\([^;=]*\)?[^;=]*\{?\s*$`),
	def("method", "(", `^\s+(?:public|private|protected|internal)\s+(\w+)\s*\([^;]*$`),
}

var cRules = []rule{
	def("macro", "define", `^\s*#\s*define\s+(\w+)`),
	def("type", "", `^\s*(?:typedef\s+)?(?:template\s*<[^>]*>\s*)?(?:struct|class|enum(?:\s+class)?|union|namespace)\s+(\w+)[^;()]*$`),
	def("type", "typedef", `^\s*typedef\b.*?\b(\w+)\s*;`),
	def("type", "}", `^\}\s*(\w+)\s*;`),
	def("func", "(", `^(?:[A-Za-z_][\w:<>,*&\s~]*?[\s*&])?((?:\w+::)*~?\w+)\s*\([^;]*$`),
}

// notNames are words that look like a function's name to a rule.
var notNames = map[string]bool{
	"if": true, "for": true, "while": true, "switch": true, "catch": true, "return": true, "else": true, "do": true, "new": true,
	"function": true, "sizeof": true, "defined": true, "throw": true, "await": true, "foreach": true, "using": true, "lock": true,
	"when": true, "match": true, "until": true, "unless": true, "constexpr": true, "decltype": true, "super": true, "this": true,
}

var unknownLanguage = &language{name: "other"}

// languageOf tells a file's language by its name, else by the interpreter that its first line names.
func languageOf(at string, content []byte) *language {
	name := path.Base(at)
	ext := path.Ext(name)
	for i := range languages {
		l := &languages[i]
		if slices.Contains(l.endings, ext) || slices.Contains(l.names, name) {
			return l
		}
	}
	if !bytes.HasPrefix(content, []byte("#!")) {
		return unknownLanguage
	}
	first, _, _ := bytes.Cut(content, []byte("\n"))
	for _, i := range interpreters {
		if bytes.Contains(first, []byte(i.program)) {
			return languageNamed(i.language)
		}
	}
	return unknownLanguage
}

// interpreters in the order in which a first line is asked for them.
var interpreters = []struct{ program, language string }{
	{"python", "Python"}, {"node", "JavaScript"}, {"ruby", "Ruby"}, {"perl", "Perl"}, {"sh", "Shell"},
}

// isEnding reports whether a word is the ending of the files of a language, as it is written.
func isEnding(word string) bool {
	return slices.ContainsFunc(languages, func(l language) bool { return slices.Contains(l.endings, "."+word) })
}

// languageNamed finds a language by its name or one of its file endings, with or without the dot; nil if there is none.
func languageNamed(name string) *language {
	ending := "." + strings.TrimPrefix(strings.ToLower(name), ".")
	for i := range languages {
		if l := &languages[i]; strings.EqualFold(l.name, name) || slices.Contains(l.endings, ending) {
			return l
		}
	}
	return nil
}
