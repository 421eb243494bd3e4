package render

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

const packedDefinitions = "languages/definitions.zip"

// shownPlain are the languages whose rules are code, which no definition can tell.
var shownPlain = []string{"Haxe", "Raku"}

// colouredOtherwise are the languages that chroma colours in part by code, with what their rules alone leave out.
var colouredOtherwise = map[string]string{
	"Common Lisp": "names of its library, told apart by lists of words",
	"EmacsLisp":   "names of its library, told apart by lists of words",
	"HTTP":        "a body that is not JSON, told by the type of content",
}

// rewrite are the rules that stand for those that chroma has as code, by language.
var rewrite = map[string]func(chroma.Rules) error{
	// A text between backquotes is a template, whose rest is a part of the text.
	"Go": func(rules chroma.Rules) error {
		template, err := lexers.GoTextTemplate.(*chroma.RegexLexer).Rules()
		if err != nil {
			return err
		}
		template = template.Rename("root", "between backquotes")
		for _, state := range template {
			for i, rule := range state {
				if rule.Type == chroma.Other {
					state[i].Type = chroma.LiteralString
				}
			}
		}
		maps.Copy(rules, template)
		return replaceRule(rules, "root", "(`)([^`]*)(`)", chroma.Rule{Pattern: "(`)([^`]*)(`)", Type: chroma.ByGroups(
			chroma.LiteralString, chroma.UsingSelf("between backquotes"), chroma.LiteralString)})
	},
	"markdown": func(rules chroma.Rules) error {
		frontmatter := chroma.Rule{Pattern: `\A---\r?\n(?:[^\n]*\n)*?---\r?\n`, Type: chroma.Using("YAML")}
		rules["root"] = slices.Insert(rules["root"], 0, frontmatter)
		return nil
	},
	"HTTP": func(rules chroma.Rules) error {
		headers := rules["headers"]
		if len(headers) < 2 {
			return fmt.Errorf("there are %d rules of headers", len(headers))
		}
		headers[0].Type = chroma.ByGroups(chroma.Name, chroma.Text, chroma.Operator, chroma.Text, chroma.Literal,
			chroma.Text)
		headers[1].Type = chroma.ByGroups(chroma.Text, chroma.Literal, chroma.Text)
		rules["content"] = []chroma.Rule{{Pattern: `[\[{].*`, Type: chroma.Using("JSON")},
			{Pattern: `.+`, Type: chroma.Generic}}
		return nil
	},
	"reStructuredText": func(rules chroma.Rules) error {
		begin := `^( *\.\.)(\s*)((?:source)?code(?:-block)?)(::)([ \t]*)([^\n]+)(\n[ \t]*\n)`
		return replaceRule(rules, "root", begin+`([ \t]+)(.*)(\n)((?:(?:\8.*|)\n)+)`, chroma.Rule{
			Pattern: begin + `(([ \t]+).*\n(?:(?:\9.*|)\n)+)`,
			Type: chroma.UsingByGroup(6, 8, chroma.Punctuation, chroma.Text, chroma.OperatorWord, chroma.Punctuation,
				chroma.Text, chroma.Keyword, chroma.Text, chroma.String, chroma.Ignore)})
	},
}

// ignoreUnnamed names the groups that a rule passes over, since XML has no way to leave one out.
func ignoreUnnamed(rules chroma.Rules) {
	for _, state := range rules {
		for i, rule := range state {
			kind, ok := rule.Type.(chroma.SerialisableEmitter)
			if !ok || kind.EmitterKind() != "bygroups" {
				continue
			}
			groups := slices.Clone(reflect.ValueOf(kind).Elem().FieldByName("Emitters").Interface().(chroma.Emitters))
			for j, group := range groups {
				if group == nil {
					groups[j] = chroma.Ignore
				}
			}
			state[i].Type = chroma.ByGroups(groups...)
		}
	}
}

func replaceRule(rules chroma.Rules, state, pattern string, with chroma.Rule) error {
	i := slices.IndexFunc(rules[state], func(r chroma.Rule) bool { return r.Pattern == pattern })
	if i < 0 {
		return fmt.Errorf("%s has no rule %s", state, pattern)
	}
	rules[state][i] = with
	return nil
}

// unwrap returns the lexer with rules that a lexer of chroma is made of, and the name of the one around it.
func unwrap(lexer chroma.Lexer) (rules *chroma.RegexLexer, within string, err error) {
	if rules, ok := lexer.(*chroma.RegexLexer); ok {
		return rules, "", nil
	}
	v := reflect.ValueOf(lexer).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		held, ok := reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(chroma.Lexer)
		if !ok {
			continue
		}
		if v.Type().Field(i).Name == "root" {
			within = held.Config().Name
		} else if rules, ok = held.(*chroma.RegexLexer); !ok {
			break
		}
	}
	if rules == nil {
		return nil, "", fmt.Errorf("%s is a %T, which holds no rules", lexer.Config().Name, lexer)
	}
	return rules, within, nil
}

