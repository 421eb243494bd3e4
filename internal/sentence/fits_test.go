package sentence

import "testing"

func TestAReasonIsNoTimeAndNoPlace(t *testing.T) {
	for _, c := range []struct {
		language, text string
		gives          bool
	}{
		{"en", "The tree bears fruit since 2022.", false}, {"en", "It was closed, since the roof leaked.", true}, {"en", "Since May it is open.", false},
		{"de", "Der Pächter war nicht da.", false}, {"de", "Sie blieb zu, da das Dach undicht war.", true}, {"de", "Da es regnete, fiel das Fest aus.", true},
		{"de", "Um 15 Uhr beginnt das Programm.", false}, {"de", "Er kam, um Geld zu sparen.", true}, {"de", "Sie schloss, um Kosten einzusparen.", true}, {"de", "Er ging um das Haus.", false},
	} {
		if got := hasReason(c.text, c.language); got != c.gives {
			t.Errorf("%q: %v", c.text, got)
		}
	}
}
