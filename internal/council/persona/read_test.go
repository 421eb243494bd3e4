package persona

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestDecodeRefusesWhatIsNoText(t *testing.T) {
	for name, c := range map[string]struct{ data, reason string }{
		"UTF-16, little end": {"\xff\xfe#\x00 \x00a\x00", "it is UTF-16; save it as UTF-8"},
		"UTF-16, big end":    {"\xfe\xff\x00#\x00 \x00a", "it is UTF-16; save it as UTF-8"},
		"UTF-16, no mark":    {"#\x00 \x00a\x00", "it has a NUL byte in line 1"},
		"NUL":                {"# a\n\nb\x00c", "it has a NUL byte in line 3"},
		"Latin-1":            {"# C\xe9tico", "it is not UTF-8 in line 1; save it as UTF-8"},
		"cut in a character": {"# a\nb\xc3", "it is not UTF-8 in line 2"},
		"empty":              {"", "it is empty"},
		"blank":              {"\ufeff \r\n\t\n", "it is empty"},
		"too large":          {strings.Repeat("x", MaxSize+1), "it is larger than 256 KB"},
	} {
		if text, err := decode([]byte(c.data)); err == nil || !strings.HasPrefix(err.Error(), c.reason) {
			t.Errorf("%s: %q, %v; want %q", name, text, err, c.reason)
		}
	}
}

func TestDecodeGivesPlainText(t *testing.T) {
	for data, want := range map[string]string{
		"\ufeff# A\r\n\r\nb\rc\n":    "# A\n\nb\nc\n",
		"# \ufffd written":           "# \ufffd written",
		strings.Repeat("x", MaxSize): strings.Repeat("x", MaxSize),
	} {
		text, err := decode([]byte(data))
		assert.That(t, err == nil && text == want, "%.20q: %.20q, %v", data, text, err)
	}
}

func parsed(t *testing.T, text string) Persona {
	t.Helper()
	p := assert.Must(parse(text, "/o/some file.md", "/o/link.md", "{{CONTEXT}}"))(t)
	return p
}

func TestParseReadsAnOracle(t *testing.T) {
	text := "# Cético\n\nVocê é um pensador cético e rigoroso.\n\n{{CONTEXT}}\n"
	want := Persona{Name: "Cético", About: "Você é um pensador cético e rigoroso.", File: "/o/some file.md",
		Slug: "cetico", Content: text, Placeholder: "{{CONTEXT}}", Mode: InPlace,
		Warnings: []string{}, Language: "pt"}
	want.ID = parsed(t, "x").ID // of the path alone
	assert.Same(t, want, parsed(t, text))
	assert.Equalf(t, idOf("/prompts/oracles/cetico.md"), "1cb0c6ec", "id")
}

func TestParseWarns(t *testing.T) {
	long := strings.Repeat("palavra ", 5000)
	for text, want := range map[string]string{
		"# A\n{{CONTEXT}}":    "",
		"# A\nno placeholder": "",
		"text\n{{CONTEXT}}": "the first line is not a title " +
			"such as “# Name”, so the file name is used",
		"# A\n{{CONTEXT}} {{CONTEXT}}": "{{CONTEXT}} stands in it 2 times",
		"# A\n{{ CONTEXT }}": "{{ CONTEXT }} is not the " +
			"placeholder and stays unchanged; write {{CONTEXT}}",
		"# A\n{CONTEXT}":                              "{CONTEXT} is not the placeholder",
		"# A\n{{CONTEXT}} ${context}":                 "{context} is not the placeholder",
		"# A\n{{CONTEXTO}}":                           "{{CONTEXTO}} is not the placeholder",
		"# A\n{{CONTEXT}} {{name}}":                   "{{name}} is not the placeholder",
		"# A\n{{{CONTEXT}}}":                          "",
		"# A\n{{CONTEXT}} {x} 5% of 20% {} {a, b}":    "",
		"# A\n<context>\n{{CONTEXT}}\n</context>":     "",
		"# A\n{{CONTEXT}}\n" + long:                   "it is very long: some 10004 tokens go with every question",
		"# A\n{{CONTEXT}}\n<!-- never closed":         "a comment is opened with <!-- and never closed",
		"# A\n<!-- {{CONTEXT}} once -->\n{{CONTEXT}}": "",
	} {
		got := strings.Join(parsed(t, text).Warnings, "; ")
		assert.That(t, (want != "" || got == "") && strings.Contains(got, want), "%.60q: %q, want %q", text, got, want)
	}
}

func TestCommentsAreNoPartOfThePrompt(t *testing.T) {
	for text, want := range map[string]string{
		"a\n\n<!-- note -->\n\nb":          "a\n\nb",
		"a\n<!-- two\nlines -->\nb":        "a\nb",
		"<!-- top -->\n\n# A":              "# A",
		"a <!-- in --> b <!--x--> c":       "a  b  c",
		"a <!-- over\nlines --> b":         "a  b",
		"a\n\n<!-- x --><!-- y -->\n\n\nb": "a\n\n\nb",
		"```\n<!-- code -->\n```":          "```\n<!-- code -->\n```",
		"`<!--` opens <!-- x -->":          "`<!--` opens ",
		"<!--\n```\n-->\na <!-- b -->":     "a ",
		"a <!-- b --> c <!-- open\nd":      "a <!-- b --> c <!-- open\nd",
		"a -- b --> c":                     "a -- b --> c",
	} {
		got, _ := uncomment(text)
		assert.That(t, got == want, "%q: %q, want %q", text, got, want)
	}
	_, err := parse("<!-- all -->\n", "/x.md", "/x.md", "{{CONTEXT}}")
	assert.That(t, err != nil, "a file of comments alone is an oracle")
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"# A\n{{CONTEXT}}", "<!-- a --> `<!--` b", "```\n<!--\n```\n-->", "{{ x }} {CONTEXT}",
		"\ufeff#", "a\r\nb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data string) {
		text, err := decode([]byte(data))
		if err != nil {
			return
		}
		p, err := parse(text, "/a.md", "/a.md", DefaultPlaceholder)
		if err != nil {
			return
		}
		assert.That(t, p.Name != "" && p.Slug != "" && strings.TrimSpace(p.Content) != "" && p.Warnings != nil &&
			len(p.Content) <= len(text), "%q gives %s", data, fmt.Sprintf("%+v", p))
		assert.That(t, (p.Mode == InPlace) == strings.Contains(p.Content, DefaultPlaceholder),
			"%q has the mode %s", data, p.Mode)
	})
}

func TestParseTakesTheNameOfTheFoundFileWithoutATitle(t *testing.T) {
	p := parsed(t, "Just text.")
	assert.That(t, p.Name == "link" && p.Mode == Appended && p.Slug == "link", "%+v", p)
}
