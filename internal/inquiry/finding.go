package inquiry

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/text"
)

// AnsweredPair is an answered question, with the passages that the answer is based on.
type AnsweredPair struct {
	witness.Exchange
	Citations []record.Citation
	Passages  map[string]string // the texts of chunks, by their hashes
	Compared  []witness.Comparison
}

// reportsOf are the statements of documents that differ, as contradictions that a model reports.
func reportsOf(all []AnsweredPair) (reports []modelContradiction) {
	for n := range all {
		for _, c := range all[n].Compared {
			if c.Differs() {
				reports = append(reports, modelContradiction{First: n + 1, Second: n + 1, FirstWords: c.Words[0],
					SecondWords: c.Words[1], Kind: string(c.Kind), Description: c.Description()})
			}
		}
	}
	return reports
}

// Analysis says what the answers so far leave open. Gaps includes one for each waiting contradiction.
type Analysis struct {
	Gaps           []record.Gap        `json:"gaps,omitempty"`
	Completeness   int                 `json:"completeness,omitempty"`
	Evidence       []record.Bearing    `json:"evidence,omitempty"`
	Contradictions []Finding           `json:"contradictions,omitempty"` // recorded
	Waiting        []Finding           `json:"waiting,omitempty"`        // the witness was not asked about them
	Unverified     []record.Unverified `json:"unverified,omitempty"`
	// by the witness, in this analysis or an earlier one
	TakenBack []Finding `json:"taken_back,omitempty"`
}

// Finding is a contradiction whose two quotations were located, the earlier pair first. Their places identify it, in
// either order: see isSide. If it was taken back, Settled is the pair that did so, from 1.
type Finding struct {
	ID string `json:"id"`
	record.Contradiction

	// the shortest quotations it was reported with: what it is about, where the longer ones hold more
	Core [2]string `json:"core,omitzero"`
}

// isInDocuments says whether both quotations are in documents, so that no answer can take them back.
func (f *Finding) isInDocuments() bool {
	return f.Places[0].Document != "" && f.Places[1].Document != ""
}

// gap is the gap that a waiting finding leaves open.
func (f *Finding) gap() record.Gap {
	return record.Gap{ID: f.ID, Category: record.Inconsistency, Severity: record.High, Description: f.Description,
		Since: f.Pairs[1] + 1}
}

// isSide says whether two quotations are of one statement: the same words, or overlapping words in one place.
func isSide(all []AnsweredPair, a, b quotation) bool {
	if text.Fold(a.words) == text.Fold(b.words) {
		return true
	}
	if a.place.Document != b.place.Document || a.place.Page != b.place.Page ||
		a.place.Document == "" && a.pair != b.pair {
		return false
	}
	return isPartOfOther(a.words, b.words) ||
		slices.ContainsFunc(textsOf(all, a), func(source string) bool {
			first, inSource := text.Find(source, a.words)
			second, too := text.Find(source, b.words)
			return inSource && too && first.From < second.To && second.From < first.To
		})
}

// containsWords says whether a quotation is a part of another one.
func containsWords(whole, part string) bool {
	part = foldQuotation(part)
	_, found := text.Find(whole, part)
	return found && part != ""
}

// textsOf are the texts of the place of a quotation: the answer, or what was cited of the page of a document.
func textsOf(all []AnsweredPair, q quotation) (texts []string) {
	if q.place.Document == "" {
		return []string{all[q.pair].Answer}
	}
	for n := range all {
		for _, c := range all[n].Citations {
			if c.Document == q.place.Document && c.Page == q.place.Page {
				texts = append(texts, c.Quote, all[n].Passages[c.ChunkHash])
			}
		}
	}
	return texts
}

// quotation is one of the two quotations of a finding.
type quotation struct {
	pair  int
	place record.Place
	words string
}

func (f *Finding) quotation(n int) quotation {
	return quotation{f.Pairs[n], f.Places[n], cmp.Or(f.Core[n], f.Words[n])}
}

// merge says whether another finding is the same, in either order of its quotations. The longer quotations are kept.
func (f *Finding) merge(all []AnsweredPair, other *Finding) bool {
	for _, turned := range []int{0, 1} {
		first, second := other.quotation(turned), other.quotation(1-turned)
		if !isSide(all, f.quotation(0), first) || !isSide(all, f.quotation(1), second) {
			continue
		}
		for n, q := range []quotation{first, second} {
			f.Core[n] = cmp.Or(f.Core[n], f.Words[n])
			switch size := len(text.Fold(q.words)); {
			case size > len(text.Fold(f.Words[n])):
				f.Pairs[n], f.Places[n], f.Words[n] = q.pair, q.place, q.words
			case size < len(text.Fold(f.Core[n])):
				f.Core[n] = q.words
			}
		}
		f.order()
		return true
	}
	return false
}

