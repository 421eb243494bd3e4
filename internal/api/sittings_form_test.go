package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/council"
	"sibyl/internal/council/digest"
)

func TestWhatWasMadeOfAnswersNamesTheOraclesWhoseItIs(t *testing.T) {
	ada, bob := council.Seat{ID: "a1", Name: "Ada"}, council.Seat{ID: "b2", Name: "Bob"}
	sat := council.Sat{
		Oracles:    []council.Seat{ada, bob},
		Comparison: &digest.Comparison{By: "m", Agree: []digest.Point{{Text: "The rent <i>is</i> **high**.", By: []string{"Bob", "Ada"}, Sources: []string{"t1"}}}},
		Ranks:      []council.Rank{{Oracle: "Bob", Mean: 1, By: map[string]int{"Ada": 1}}},
		Reviews:    []council.Reviewed{{By: "Ada", Reviews: []council.Review{{Oracle: "Bob", Rank: 1, Strength: "It is short.", Criticism: "It is <b>late</b>."}}}},
		Chair:      &council.Chair{Answer: council.Answer{Oracle: ada, Sequence: 3}, Sentences: []council.Sentence{{Text: "It is high.", By: []string{"Bob"}, Doubted: []string{"Nobody"}}}, Unused: []string{"Ada"}},
		Skipped:    []string{"in /srv/x"},
	}
	f := CouncilSitting{Skipped: []string{}}
	f.take(sat, func(string) string { return "told" })
	a, b := CouncilSeat{"a1", "Ada"}, CouncilSeat{"b2", "Bob"}
	want := CouncilSitting{
		Oracles: []CouncilSeat{a, b},
		Comparison: &CouncilComparison{By: "m", Agree: []CouncilPoint{{"<p>The rent &lt;i&gt;is&lt;/i&gt; <strong>high</strong>.</p>\n", []CouncilSeat{b, a}, []string{"t1"}}},
			Differ: []CouncilPoint{}, Overlooked: []CouncilPoint{}},
		Review: &CouncilReview{Ranks: []CouncilRank{{b, 1, []CouncilGivenRank{{a, 1}}}}, Remarks: []CouncilReviewed{{a, b, "It is short.", "It is <b>late</b>."}}},
		Chair: &CouncilChair{Oracle: a, Sequence: 3, Sentences: []CouncilSentence{{HTML: "<p>It is high.</p>\n", By: []CouncilSeat{b}, Doubted: []CouncilSeat{{Name: "Nobody"}}}},
			Unused: []CouncilSeat{a}},
		Skipped: []string{"told"},
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
