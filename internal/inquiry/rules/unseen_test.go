package rules

import (
	"slices"
	"testing"
)

// TestUnseenInterviewsAreAuditedAsOthers holds the figures of interviews that teach nothing and that nobody has looked at to change the detective.
func TestUnseenInterviewsAreAuditedAsOthers(t *testing.T) {
	gaps, suspected, recorded := score{}, score{}, score{}
	flawless, calm := 0, 0
	for _, x := range lessons(t, "training/unseen") {
		var told, labelled []string // without categories
		a := Finished(x.hypothesis, x.language, x.all)
		for _, g := range a.Gaps {
			if g.Category != Inconsistency {
				told = append(told, gapLabel(g.Pair, "", g.Aspect))
			}
		}
		for k, labels := range x.labels {
			for _, l := range labels {
				if l.state != isGiven {
					labelled = append(labelled, gapLabel(k, "", spoken(l.aspect)))
				}
			}
		}
		gaps.add(told, labelled)
		var real [][2]int
		for _, c := range x.clashes {
			if c.real {
				real = append(real, c.pairs)
			}
		}
		recorded.among(a.Contradictions, real)
		suspected.among(a.Suspicions, real)
		if len(labelled)+len(real) == 0 {
			flawless++
			calm += count(a.Satisfied)
		}
	}
	t.Logf("gaps: %v; contradictions recorded: %v; suspected: %v; flawless and satisfied: %d of %d", gaps, recorded, suspected, calm, flawless)
	if float64(gaps.right) < rightly*float64(gaps.found) || 2*gaps.right < gaps.wanted {
		t.Errorf("gaps: %v; 85 of 100 told must be open, and half found", gaps)
	}
	if 2*suspected.right < suspected.found {
		t.Errorf("suspicions: %v; half must be contradictions", suspected)
	}
}

// among adds clashes that were found among pairs that contradict each other.
func (s *score) among(found []Clash, real [][2]int) {
	s.found += len(found)
	s.wanted += len(real)
	for _, c := range found {
		s.right += count(slices.Contains(real, c.Pairs))
	}
}
