package oracle

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/tool"
)

func TestPhrasesWithoutAModelAreThereInEachLanguage(t *testing.T) {
	english := slices.Sorted(maps.Keys(phrases()["en"]))
	for language, own := range phrases() {
		if keys := slices.Sorted(maps.Keys(own)); !slices.Equal(keys, english) && !slices.Equal(keys, []string{"hello"}) {
			t.Errorf("%s has %v, and English %v", language, keys, english)
		}
	}
}

func TestNothingFoundIsSaidInTheLanguageOfTheQuestion(t *testing.T) {
	for question, want := range map[string]string{
		"Who mended the boiler in the house?":               "No language model is in use. There is no source",
		"Wer hat die Heizung im Haus repariert?":            "Es ist kein Sprachmodell in Gebrauch. Es gibt keine Quelle",
		"Quem reparou a caldeira da casa?":                  "Nenhum modelo de linguagem está em uso. Não há nenhuma fonte",
		"Qui a réparé la chaudière de la maison hier soir?": "No language model is in use. There is no source",
	} {
		o := offline{sit: Situation{Question: question}, terms: []string{"boiler"}}
		if said := o.foundNothing().Text; !strings.HasPrefix(said, want) {
			t.Errorf("%s: %s", question, said)
		}
	}
}

func TestWordIsHeldWithoutItsEndingAndAQuotedPhraseWordByWord(t *testing.T) {
	for _, c := range []struct {
		text, term string
		want       bool
	}{
		{"the loop closes here", "closing", true},
		{"plan for the winter", "planned", true},
		{"a full stop", "stopping", true},
		{"calling home", "called", true},
		{"error: missing '-- +begin' annotation", "missing begin annotation", true},
		{"error: missing annotation", "missing begin annotation", false},
		{"nothing of it", "zanzibar", false},
	} {
		assert.Equalf(t, hasTerm(c.text, c.term), c.want, "holds(%q, %q)", c.text, c.term)
	}
}

func TestFoundPlacesAreToldInPlaceOfAJudgement(t *testing.T) {
	found := []agent.Source{{Cite: "a.go:1", Cited: true}, {Cite: "b.go:1"}, {Cite: "c.go:1", Cited: true}}
	for _, c := range []struct {
		model, reason string
		sources       []agent.Source
		tried         []agent.SourceCalls
		want, note    string
	}{
		{model.OfflineRules, StopSatisfied, found, nil, "found 2 places", "found 2 places; 1.5 s"},
		{model.OfflineRules, StopPartial, found[:1], nil, "found 1 place", "found 1 place; 1.5 s"},
		{model.OfflineRules, StopStuck, nil, []agent.SourceCalls{{Source: tool.Code, Calls: 1, Empty: 1}}, "nothing found",
			"nothing found; searched the code; 1.5 s"},
		{model.OfflineRules, StopSatisfied, nil, nil, "nothing searched", "nothing searched; 1.5 s"},
		{model.OfflineRules, StopCancelled, found, nil, StopCancelled, "cancelled; 1.5 s"},
		{"ollama:tiny", StopSatisfied, found, []agent.SourceCalls{{Source: tool.Vault, Calls: 3, Hits: 2, Opened: 1},
			{Source: tool.Web, Opened: 2}}, StopSatisfied,
			"searched the notes, read 1 note, read 2 pages; 1.5 s; ollama:tiny"},
		{"ollama:tiny", StopBudget, nil, []agent.SourceCalls{{Source: "tracker", Hits: 1}}, StopBudget,
			"stopped by the budget; searched tracker; 1.5 s; ollama:tiny"},
	} {
		a := Answer{Model: c.model, StopReason: c.reason, Sources: c.sources, Tried: c.tried, TookMS: 1500}
		outcome := assert.Must(json.Marshal(a))(t)
		shown, err := showAnswer(outcome)
		assert.That(t, err == nil && strings.HasPrefix(shown.Ending[0], c.want+" after ") &&
			shown.Notes[len(shown.Notes)-1] == c.note,
			"%s by %s: %v, %q, %q, wanted %q", c.reason, c.model, err, shown.Ending, shown.Notes, c.want)
	}
}
