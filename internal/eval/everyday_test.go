package eval

import (
	"testing"

	evaldata "sibyl/eval"
)

func TestHalvesOfTheEverydaySetFollowTheHash(t *testing.T) {
	for i, q := range mustLoad(t, evaldata.EverydayQueries) {
		if q.Half != HalfOf(q.Text) {
			t.Errorf("query %d %q is in half %q, its hash says %q", i+1, q.Text, q.Half, HalfOf(q.Text))
		}
	}
}

func TestNoEverydayQueryStandsInAnotherSet(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{evaldata.Queries, evaldata.PersonaQueries, evaldata.EverydayQueries} {
		for _, q := range mustLoad(t, name) {
			if seen[plain(q)] {
				t.Errorf("%s: %q stands in the sets twice", name, q.Text)
			}
			seen[plain(q)] = true
		}
	}
	for _, q := range mustLoadOracle(t) {
		if seen[plain(Query{Text: q.Text, History: q.Previous})] && q.Type != "conversational" && q.ID != "doc-caching" {
			t.Errorf("%s: %q is in a set that rules are tuned on", q.ID, q.Text)
		}
	}
}

// The set is the hard one: its frozen half is far below SC-001, as eval/README.md says. The floors hold what was reached.
func TestEverydayWordingDoesNotFallBack(t *testing.T) {
	queries := mustLoad(t, evaldata.EverydayQueries)
	for half, floor := range map[Half]float64{Dev: 0.84, Test: 0.91} {
		if r := Classify(queries, half); r.Accuracy < floor {
			t.Errorf("%s: %d of %d right, %.1f %%; it was %.0f %% and more", half, r.Correct, r.Total, 100*r.Accuracy, 100*floor)
		}
	}
}
