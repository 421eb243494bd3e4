package sentences_test

import (
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
