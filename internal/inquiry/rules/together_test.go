package rules

import (
	"strings"
	"testing"
)

// Two sentences of one paragraph were meant together by who wrote them; those of two paragraphs, or of two witnesses, need not be.
func TestSentencesOfOneParagraphAreNotHeldAgainstEachOther(t *testing.T) {
	for _, language := range []string{"en", "de"} {
		hypothesis, all := mill(language)
		for parting, suspected := range map[string]int{" ": 0, "\n": 0, "\n\n": 1} {
			all[1].Around = "Notes\n\n" + strings.Join([]string{all[0].Answer, "More.", all[1].Answer}, parting)
			a := Analyse(hypothesis, language, all)
			if len(a.Suspicions) != suspected {
				t.Errorf("%s, parted by %q: %+v", language, parting, a.Suspicions)
			}
		}
	}
}
