package collect

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/text/language"
)

func TestSevenQuestionsOfOneLanguageNameTheHypothesisAndItsNames(t *testing.T) {
	for code, hypothesis := range map[string]string{
		"en": "The Harbour Bridge was closed by Ada Miller because of corrosion.",
		"de": "Die Brücke wurde von Ada Müller wegen Rost gesperrt.",
		"pt": "A ponte foi fechada por Ada Lopes por causa da corrosão.",
		"fr": "Le pont a été fermé par Ada Meunier à cause de la corrosion.",
		"es": "El puente fue cerrado por Ada Molina a causa de la corrosión.",
	} {
		all := Questions(code, hypothesis)
		assert.Require(t, len(all) == 7, "%s: %d questions", code, len(all))
		seen := map[string]bool{}
		for n, q := range all {
			seen[q.Text] = true
			assert.That(t, strings.Contains(q.Text, strings.TrimSuffix(hypothesis, ".")) && q.Aspect == aspects()[n] &&
				language.Of(q.Text) == code, "%s: %+v, in %q", code, q, language.Of(q.Text))
		}
		assert.That(t, len(seen) == 7 && (strings.Contains(all[3].Text, "Ada M") || strings.Contains(all[3].Text, "Ada L")),
			"%s: %d differ; who: %s", code, len(seen), all[3].Text)
	}
	q := Questions("xx", "H.")
	assert.That(t, q[0].Text == "H: what happened?", "of no language: %s", q[0].Text)
	got := strings.Join(properNames("The Harbour Bridge, of Ada Miller. Nobody saw Ada Miller in Westfield."), "|")
	assert.That(t, got == "Harbour Bridge|Ada Miller|Westfield", "names: %s", got)
}

func TestGapsAreOnlyWhatWasNotFoundAndFiguresThatAreMissing(t *testing.T) {
	pairs := make([]witness.Exchange, 7)
	for n := range pairs {
		pairs[n] = witness.Exchange{Question: "Q?", Answer: "It was said, and nobody knows."}
	}
	pairs[0].NotFound, pairs[0].Answer = true, "I found no passage on this."
	pairs[6].Answer = "It cost 400 euros."
	gaps := Gaps("en", pairs)
	if len(gaps) != 2 || gaps[0].Category != record.MissingInformation || gaps[0].Since != 1 ||
		gaps[1].Category != record.Vagueness || gaps[1].Aspect != "when" {
		t.Errorf("%+v", gaps)
	}
	pairs[1].NotFound, pairs[1].Answer = true, "I found no passage on this. Not read: a.pdf pp. 2-4."
	if got := Gaps("en", pairs)[1].Description; got != "I found no passage on this: Q? Not read: a.pdf pp. 2-4." {
		t.Errorf("%s", got)
	}
	if gaps[0].Description != "I found no passage on this: Q?" {
		t.Errorf("%s", gaps[0].Description)
	}
}
