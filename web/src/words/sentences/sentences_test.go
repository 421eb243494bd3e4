package sentences_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/web/src/words/sentences"
)

func TestSentencesAreSaidInTheLanguageWithWhatStandsInThem(t *testing.T) {
	const asking, guided = bt.Reason("story.asking: Asking {model}"), bt.Reason("held.waits: {why}, so it waits for your yes")
	inner := bt.Reason("held.strangers: text from strangers was read in this run").With()
	for _, c := range []struct {
		why            bt.Why
		language, want string
	}{
		{asking.With("a:b"), "de", "Es antwortet a:b"},
		{asking.With("a:{model}"), "pt", "A consultar a:{model}"},
		{asking.With("a:b"), "fr", "Asking a:b"},
		{asking.With("a:b"), "", "Asking a:b"},
		{guided.With(inner), "de", "in diesem Lauf wurde Text von Fremden gelesen, darum wartet er auf Ihr Ja"},
		{bt.Because("said by nobody"), "de", "said by nobody"},
	} {
		assert.Equalf(t, sentences.Say(c.why, c.language), c.want, "%s in %q", c.why.Text, c.language)
	}
}

func TestLineThatBeginsWithANameKeepsItAsItIs(t *testing.T) {
	const read, asked, whole = bt.Reason("story.read.file: Read {what}"), bt.Reason("story.thought.oracle: Asked {oracle}"),
		bt.Reason("left.denied: {why}; refused, perhaps on its way already")
	late := bt.Reason("held.strangers: text from strangers was read in this run").With()
	for _, c := range []struct {
		why            bt.Why
		language, want string
	}{
		{read.With("greet.go"), "de", "greet.go gelesen"}, {read.With("greet.go"), "", "Read greet.go"},
		{asked.With("ollama:tiny"), "de", "ollama:tiny gefragt"},
		{whole.With(late), "de", "In diesem Lauf wurde Text von Fremden gelesen; abgewiesen, vielleicht schon unterwegs"},
		{whole.With("a.txt"), "", "a.txt; refused, perhaps on its way already"},
		{bt.Because("nothing was found"), "de", "Nothing was found"},
	} {
		assert.Equalf(t, sentences.SayFirst(c.why, c.language), c.want, "%s in %q", c.why.Text, c.language)
	}
}

func TestFormatsOfTheTerminalTakeTheSameValuesInEachLanguage(t *testing.T) {
	text := assert.Must(os.ReadFile("terminal.json"))(t)
	var all map[string]map[string]string
	assert.NoError(t, json.Unmarshal(text, &all))
	verbs := regexp.MustCompile(`%[a-z%]`)
	source := sourceOf(t, "../../../../internal/cli") + sourceOf(t, "../../../../internal/oracle") +
		sourceOf(t, "../../../../internal/service/assistant") + sourceOf(t, "../../../../internal/council")
	for _, language := range sentences.Languages() {
		assert.Equalf(t, len(all[language]), len(all["de"]), "the formats in %s", language)
		for english, format := range all[language] {
			assert.Same(t, strings.Join(verbs.FindAllString(english, -1), ""), strings.Join(verbs.FindAllString(format, -1), ""))
			assert.That(t, strings.Contains(source, english), "nothing says %q", english)
		}
	}
	assert.Equal(t, sentences.Format("pt", "%d tokens", 3), "3 tokens")
	assert.Equal(t, sentences.Format("fr", "said by nobody, %d", 3), "said by nobody, 3")
}

// sourceOf is the source in a folder, with its texts as one where they are written in several parts.
func sourceOf(t *testing.T, folder string) string {
	t.Helper()
	var all strings.Builder
	assert.NoError(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			all.Write(text)
			return err
		}
		return err
	}))
	return regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(all.String(), "")
}
