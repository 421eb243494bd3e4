package oracle

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

func soughtIn(question string) offline {
	return offline{sit: Situation{Question: question, NoTools: true}, terms: classify.Terms(question)}
}

func passageOf(path string, rank int, lines ...string) passage {
	return passage{source: tool.Code, path: path, from: 1, to: len(lines), lines: lines, hit: hit{rank: rank}}
}

func TestPlacesComeFirstThatHaveTheWordsOfAQuestionTogether(t *testing.T) {
	scattered := []string{"the walrus sleeps", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x",
		"fish is fed to the otter"}
	for _, c := range []struct {
		why, question, want string
		places              []passage
	}{
		{"words in lines far apart are none together", "Who feeds the walrus with fish?", "b.md", []passage{
			passageOf("a.txt", 2, scattered...), passageOf("b.md", 2, "Ida feeds the walrus with fish.")}},
		{"a part of another word is none", "what does the city spend", "b.md", []passage{
			passageOf("a.md", 2, "the capacity is spent"), passageOf("b.md", 2, "the city spent it")}},
		{"where a number is asked for, it stands beside the words", "How long does the walrus sleep?", "b.md", []passage{
			passageOf("a.md", 2, "the walrus is asleep", "see record 0"), passageOf("b.md", 2, "the walrus sleeps 8 hours")}},
		{"a question in German is answered in English, too", "Wann wird die Verbindung beendet?", "b.md", []passage{
			passageOf("a.md", 2, "nothing of it"), passageOf("b.md", 2, "the connection is closed at ten")}},
		{"what a search found first counts by that", "Which licence is it?", "LICENSE", []passage{
			passageOf("a.md", 9, "of no use"), passageOf("LICENSE", 1, "Apache")}},
	} {
		got := soughtIn(c.question).withMostWords(c.places, handyRows, false)
		assert.That(t, len(got) > 0 && got[0].path == c.want, "%s: %v", c.why, got)
	}
}

func TestOfAPlaceTheLinesAreShownThatHaveTheNumber(t *testing.T) {
	p := passageOf("a.md", 1, slices.Concat([]string{"the walrus sleeps until record 1"}, slices.Repeat([]string{"x"}, 9),
		[]string{"its sleep of a walrus lasts 8 hours"})...)
	got := p.excerpt(2, soughtIn("How many hours does the sleep of a walrus last?").sought())
	assert.That(t, strings.Contains(strings.Join(got.lines, "\n"), "8 hours"), "%q", got.lines)
}

func TestForAModelWithoutToolsTheDocumentsBesideTheCodeAreSearched(t *testing.T) {
	for noTools, want := range map[bool]int{true: 2, false: 1} {
		o := soughtIn("How long does the walrus sleep?")
		o.sit.NoTools = noTools
		o.sit.Tools = []tool.Spec{{Name: "code_search", Source: tool.Code, Search: true,
			Schema: []byte(`{"properties":{"query":{}}}`)}}
		calls := o.searchCalls()
		assert.That(t, len(calls) == want && strings.Contains(calls[len(calls)-1].Arguments, documents) == noTools,
			"no tools %v: %v", noTools, calls)
	}
}
