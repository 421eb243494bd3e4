package council

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestPlainWishesForTheCouncilAreOfferedInTheirLanguage(t *testing.T) {
	for words, want := range map[string]string{
		"ask the council whether I should move":  "Ask the oracles?",
		"Please consult my oracles about Lisbon": "Ask the oracles?",
		"frag den Rat, ob ich umziehen soll":     "Die Orakel fragen?",
		"pergunte ao conselho se devo mudar":     "Perguntar aos oráculos?",
		"ask the council":                        "",
		"how do I ask the council a question":    "",
		"what did the council decide":            "",
		"frag den Ratgeber nach dem Weg":         "",
	} {
		assert.Equalf(t, wishes().Offers(words), want, "%s", words)
	}
}
