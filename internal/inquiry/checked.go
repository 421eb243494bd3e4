package inquiry

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/rules"
)

// checked is what of a model's analysis holds: gaps of pairs that are there, and contradictions whose words stand in the answers. One is recorded only
// once the witness was asked about both answers and said something to it; until then it is a suspicion, and a severe gap. What was recorded stays so.
func (m *modelAnalysis) checked(all []rules.Exchange, about [][]int, latest AnalyseReceipt) (a rules.Analysis) {
	a.Completeness = m.CompletenessScore
	var gaps []rules.Gap // of clashes that are not settled
	known := map[string]bool{}
	for _, c := range m.clashes(all) {
		if known[c.ID] {
			continue
		}
		known[c.ID] = true
		switch asked := askedBoth(c, about); {
		case asked < 0:
			a.Suspicions, gaps = append(a.Suspicions, c), append(gaps, gapOf(c))
		case all[asked].NotFound || strings.TrimSpace(all[asked].Answer) == "": // asked about both, the witness is silent: that settles nothing
			gaps = append(gaps, gapOf(c))
		default:
			c.Settled = asked
			a.Contradictions = append(a.Contradictions, c)
		}
	}
	for _, c := range latest.Analysis.Contradictions {
		if known[c.ID] = true; !clashing(a.Contradictions, c) {
			a.Contradictions = append(a.Contradictions, c)
		}
	}
	a.Gaps = append(m.gaps(len(all), known, latest), gaps...)
	for _, g := range latest.Analysis.Gaps {
		if !slices.ContainsFunc(a.Gaps, func(now rules.Gap) bool { return now.ID == g.ID }) {
			a.Closed = append(a.Closed, g.ID)
		}
	}
	return a
}

// gaps are those that a model reports, each with an id of its own. Those of clashes, whose ids are taken, are not its to say.
func (m *modelAnalysis) gaps(pairs int, taken map[string]bool, latest AnalyseReceipt) (all []rules.Gap) {
	seen := map[string]bool{}
	for n, g := range m.Gaps {
		if g.Pair > pairs || strings.TrimSpace(g.Description) == "" || taken[g.ID] || g.ID != "" && seen[g.ID] {
			continue
		}
		seen[g.ID] = true
		gap := rules.Gap{ID: fmt.Sprintf("m%d.%d", pairs, n+1), Category: g.Category, Severity: g.Severity, Aspect: g.Aspect, Description: g.Description, Pair: g.Pair - 1}
		if before := slices.IndexFunc(latest.Analysis.Gaps, func(was rules.Gap) bool { return was.ID == g.ID }); before >= 0 {
			gap.ID, gap.Pair = g.ID, latest.Analysis.Gaps[before].Pair // it was first seen there
		}
		all = append(all, gap)
	}
	return all
}

// clashes are the contradictions that a model reports and whose words stand in the answers, the earlier answer first.
func (m *modelAnalysis) clashes(all []rules.Exchange) (found []rules.Clash) {
	for _, c := range m.Contradictions {
		i, j := c.First-1, c.Second-1
		if i > j {
			i, j, c.FirstWords, c.SecondWords = j, i, c.SecondWords, c.FirstWords
		}
		if i == j || j >= len(all) {
			continue
		}
		words := [2]string{verbatim(all[i].Answer, c.FirstWords), verbatim(all[j].Answer, c.SecondWords)}
		if words[0] == "" || words[1] == "" {
			continue
		}
		reason := cmp.Or(strings.TrimSpace(c.Description), fmt.Sprintf("“%s” against “%s”", words[0], words[1]))
		found = append(found, rules.Clash{ID: fmt.Sprintf("%s%d-%d-%s", modelClash, i+1, j+1, c.Kind), Pairs: [2]int{i, j}, Kind: c.Kind, Reason: reason, Words: words, Settled: -1})
	}
	return found
}

// modelClash begins the ids of what a model has found to clash.
const modelClash = "c"

func ofModel(id string) bool { return strings.HasPrefix(id, modelClash) }

// askedBoth is the last pair whose question named both answers of a clash; -1 if none did.
func askedBoth(c rules.Clash, about [][]int) int {
	for n := len(about) - 1; n > c.Pairs[1]; n-- {
		if slices.Contains(about[n], c.Pairs[0]) && slices.Contains(about[n], c.Pairs[1]) {
			return n
		}
	}
	return -1
}

// clashing says whether there is a clash of the same answers.
func clashing(all []rules.Clash, c rules.Clash) bool {
	return slices.ContainsFunc(all, func(other rules.Clash) bool { return other.Pairs == c.Pairs })
}

// gapOf is what a clash leaves open while it is not settled.
func gapOf(c rules.Clash) rules.Gap {
	return rules.Gap{ID: c.ID, Category: string(record.Inconsistency), Severity: string(record.High), Description: c.Reason, Pair: c.Pairs[1], Words: c.Words[1]}
}

// verbatim is the passage of an answer that has these words, whatever their case and the blanks between them; "" if none has.
func verbatim(answer, words string) string {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return ""
	}
	for n := range fields {
		fields[n] = regexp.QuoteMeta(fields[n])
	}
	passage, err := regexp.Compile("(?i)" + strings.Join(fields, `[\s\pZ]+`))
	if err != nil {
		return "" // more than any passage holds
	}
	return passage.FindString(answer)
}
