package rules

import "testing"

func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           float64
	}{
		{"en", "The tower is thirty-one metres high.", 31},
		{"en", "It took twenty-six days.", 26 * 24 * 3600},
		{"en", "It was two hundred and forty-five metres.", 245},
		{"en", "The walk is nineteen and a half kilometres long.", 19500},
		{"en", "It cost two million and a half dollars.", 2.5e6},
		{"en", "He left with 1,250 copies.", 1250},
		{"de", "Der Turm ist einunddreißig Meter hoch.", 31},
		{"de", "Es waren zweieinhalb Kilometer.", 2500},
		{"de", "Es waren anderthalb Kilometer.", 1500},
		{"de", "Er nahm 1.250 Stück mit.", 1250},
	} {
		l := languages()[c.language]
		got := l.quantities(l.tokens(c.text))
		if len(got) != 1 || got[0].low != c.want {
			t.Errorf("%q: %+v, want one of %v", c.text, got, c.want)
		}
	}
}
