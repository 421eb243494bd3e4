package prompt

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

func TestTemplateIsFilledIn(t *testing.T) {
	full := values{varMaxTurns: "30", varTools: "- a\n- b", varSources: "web"}
	tests := []struct {
		name   string
		text   string
		values values
		want   string
	}{
		{"a text without variables", "Plain { text }} of one line.\n", full, "Plain { text }} of one line."},
		{"a variable", "Maximum {{max_turns}} turns", full, "Maximum 30 turns"},
		{"a variable with spaces", "{{ max_turns }}", full, "30"},
		{"two variables side by side", "{{max_turns}}{{sources}}", full, "30web"},
		{"a section whose value is there", "{{#tools}}Use:\n{{tools}}{{/tools}}", full, "Use:\n- a\n- b"},
		{"a section whose value is not there", "a{{#tools}}Use:\n{{tools}}{{/tools}}b", values{}, "ab"},
		{"a section for the missing value", "{{^tools}}None.{{/tools}}", values{}, "None."},
		{"a section for the missing value that is there", "a{{^tools}}None.{{/tools}}", full, "a"},
		{"tags on lines of their own", "a\n{{#tools}}\nb\n  {{/tools}}  \n{{^tools}}\nc\n{{/tools}}\nd", full,
			"a\nb\nd"},
		{"tags within a line", "a {{#tools}}b{{/tools}} c\n", full, "a b c"},
		{"two tags on one line", "{{#tools}}{{/tools}}\nb", full, "b"},
		{"a value that looks like a variable", "{{sources}}", values{varSources: "{{tools}}", varTools: "x"},
			"{{tools}}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			parsed := assert.Must(newTemplate("file.md", test.text))(t)
			got, _ := parsed.fill(test.values)
			assert.That(t, got.text == test.want, "filled = %q, want %q", got.text, test.want)
		})
	}
}

func TestWrongTemplateIsRefusedWithItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"\n\nMaximum {{turns}} turns": "file.md:3: unknown variable {{turns}}",
		"{{day}}":                     "file.md:1: unknown variable {{day}}",
		"{{}}":                        "file.md:1: unknown variable {{}}",
		"{{{tools}}}":                 "file.md:1: {{ without }}",
		"{{#skills}}{{/skills}}":      "file.md:1: unknown variable {{skills}}",
		"a\n{{tools":                  "file.md:2: {{ without }}",
		"a {{\ntools}}":               "file.md:1: {{ without }}",
		"a\n{{#tools}}\nb":            "file.md:2: the section is never closed; add {{/tools}}",
		"a\n{{/tools}}":               "file.md:2: {{/tools}} closes no open section",
		"{{#tools}}{{/sources}}":      "file.md:1: {{/sources}} closes no open section",
		"{{#tools}}\n{{^sources}}":    "file.md:2: a section inside another; close {{/tools}} first",
	} {
		_, err := newTemplate("file.md", text)
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%q: error = %v, want %q", text, err, want)
	}
}

func TestAnyTextWithoutTagsIsFilledInAsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		for strings.Contains(text, "{{") {
			text = strings.ReplaceAll(text, "{{", "{")
		}
		parsed := assert.Must(newTemplate("file.md", text))(t)
		got, _ := parsed.fill(nil)
		assert.Require(t, got.text == strings.TrimSpace(text), "filled = %q", got.text)
	})
}

func TestNoAcceptedTemplateLeavesATagInThePrompt(t *testing.T) {
	fragment := rapid.SampledFrom([]string{"{{", "}}", "{", "}", "#", "^", "/", "tools", "sources", "max_turns", " ",
		"\n", "word",
		"{{tools}}", "{{#tools}}", "{{^tools}}", "{{/tools}}", "{{max_turns}}"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(fragment, 0, 20).Draw(t, "fragments"), "")
		parsed, err := newTemplate("file.md", text)
		if err != nil {
			return
		}
		for _, v := range []values{{}, {varMaxTurns: "3", varTools: "t", varSources: "s"}} {
			got, _ := parsed.fill(v)
			assert.Require(t, !strings.Contains(got.text, "{{"), "%q is filled in as %q", text, got.text)
		}
	})
}