// fromChroma returns the files that the definitions of the module chroma make, by name.
func fromChroma() (map[string]string, error) {
	files, index := map[string]string{}, []definition{}
	for _, lexer := range lexers.GlobalLexerRegistry.Lexers {
		config := *lexer.Config()
		if slices.Contains(shownPlain, config.Name) {
			continue
		}
		regex, within, err := unwrap(lexer)
		if err != nil {
			return nil, err
		}
		rules, err := regex.Rules()
		if err != nil {
			return nil, err
		}
		rules = rules.Clone()
		ignoreUnnamed(rules)
		if change := rewrite[config.Name]; change != nil {
			if err := change(rules); err != nil {
				return nil, fmt.Errorf("%s: %w", config.Name, err)
			}
		}
		text, err := rulesAsXML(rules)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", config.Name, err)
		}
		config.MimeTypes, config.Analyse = nil, nil // which guess a language
		file := regexp.MustCompile(`[^-+.\w]`).ReplaceAllString(config.Name, "_") + ".xml"
		if files[file] != "" {
			return nil, fmt.Errorf("two languages make a file %s", file)
		}
		files[file] = text
		index = append(index, definition{File: file, Config: config, Within: within})
	}
	// What is within another comes after it.
	slices.SortStableFunc(index, func(a, b definition) int {
		return cmp.Compare(min(1, len(a.Within)), min(1, len(b.Within)))
	})
	text, err := json.Marshal(index)
	files["index.json"] = string(text)
	return files, err
}

// rulesAsXML writes rules with their states in the order of names, so that equal rules are equal texts.
func rulesAsXML(rules chroma.Rules) (string, error) {
	type state struct {
		Name  string        `xml:"name,attr"`
		Rules []chroma.Rule `xml:"rule"`
	}
	states := []state{}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		states = append(states, state{name, rules[name]})
	}
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"rules"`
		States  []state  `xml:"state"`
	}{States: states})
	return string(text), err
}

// pack packs files in the order of their names, without times.
func pack(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(w, flate.BestCompression)
	})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := io.WriteString(f, files[name]); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// The packed definitions are those of the module that go.mod names: whoever takes another version packs them anew.
func TestDefinitionsAreThoseOfChroma(t *testing.T) {
	want := assert.Must(fromChroma())(t)
	if *update {
		text, err := pack(want)
		if err == nil {
			err = os.WriteFile(packedDefinitions, text, 0o600)
		}
		assert.NoError(t, err)
		return // what is built into this program is what was packed before
	}
	packed := assert.Must(zip.NewReader(strings.NewReader(definitions), int64(len(definitions))))(t)
	const command = "go generate ./internal/render packs them anew"
	for _, f := range packed.File {
		readPacked(packed, f.Name, func(r io.Reader) error {
			text, err := io.ReadAll(r)
			is, ok := want[f.Name]
			assert.That(t, ok && string(text) == is, "%s is not what chroma has (there: %t); %s", f.Name, ok, command)
			delete(want, f.Name)
			return err
		})
	}
	assert.That(t, len(want) == 0, "%s lacks %q; %s", packedDefinitions, slices.Sorted(maps.Keys(want)), command)
}

// Each name, alias and name of a file leads to the language that chroma has for it, but for those that stay plain.
func TestLanguagesAreFoundAsByChroma(t *testing.T) {
	asked := map[string]bool{"": true, "nothing": true, "GO": true, "Makefile.am": true, "x.go.orig": true}
	claims := map[string]int{} // by the pattern of names of files
	for _, lexer := range lexers.GlobalLexerRegistry.Lexers {
		config := lexer.Config()
		for _, name := range slices.Concat(config.Aliases, []string{config.Name}) {
			asked[name] = true
		}
		for _, pattern := range slices.Concat(config.Filenames, config.AliasFilenames) {
			claims[pattern]++
		}
	}
	for pattern, n := range claims {
		if n > 1 { // what only one language claims leads nowhere else
			asked[strings.NewReplacer("*.", "", "*", "x").Replace(pattern)] = true
		}
	}
	nameOf := func(lexer chroma.Lexer) string {
		if lexer == nil {
			return "none"
		}
		return lexer.Config().Name
	}
	for name := range asked {
		got, want := nameOf(languages().Get(name)), nameOf(lexers.Get(name))
		assert.That(t, got == want || slices.Contains(shownPlain, want), "%q is %s, by chroma it is %s", name, got, want)
	}
}

// Each language is coloured as chroma colours it.
func TestLanguagesAreColouredAsByChroma(t *testing.T) { forLanguages(t, colouredAsByChroma) }

// forLanguages tries some of chroma's languages, and with SIBYL_TEST_ALL=1 all: each has to be compiled.
func forLanguages(t *testing.T, try func(t *testing.T, names []string)) {
	t.Helper()
	all := lexers.Names(false)
	t.Run("some", func(t *testing.T) {
		var some []string
		for i := 0; i < len(all); i += 8 {
			some = append(some, all[i])
		}
		try(t, some)
	})
	t.Run("all", func(t *testing.T) {
		needs.All(t, "many languages")
		try(t, all)
	})
}

func colouredAsByChroma(t *testing.T, names []string) {
	t.Helper()
	sample := "#!/bin/sh\n// said \"a\\n\" /* b */ -- c\n# d\n<!-- e --><?php echo 'f'; ?>\n" +
		"<script lang=\"ts\">let g = 1.5e3</script>{{ if .H }}{% for i in j %}<%= k %>${l}\n" +
		"[section]\nkey: value\nkey = 'value' ; m\npublic static class N extends O { int p(q) { return 0x1F; } }\n" +
		"def r(s):\n    \"\"\"t\"\"\"\n    return None\nfunction u() begin select * from v where w <> 1 end\n" +
		"(defun x (y) :z nil)\n\\begin{a} $b$ \\end{a}\n@c #d ö `e` %f%\n\ttab\n\n"
	for _, name := range names {
		if slices.Contains(shownPlain, name) {
			assert.That(t, languages().Get(name) == nil, "%s is not plain", name)
			continue
		}
		var got []chroma.Token
		if _, ok := colouredOtherwise[name]; ok {
			got = tokensOf(t, languages().Get(name), sample)
		} else {
			got = colouredAlike(t, name, sample)
		}
		assert.That(t, len(got) > 0, "%s has no words", name)
	}
}

// What chroma has as code, and these definitions as rules, colours alike.
func TestRulesThatStandForCodeColourAlike(t *testing.T) {
	samples := map[string][]string{
		"markdown": {"---\ntitle: a\nlist: [1, 2]\n---\n# Title\n\n* **a** `b`\n\n```go\nfunc f() {}\n```\n",
			"---\n# no end\n", "a\n---\nb: c\n---\n", "---\r\na: b\r\n---\r\n*c* _d_ ~~e~~\r\n"},
		"reStructuredText": {"Title\n=====\n\n.. code-block:: python\n\n    def f():\n        return 1\n\n    f()\n\n" +
			"End *here*.\n",
			".. code:: nothing\n\n  a b\n  c\n\nd\n"},
		"HTTP": {"POST /a HTTP/1.1\r\nHost: b\r\nContent-Type: application/json\r\n more\r\n\r\n{\"a\": [1, true]}\n",
			"HTTP/1.1 404 Not Found\nX-A: 1\n\nplain text\n", "GET / HTTP/2\nAccept: */*\n\n"},
		"Go": {"package a\n\nconst b = `c {{ if .D }}{{ \"e\" | f }} {{ end }} {{/* g */}}`\n", "a := `open"},
	}
	out := assert.Must(exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output())(t)
	goroot := strings.TrimSpace(string(out))
	for _, pattern := range []string{"go/ast/*.go", "text/template/*.go", "net/http/h2*.go", "math/big/a*.go"} {
		files, err := filepath.Glob(filepath.Join(goroot, "src", pattern))
		assert.Require(t, err == nil && len(files) != 0, "%s: %d files, %v", pattern, len(files), err)
		for _, file := range files {
			text := assert.Must(os.ReadFile(file))(t)
			samples["Go"] = append(samples["Go"], string(text[:min(len(text), 16<<10)]))
		}
	}
	for name, texts := range samples {
		for _, text := range texts {
			colouredAlike(t, name, text)
		}
	}
}