// order puts the quotation of the earlier pair first.
func (f *Finding) order() {
	if f.Pairs[0] > f.Pairs[1] {
		slices.Reverse(f.Pairs[:])
		slices.Reverse(f.Words[:])
		slices.Reverse(f.Places[:])
		slices.Reverse(f.Core[:])
	}
}

// foldQuotation folds a quotation, and removes the quotation marks and dots around it.
func foldQuotation(words string) string { return strings.Trim(text.Fold(words), "\"' .…") }

// locateQuotation finds a quotation in the documents that an answer cites, or in the answer. The pair likely is
// searched first; like pair, it counts from 0 and may be out of range. Answers that found nothing are skipped.
func locateQuotation(all []AnsweredPair, words string, likely int) (pair int, at record.Place, exact string, ok bool) {
	order := []int{likely}
	for n := range all {
		if n != likely {
			order = append(order, n)
		}
	}
	words = foldQuotation(words)
	for _, n := range order {
		if n < 0 || n >= len(all) || all[n].NotFound {
			continue
		}
		for _, c := range all[n].Citations {
			for _, source := range []string{c.Quote, all[n].Passages[c.ChunkHash]} {
				if place, ok := text.Find(source, words); ok {
					return n, record.Place{Document: c.Document, Page: c.Page}, source[place.From:place.To], true
				}
			}
		}
		if place, ok := text.Find(all[n].Answer, words); ok {
			return n, record.Place{}, all[n].Answer[place.From:place.To], true
		}
	}
	return 0, record.Place{}, "", false
}

// verify locates the quotations of a reported contradiction, whose pairs count from 1. why says why it can't do so.
func (c *modelContradiction) verify(all []AnsweredPair) (f Finding, why bt.Why) {
	words := [2]string{c.FirstWords, c.SecondWords}
	var missing []string
	for n, likelyPair := range []int{c.First - 1, c.Second - 1} {
		pair, place, exact, found := locateQuotation(all, words[n], likelyPair)
		if !found {
			missing = append(missing, fmt.Sprintf("“%s”", text.Brief(words[n], mostTold)))
			continue
		}
		f.Pairs[n], f.Places[n], f.Words[n] = pair, place, exact
	}
	switch {
	case len(missing) > 0:
		return f, standsNowhere.With(strings.Join(missing, ", "))
	case text.Fold(f.Words[0]) == text.Fold(f.Words[1]):
		return f, sameWords.With()
	}
	f.order()
	f.Kind = record.Kind(c.Kind)
	f.Description = cmp.Or(strings.TrimSpace(c.Description), fmt.Sprintf("“%s” against “%s”", f.Words[0], f.Words[1]))
	return f, why
}

// mostTold bounds the characters of a text that a reason shows.
const mostTold = 120

// addReports adds contradictions that a model reports: one between documents is recorded, one that involves an answer
// waits, and one that can't be verified is kept as such.
func (a *Analysis) addReports(all []AnsweredPair, reports []modelContradiction) {
	for n := range reports {
		c := &reports[n]
		f, why := c.verify(all)
		if why.Text != "" {
			a.addUnverified(record.Unverified{
				Description: strings.TrimSpace(c.Description),
				Words:       [2]string{c.FirstWords, c.SecondWords},
				Pair:        len(all),
				Reason:      why.Text,
				Coded:       why.Coded,
			})
			continue
		}
		a.Unverified = slices.DeleteFunc(a.Unverified, func(u record.Unverified) bool {
			return text.Fold(u.Description) == text.Fold(f.Description)
		})
		if a.isKnown(all, &f) {
			continue
		}
		f.ID = fmt.Sprintf("c%d.%d", len(all), n+1)
		if f.isInDocuments() {
			a.Contradictions = append(a.Contradictions, f)
		} else {
			a.Waiting = append(a.Waiting, f)
		}
	}
}

// addUnverified adds a finding that can't be verified, unless it is there.
func (a *Analysis) addUnverified(u record.Unverified) {
	u.Description = cmp.Or(u.Description, "no description")
	same := func(o record.Unverified) bool {
		return isPartOfOther(o.Words[0], u.Words[0]) && isPartOfOther(o.Words[1], u.Words[1]) ||
			isPartOfOther(o.Words[0], u.Words[1]) && isPartOfOther(o.Words[1], u.Words[0])
	}
	if !slices.ContainsFunc(a.Unverified, same) {
		a.Unverified = append(a.Unverified, u)
	}
}

