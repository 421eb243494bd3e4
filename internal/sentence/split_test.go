package sentence

import (
	"slices"
	"testing"
)

func TestSentencesEndWhereTheyEnd(t *testing.T) {
	for text, want := range map[string]int{
		"Dr. Weiss came at 3 p.m. on Monday. She left.":     2,
		"Am 3. Mai kam er. Am 4. ging er.":                  2,
		"Es waren 12. Danach ging er, z. B. nach Köln.":     2,
		"It cost 1.250 euros (approx. 1,400 dollars). Yes!": 2,
		"“Why?” she asked. “No.” Then silence …":            3,
		"one line\nanother line":                            2,
		"The U.S. firm J. Smith & Co. sold it.":             1,
		"":                                                  0,
	} {
		if got := sentences(text); len(got) != want {
			t.Errorf("%q: %d sentences, want %d", text, len(got), want)
		}
	}
}

func TestFormsOfAWordMeet(t *testing.T) {
	for _, c := range []struct {
		language, a, b string
		meet           bool
	}{
		{"en", "installed", "installation", true}, {"en", "carry", "carried", true}, {"en", "fine", "fined", true}, {"en", "build", "built", true}, {"en", "develop", "development", true}, {"en", "car", "carried", false},
		{"en", "intern", "international", false}, {"de", "pumpe", "pumpen", true}, {"de", "hauser", "haus", true}, {"de", "intervall", "wartungsintervall", true}, {"de", "baute", "aufgebaut", true}, {"de", "begann", "begonnen", true},
		{"de", "prufung", "gepruft", true}, {"de", "mittagessen", "nachmittags", false}, {"de", "schule", "schuld", false},
	} {
		if got := likeness(stem(c.a, c.language), stem(c.b, c.language), c.language) > 0; got != c.meet {
			t.Errorf("%s, %s: %v (%s, %s)", c.a, c.b, got, stem(c.a, c.language), stem(c.b, c.language))
		}
	}
}

func TestAFullStopBehindAQuotationEndsASentence(t *testing.T) {
	got := Split("Maria booked the hotel “Rosa”. The budget (for both). It is \"fixed\". Ask Dr. Kern.")
	if want := []string{"Maria booked the hotel “Rosa”.", "The budget (for both).", "It is \"fixed\".", "Ask Dr. Kern."}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
