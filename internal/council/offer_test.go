package council

import "testing"

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
		if got := wishes().Offers(words); got != want {
			t.Errorf("%s: %q, not %q", words, got, want)
		}
	}
}
