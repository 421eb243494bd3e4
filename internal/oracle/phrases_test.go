package oracle

import (
	"maps"
	"slices"
	"strings"
	"testing"
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
