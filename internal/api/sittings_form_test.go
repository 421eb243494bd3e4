package api

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
)

func TestWhatWasMadeOfAnswersNamesTheOraclesWhoseItIs(t *testing.T) {
	ada, bob := council.Seat{ID: "a1", Name: "Ada"}, council.Seat{ID: "b2", Name: "Bob"}
	sat := council.SittingResult{
		Oracles: []council.Seat{ada, bob},
		Chair:   &council.Answer{Oracle: ada, Sequence: 3},
		MergedAnswers: &council.MergedAnswers{Unused: []string{"Ada"},
			Sentences: []council.Sentence{{Text: "It is **high**.", By: []string{"Bob"},
				Unproven: []string{"Nobody"}}},
			Agree:      []council.Sentence{{Text: "The rent <i>is</i> high.", By: []string{"Bob", "Ada"}}},
			Overlooked: []council.Sentence{{Text: "The date."}}},
		Skipped: []council.Skipped{{What: "a part", Why: bt.Because("in /srv/x")}},
	}
	f := CouncilSitting{Skipped: []string{}}
	f.addOutcome(sat)
	none := []council.Seat{}
	want := CouncilSitting{
		Oracles: []council.Seat{ada, bob},
		Chair: &CouncilChair{Oracle: ada, Sequence: 3, Unused: []council.Seat{ada},
			Sentences: []CouncilSentence{{HTML: "<p>It is <strong>high</strong>.</p>\n", By: []council.Seat{bob},
				Unproven: []council.Seat{{Name: "Nobody"}}}},
			Agree: []CouncilSentence{{HTML: "<p>The rent &lt;i&gt;is&lt;/i&gt; high.</p>\n",
				By: []council.Seat{bob, ada}, Unproven: none}},
			Differ:     []CouncilSentence{},
			Overlooked: []CouncilSentence{{HTML: "<p>The date.</p>\n", By: none, Unproven: none}}},
		Skipped: []string{"Did not compare the answers: in /srv/x"},
		LeftOut: sat.Skipped,
	}
	assert.Same(t, want, f)
}
