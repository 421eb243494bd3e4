package classify

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestWhoWantsSomethingToBeKeptSaysSoInTheirLanguage(t *testing.T) {
	for words, want := range map[string]bool{
		"Write it down in my notes":                            true,
		"Schreib das in meine Notizen":                         true,
		"Lege eine Notiz über den Umzug an":                    true,
		"Füge der Aufgabenliste „Milch kaufen“ hinzu":          true,
		"Anota isto nas minhas notas":                          true,
		"Guarda esta ideia numa nota":                          true,
		"Écris cela dans mes notes":                            true,
		"Ajoute une note sur le bail":                          true,
		"Escribe esto en mis notas":                            true,
		"Guarda la receta en una nota":                         true,
		"Was steht in meinen Notizen zum Umzug?":               false,
		"Que diz a minha nota sobre o contrato?":               false,
		"Que disent mes notes sur le bail ?":                   false,
		"¿Qué dicen mis notas sobre el contrato?":              false,
		"Schreib mir ein Gedicht über den Herbst":              false,
		"Écris-moi un poème sur l'automne":                     false,
		"Escribe una nota de agradecimiento para mi jefa":      false,
		"Escreve uma nota de agradecimento para a minha chefe": false,
		"Écris une note de remerciement pour ma cheffe":        false,
		"Schreib eine Notiz von Dank an meine Chefin":          false,
	} {
		got := Classify(Query{Text: words})
		assert.That(t, got.Saves == want, "%q saves: %v (%s)", words, got.Saves, got.QueryType)
		handed := Classify(Query{Text: words, Handed: true})
		assert.That(t, !handed.Saves, "%q saves because of what is attached", words)
		piped := Classify(Query{Text: "Explain this.\n\n" + words, Piped: true})
		assert.That(t, !piped.Saves, "%q saves because it was piped in", words)
	}
}
