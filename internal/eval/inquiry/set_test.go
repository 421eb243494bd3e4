package inquiry

import (
	"strings"
	"testing"

	evaldata "sibyl/eval"
)

func mustLoad(t *testing.T) []Case {
	t.Helper()
	all, err := Load(evaldata.Files, evaldata.InquiryCases)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestNoTwoCasesShareAHypothesis(t *testing.T) {
	seen := map[string]string{}
	for _, c := range mustLoad(t) {
		if other, twice := seen[plain(c.Hypothesis)]; twice {
			t.Errorf("%s asks the same as %s", c.ID, other)
		}
		seen[plain(c.Hypothesis)] = c.ID
	}
}

func TestEachWitnessAnswersTheQuestionsOfItsInterview(t *testing.T) {
	for _, c := range mustLoad(t) {
		known := map[int]bool{}
		for _, f := range c.Witness.Facts {
			known[f.Pair] = true
		}
		for i, p := range c.Pairs {
			w := newWitness(c)
			if got := w.Answer(p.Question); known[i] && !strings.Contains(got, p.Answer) {
				t.Errorf("%s: pair %d: “%s” gives “%s”", c.ID, i, p.Question, got)
			}
		}
	}
}
