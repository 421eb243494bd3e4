package document

import (
	"slices"
	"testing"
)

func TestASentenceGoesOnPastALineThatIsMuchShorterThanOthers(t *testing.T) {
	const long = "and goes on in a line which is very much longer than any other line of the " +
		"paragraph, as hands that wrap lines leave it."
	for _, c := range []struct {
		lines []string
		want  []bool
	}{
		{[]string{"A paragraph that somebody wrapped by hand,", long}, []bool{false, true}},
		{[]string{"A sentence that ended here, as a heading does.", long}, []bool{false, false}},
		{[]string{"A heading Without a Full Stop, Forty or More", "And" + long[3:]}, []bool{false, false}},
		{[]string{"The bridge was closed in 1987 because", "of corrosion of its beams."}, []bool{false, true}},
		{[]string{"The bridge of Milford near Derby", "Carol Fisher, engineer"}, []bool{false, false}},
		{[]string{"Bakery", long}, []bool{false, false}},
		{[]string{"A paragraph that somebody wrapped by hand,", "- " + long}, []bool{false, false}},
	} {
		if got := ContinuedLines(c.lines); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v", c.lines, got)
		}
	}
}
