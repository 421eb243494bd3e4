package text

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestQuotationIsFoundWhateverItsSignsAndBlanks(t *testing.T) {
	for _, c := range []struct{ text, quotation, want string }{
		{"The daily\n  allowance is 16\u00a0mg.", "the daily allowance is 16 mg",
			"The daily\n  allowance is 16\u00a0mg"},
		{"He said “it’s shut” – twice.", "said \"it's shut\" - twice.", "said “it’s shut” – twice."},
		{"Stra\u00adße und Größe", "strasse", ""},
		{"Stra\u00adße und Größe", "straße", "Stra\u00adße"},
		{"at 16 mg, then at 6 mg", "6 mg", "6 mg"},
		{"at 16 mg", "6 mg", ""},
		{"at 1.6 mg", "6 mg", ""},
		{"costs 2,300 euros", "costs 2", ""},
		{"costs 2. Then more", "costs 2", "costs 2"},
		{"unlikely", "likely", ""},
		{"\xff bad \xfe bytes", "bad", "bad"},
		{"anything", "  ", ""},
		{"", "anything", ""},
	} {
		place, found := Find(c.text, c.quotation)
		got := c.text[place.From:place.To]
		assert.That(t, got == c.want && found == (c.want != ""), "%q in %q: %q, want %q", c.quotation, c.text, got, c.want)
	}
}

func FuzzFind(f *testing.F) {
	f.Add("He said “it’s – shut”.", "it's")
	f.Add("İ ẞ \xff", "i")
	f.Fuzz(func(t *testing.T, text, quotation string) {
		place, found := Find(text, quotation)
		assert.That(t, !found || (place.From >= 0 && place.To <= len(text) && place.From < place.To),
			"%+v in %d bytes", place, len(text))
	})
}