// isPartOfOther says whether one of two quotations is a part of the other, or the same.
func isPartOfOther(a, b string) bool {
	return text.Fold(a) == text.Fold(b) || containsWords(a, b) || containsWords(b, a)
}

// isKnown says whether a finding was reported before, whatever became of it. The known one gets the longer quotations.
func (a *Analysis) isKnown(all []AnsweredPair, f *Finding) bool {
	for _, list := range [][]Finding{a.Contradictions, a.Waiting, a.TakenBack} {
		for n := range list {
			if list[n].merge(all, f) {
				return true
			}
		}
	}
	return false
}

// takeBack removes what the witness took back in the last pair: findings, named by their id or a quotation. A finding
// between documents stays: both still say what they said, and no document may remove it from the record.
func (a *Analysis) takeBack(said []string, pairs int) {
	for _, one := range said {
		takeIfMeant := func(f Finding) bool {
			if f.isInDocuments() || f.ID != one && !f.isQuotedBy(one) {
				return false
			}
			f.Settled = pairs
			a.TakenBack = append(a.TakenBack, f)
			return true
		}
		a.Waiting = slices.DeleteFunc(a.Waiting, takeIfMeant)
		a.Contradictions = slices.DeleteFunc(a.Contradictions, takeIfMeant)
	}
}

// isQuotedBy says whether words are one of the quotations, or a part of one, or have one as their part.
func (f *Finding) isQuotedBy(words string) bool {
	return slices.ContainsFunc([]int{0, 1}, func(n int) bool {
		own := f.quotation(n).words
		return containsWords(own, words) || containsWords(words, own)
	})
}

// settleConfronted records the waiting findings that the witness was asked about. confronted has, for each id, the
// index from 0 of the pair that asked. If that pair has no answer, the finding is unconfirmed.
func (a *Analysis) settleConfronted(all []AnsweredPair, confronted map[string]int) {
	a.Waiting = slices.DeleteFunc(a.Waiting, func(f Finding) bool {
		pair, asked := confronted[f.ID]
		if !asked {
			return false
		}
		f.Settled = pair + 1
		f.Unconfirmed = all[pair].NotFound || strings.TrimSpace(all[pair].Answer) == ""
		a.Contradictions = append(a.Contradictions, f)
		return true
	})
}

// keepGaps takes the gaps that a model reports. A gap with the id or the words of an earlier one continues it.
func (a *Analysis) keepGaps(m *modelAnalysis, pairs int, before []record.Gap) {
	for n, g := range m.Gaps {
		gap := record.Gap{ID: fmt.Sprintf("g%d.%d", pairs, n+1), Category: record.Category(g.Category),
			Severity: record.Severity(g.Severity),
			Aspect:   g.Aspect, Description: strings.TrimSpace(g.Description), Since: min(g.Pair, pairs)}
		was := slices.IndexFunc(before, func(b record.Gap) bool {
			return b.ID == g.ID || text.Fold(b.Description) == text.Fold(g.Description)
		})
		if was >= 0 {
			gap.ID = before[was].ID
			gap.Since = before[was].Since
		}
		isSame := func(o record.Gap) bool {
			return o.ID == gap.ID || text.Fold(o.Description) == text.Fold(gap.Description)
		}
		isFinding := func(f Finding) bool { return f.ID == gap.ID }
		if gap.Description == "" || slices.ContainsFunc(a.Gaps, isSame) ||
			slices.ContainsFunc(slices.Concat(a.Waiting, a.Contradictions), isFinding) {
			continue
		}
		a.Gaps = append(a.Gaps, gap)
	}
	for n := range a.Waiting {
		a.Gaps = append(a.Gaps, a.Waiting[n].gap())
	}
}

// analysisAfter is the analysis after a model's analysis of these pairs.
func (m *modelAnalysis) analysisAfter(all []AnsweredPair, confronted map[string]int, before Analysis) Analysis {
	a := Analysis{Completeness: m.CompletenessScore, Evidence: slices.Clone(before.Evidence),
		Contradictions: slices.Clone(before.Contradictions), Waiting: slices.Clone(before.Waiting),
		Unverified: slices.Clone(before.Unverified), TakenBack: slices.Clone(before.TakenBack)}
	a.addReports(all, slices.Concat(reportsOf(all), m.Contradictions))
	a.takeBack(m.Retracted, len(all))
	a.settleConfronted(all, confronted)
	a.keepGaps(m, len(all), before.Gaps)
	return a
}