// colouredAlike returns the words of a text, and fails if chroma has others. It tries several times: chroma gives up a
// match after 250 ms, and takes another rule, where the machine is busy.
func colouredAlike(t *testing.T, name, text string) (got []chroma.Token) {
	t.Helper()
	var want []chroma.Token
	for range 20 {
		got, want = tokensOf(t, languages().Get(name), text), tokensOf(t, lexers.Get(name), text)
		if slices.Equal(got, want) {
			return got
		}
	}
	t.Errorf("%s, %.40q: %s", name, text, firstDifference(got, want))
	return got
}

// tokensOf returns the words of a text. Words of one kind that follow each other count as one, since they look so.
func tokensOf(t *testing.T, lexer chroma.Lexer, text string) (all []chroma.Token) {
	t.Helper()
	assert.Require(t, lexer != nil, "there is no such language")
	next := startLexer(lexer, text)
	for range 2 * len(text) { // some lexers find words without letters, on and on
		if next == nil {
			break
		}
		is := nextToken(next)
		if is == chroma.EOF {
			break
		}
		if last := len(all) - 1; last >= 0 && all[last].Type == is.Type {
			all[last].Value += is.Value
		} else if is.Value != "" {
			all = append(all, is)
		}
	}
	return all
}

func firstDifference(got, want []chroma.Token) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("word %d is %#v, by chroma %#v", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("there are %d words, by chroma %d", len(got), len(want))
}

// BenchmarkFirstBlockOfCode renders what a program pays once: all languages by name, and the rules of one.
func BenchmarkFirstBlockOfCode(b *testing.B) {
	for b.Loop() {
		languages = sync.OnceValue(readLanguages)
		_ = HTML("```go\nfunc f() int { return 1 }\n```\n")
	}
}
