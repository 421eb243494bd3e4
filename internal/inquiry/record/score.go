package record

import (
	"fmt"
	"math"
	"strconv"
)

// The terms of the score.
const (
	base             = 100
	perContradiction = 10
	perUnconfirmed   = 5
)

// penalties are the points that an open gap costs.
var penalties = map[Severity]int{Low: 2, Medium: 5, High: 10}

// penalty is what an open gap of a severity costs. An unknown severity costs as much as the highest.
func penalty(s Severity) int {
	if p, known := penalties[s]; known {
		return p
	}
	return penalties[High]
}

// Sum is the calculation of a score: Base less the three terms, rounded, and at least 0.
type Sum struct {
	Base           int     `json:"base" min:"100" max:"100"`
	Contradictions int     `json:"contradictions" min:"0" doc:"10 for each, 5 for one that is unconfirmed."`
	Gaps           int     `json:"gaps" min:"0" doc:"For each that is open at the end: low 2, medium 5, high 10."`
	Shortfall      float64 `json:"shortfall" min:"0" max:"10" doc:"A tenth of the mean of what the pairs lack of a completeness of 100, to the thousandth."`
	Score          int     `json:"score" min:"0" max:"100"`
}

// Score gives the consistency of an interrogation:
//
//	max(0, round(100 - contradictions (10, unconfirmed 5) - open gaps (low 2, medium 5, high 10)
//	  - mean(100 - completeness) / 10))
//
// The open gaps are those of the last pair, the mean is over the pairs that were judged. Halves are rounded up. With no
// such pair nothing is complete: the mean is 100. A completeness beyond 0 to 100 counts as the nearest of the two.
func Score(pairs []Pair, contradictions []Contradiction) Sum {
	return sumOf(pairs, penaltyOf(contradictions, perUnconfirmed))
}

// penaltyOf is what contradictions cost, where one that is unconfirmed costs this much.
func penaltyOf(contradictions []Contradiction, unconfirmed int) (cost int) {
	for _, c := range contradictions {
		if c.Unconfirmed {
			cost += unconfirmed
		} else {
			cost += perContradiction
		}
	}
	return cost
}

// earlierScore is the score as sessions of earlier versions have it: an unconfirmed contradiction costs as much as
// another.
func earlierScore(pairs []Pair, contradictions []Contradiction) Sum {
	return sumOf(pairs, penaltyOf(contradictions, perContradiction))
}

// sumOf is the calculation with what the contradictions cost.
func sumOf(pairs []Pair, contradictions int) Sum {
	s := Sum{Base: base, Contradictions: contradictions}
	lacking, n := 0, len(pairs)
	for _, p := range pairs {
		if p.GapAnalysis.CompletenessScore == nil {
			n--
			continue
		}
		lacking += 100 - min(max(valueOrZero(p.GapAnalysis.CompletenessScore), 0), 100)
	}
	if n == 0 {
		lacking, n = 100, 1
	}
	if len(pairs) > 0 {
		for _, g := range pairs[len(pairs)-1].GapAnalysis.Gaps {
			s.Gaps += penalty(g.Severity)
		}
	}
	// In whole numbers, so that a half is one: twentieths of a pair's share.
	left := 20*n*(s.Base-s.Contradictions-s.Gaps) - 2*lacking
	s.Score = max(0, left+10*n) / (20 * n)
	s.Shortfall = math.Round(1000*float64(lacking)/float64(10*n)) / 1000
	return s
}

// valueOrZero is a score, or 0 if there is none.
func valueOrZero(score *int) int {
	if score == nil {
		return 0
	}
	return *score
}

func (s Sum) String() string {
	return fmt.Sprintf("%d - %d - %d - %s = %d", s.Base, s.Contradictions, s.Gaps, decimal(s.Shortfall), s.Score)
}

// decimal formats a number with as few digits as possible.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
