package front_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/front"
)

func TestSplitReadsNamesWithTheirLines(t *testing.T) {
	entries, rest, err := front.Split("---\nabout: \"Reviews: all\"\n\nweb: false\nvariables:\n  a: 1\n  b:\n---\n\n# T\n---\nx\n")
	assert.Require(t, err == nil && len(entries) == 3, "%+v, %v", entries, err)
	web, variables := entries[1], entries[2].Fields
	assert.That(t, entries[0].Text == "Reviews: all" && web.Text == "false" && web.Line == 4, "%+v", entries)
	assert.That(t, len(variables) == 2 && variables[0].Text == "1" && variables[1].Line == 7 && variables[1].Text == "",
		"%+v", variables)
	assert.Equalf(t, rest, "# T\n---\nx\n", "the rest")
}

func TestSplitLeavesATextWithoutFrontMatter(t *testing.T) {
	for _, text := range []string{"", "# T\n\n---\na: b\n---\n", "--- \nx", "-- -\n"} {
		entries, rest, err := front.Split(text)
		if strings.HasPrefix(text, "--- ") {
			assert.That(t, err != nil && strings.Contains(err.Error(), "no ---"), "%q: %v", text, err)
			continue
		}
		assert.That(t, entries == nil && rest == text && err == nil, "%q: %+v, %q, %v", text, entries, rest, err)
	}
}

func TestSplitNamesTheLineOfWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: 1\na: 2\n---\n":                           "line 3: a stands there twice",
		"---\na: [1]\n---\n":                               "line 2: a takes one value",
		"---\n\n- a\n---\n":                                "line 3: names and values are expected",
		"---\nv:\n  a:\n    b: 1\n---\n":                   "line 3: a takes one value",
		"---\na: 1\n b: 2\n---\n":                          "line 3",
		"---\na: 1\n":                                      "has no --- behind it",
		"---\n" + strings.Repeat("a\n", 9000) + "---\nx\n": "more than 16 KB",
	} {
		_, _, err := front.Split(text)
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%.30q: %v, want %q", text, err, want)
	}
}
