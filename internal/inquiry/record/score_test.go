package record

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

func scored(completeness []int, contradictions int, open ...Severity) Sum {
	pairs := make([]Pair, len(completeness))
	for i := range completeness {
		pairs[i].GapAnalysis.CompletenessScore = &completeness[i]
	}
	if len(pairs) > 0 {
		for _, severity := range open {
			last := &pairs[len(pairs)-1].GapAnalysis
			last.Gaps = append(last.Gaps, Gap{Severity: severity})
		}
	}
	return Score(pairs, make([]Contradiction, contradictions))
}

func TestTheScoreIsThatOfTheFormula(t *testing.T) {
	for _, c := range []struct {
		name           string
		completeness   []int
		contradictions int
		open           []Severity
		want           string
	}{
		{"nothing wrong", []int{100, 100}, 0, nil, "100 - 0 - 0 - 0 = 100"},
		{"a contradiction costs 10", []int{100}, 1, nil, "100 - 10 - 0 - 0 = 90"},
		{"gaps cost 2, 5 and 10", []int{100}, 0, []Severity{Low, Medium, High}, "100 - 0 - 17 - 0 = 83"},
		{"a gap of no severity weighs as much as any", []int{100}, 0, []Severity{"grave"}, "100 - 0 - 10 - 0 = 90"},
		{"a tenth of the mean shortfall", []int{40, 60, 85}, 1, []Severity{Low}, "100 - 10 - 2 - 3.833 = 84"},
		{"a half is rounded up", []int{95}, 0, nil, "100 - 0 - 0 - 0.5 = 100"},
		{"less than a half is left", []int{95, 94}, 0, nil, "100 - 0 - 0 - 0.55 = 99"},
		{"never below nothing", []int{0}, 11, []Severity{High}, "100 - 110 - 10 - 10 = 0"},
		{"a half above nothing", []int{5}, 9, nil, "100 - 90 - 0 - 9.5 = 1"},
		{"half a point below nothing", []int{95}, 10, nil, "100 - 100 - 0 - 0.5 = 0"},
		{"no pair", nil, 0, nil, "100 - 0 - 0 - 10 = 90"},
		{"completeness beyond its bounds", []int{-50, 150}, 0, nil, "100 - 0 - 0 - 5 = 95"},
	} {
		assert.Equalf(t, scored(c.completeness, c.contradictions, c.open...).String(), c.want, "%s", c.name)
	}
}

func TestOnlyTheGapsOfTheLastPairCountAndOnlyPairsThatWereJudged(t *testing.T) {
	whole := 100
	pairs := []Pair{{GapAnalysis: GapAnalysis{Gaps: []Gap{{Severity: High}}, CompletenessScore: &whole}},
		{GapAnalysis: GapAnalysis{Unjudged: "it failed"}}}
	s := Score(pairs, nil)
	assert.That(t, s.Score == 100 && s.Gaps == 0 && s.Shortfall == 0, "%s", s)
}

func TestUnconfirmedContradictionCostsFiveAndSessionsOfEarlierVersionsKeepTheirTen(t *testing.T) {
	s := completed()
	s.AuditResult.Contradictions[0].Unconfirmed = true
	s.AuditResult.Sum = earlierScore(s.Pairs, s.AuditResult.Contradictions)
	s.AuditResult.ConsistencyScore = &s.AuditResult.Sum.Score
	old := s.AuditResult.Sum
	assert.That(t, old.Contradictions == 10 && len(s.Validate()) == 0, "an earlier session: %s, %v", old, s.Validate())
	assert.That(t, strings.Contains(string(Markdown(s)), old.String()), "the score that it was given is not shown")
	s.rescore()
	got := s.AuditResult.Sum
	assert.That(t, got.Contradictions == 5 && got.Score == old.Score+5 && len(s.Validate()) == 0, "%s, %v", got, s.Validate())
}

// exact is the formula in fractions.
func exact(completeness []int, contradictions, penalties int) int {
	lacking := new(big.Rat)
	for _, c := range completeness {
		lacking.Add(lacking, big.NewRat(int64(100-c), int64(10*len(completeness))))
	}
	x := new(big.Rat).SetInt64(int64(100 - 10*contradictions - penalties))
	x.Sub(x, lacking).Add(x, big.NewRat(1, 2))
	if x.Sign() < 0 {
		return 0
	}
	return int(new(big.Int).Quo(x.Num(), x.Denom()).Int64())
}

func TestTheScoreStaysBetweenItsBoundsAndEachTermOnlyLowersIt(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		completeness := rapid.SliceOfN(rapid.IntRange(0, 100), 1, 20).Draw(r, "completeness")
		contradictions := rapid.IntRange(0, 12).Draw(r, "contradictions")
		open := rapid.SliceOfN(rapid.SampledFrom([]Severity{Low, Medium, High}), 0, 12).Draw(r, "open")
		sum := scored(completeness, contradictions, open...)
		cost := 0
		for _, severity := range open {
			cost += map[Severity]int{Low: 2, Medium: 5, High: 10}[severity]
		}
		want := exact(completeness, contradictions, cost)
		assert.Require(r, sum.Score == want && sum.Score >= 0 && sum.Score <= 100, "%s, want %d", sum, want)
		worse := func(name string, other Sum) {
			assert.Require(r, other.Score <= sum.Score, "%s: %s after %s", name, other, sum)
		}
		worse("another contradiction", scored(completeness, contradictions+1, open...))
		for _, severity := range []Severity{Low, Medium, High} {
			worse("another gap", scored(completeness, contradictions, append(slices.Clone(open), severity)...))
		}
		for i, severity := range open {
			graver := slices.Clone(open)
			graver[i] = map[Severity]Severity{Low: Medium, Medium: High, High: High}[severity]
			worse("a graver gap", scored(completeness, contradictions, graver...))
		}
		i := rapid.IntRange(0, len(completeness)-1).Draw(r, "pair")
		less := slices.Clone(completeness)
		less[i] = rapid.IntRange(0, less[i]).Draw(r, "less")
		worse("a pair that is less complete", scored(less, contradictions, open...))
	})
}

func TestWhatIsShownOfTheShortfallLeadsToTheScore(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := scored(rapid.SliceOfN(rapid.IntRange(0, 100), 1, 20).Draw(r, "completeness"), rapid.IntRange(0, 9).
			Draw(r, "contradictions"))
		shown, ok := new(big.Rat).SetString(decimal(s.Shortfall))
		text := decimal(s.Shortfall)
		assert.Require(r, ok && len(text[strings.IndexByte(text+".", '.'):]) <= 4, "the shortfall is shown as %s", text)
		x := new(big.Rat).Sub(big.NewRat(int64(s.Base-s.Contradictions-s.Gaps), 1), shown)
		x.Add(x, big.NewRat(1, 2))
		want := 0
		if x.Sign() > 0 {
			want = int(new(big.Int).Quo(x.Num(), x.Denom()).Int64())
		}
		assert.Require(r, s.Score == want, "%s: who adds up what is shown comes to %d", fmt.Sprint(s), want)
	})
}
