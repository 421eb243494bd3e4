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

// Exchange is a pair that was answered, with what the answer was given from.
type Exchange struct {
	witness.Exchange
	Citations []record.Citation
	Passages  map[string]string // the texts of chunks, by their hashes
}

// Analysis is what the answers leave open, after the last of them. Gaps has those of contradictions that wait, too.
type Analysis struct {
	Gaps           []record.Gap        `json:"gaps,omitempty"`
	Completeness   int                 `json:"completeness,omitempty"`
	Contradictions []Finding           `json:"contradictions,omitempty"` // recorded
	Waiting        []Finding           `json:"waiting,omitempty"`        // the witness was not asked about them
	Unverified     []record.Unverified `json:"unverified,omitempty"`
	// by the witness, in this analysis or an earlier one
	TakenBack []Finding `json:"taken_back,omitempty"`
}

// Finding is a contradiction whose two quotations stand where it says, the earlier pair first. They are what it is
// known by, in either order. One that was taken back is settled by the pair that did so.
type Finding struct {
	ID string `json:"id"`
	record.Contradiction
}

// written says whether both quotations stand in documents: no answer can take them back.
func (f *Finding) written() bool { return f.Places[0].Document != "" && f.Places[1].Document != "" }

// gap is what a finding leaves open while it waits.
func (f *Finding) gap() record.Gap {
	return record.Gap{ID: f.ID, Category: record.Inconsistency, Severity: record.High, Description: f.Description,
		Since: f.Pairs[1] + 1}
}

// key is the identity of two quotations.
func key(words [2]string) [2]string {
	k := [2]string{text.Fold(words[0]), text.Fold(words[1])}
	if k[1] < k[0] {
		k[0], k[1] = k[1], k[0]
	}
	return k
}

// quoted is what a model quotes, folded, without the marks and dots that it puts around.
func quoted(words string) string { return strings.Trim(text.Fold(words), "\"' .…") }

// standing is where a quotation stands: in the documents that an answer cites, or in the answer. The pair that the
// model names is looked at first. That no passage was found is no statement of the witness.
func standing(all []Exchange, words string, named int) (pair int, at record.Place, exact string, found bool) {
	order := []int{named}
	for n := range all {
		if n != named {
			order = append(order, n)
		}
	}
	words = quoted(words)
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

// verified looks up the quotations of a contradiction that a model reports. Its pairs count from 1. What can't be
// verified comes with the reason.
func (c *reported) verified(all []Exchange) (f Finding, why bt.Why) {
	words := [2]string{c.FirstWords, c.SecondWords}
	var missing []string
	for n, named := range []int{c.First - 1, c.Second - 1} {
		pair, place, exact, found := standing(all, words[n], named)
		if !found {
			missing = append(missing, fmt.Sprintf("“%s”", text.Brief(words[n], mostTold)))
			continue
		}
		f.Pairs[n], f.Places[n], f.Words[n] = pair, place, exact
	}
	switch {
	case len(missing) > 0:
		return f, standsNowhere.With(strings.Join(missing, ", "))
	case key(f.Words)[0] == key(f.Words)[1]:
		return f, sameWords.With()
	}
	if f.Pairs[0] > f.Pairs[1] {
		slices.Reverse(f.Pairs[:])
		slices.Reverse(f.Words[:])
		slices.Reverse(f.Places[:])
	}
	f.Kind = record.Kind(c.Kind)
	f.Description = cmp.Or(strings.TrimSpace(c.Description), fmt.Sprintf("“%s” against “%s”", f.Words[0], f.Words[1]))
	return f, why
}

// mostTold is how many characters of a text a reason shows.
const mostTold = 120

// addReports adds what a model reports to what is known: a finding of documents is recorded, one of answers waits, and
// what can't be verified is kept so.
func (a *Analysis) addReports(all []Exchange, reports []reported) {
	for n := range reports {
		c := &reports[n]
		f, why := c.verified(all)
		if why.Text != "" {
			a.doubt(record.Unverified{
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
		if a.known(key(f.Words)) {
			continue
		}
		f.ID = fmt.Sprintf("c%d.%d", len(all), n+1)
		if f.written() {
			a.Contradictions = append(a.Contradictions, f)
		} else {
			a.Waiting = append(a.Waiting, f)
		}
	}
}

// doubt keeps a finding that can't be verified, once.
func (a *Analysis) doubt(u record.Unverified) {
	u.Description = cmp.Or(u.Description, "no description")
	same := func(o record.Unverified) bool { return key(o.Words) == key(u.Words) }
	if !slices.ContainsFunc(a.Unverified, same) {
		a.Unverified = append(a.Unverified, u)
	}
}

func (a *Analysis) known(k [2]string) bool {
	return slices.ContainsFunc(slices.Concat(a.Contradictions, a.Waiting, a.TakenBack), func(f Finding) bool {
		return key(f.Words) == k
	})
}

// takeBack takes out what the witness took back in the last of so many pairs: findings by their id, or by a quotation
// of one. One of documents stays: what is written in both still is, and a document must not talk others out of the
// record.
func (a *Analysis) takeBack(said []string, pairs int) {
	for _, one := range said {
		words := quoted(one)
		gone := func(f Finding) bool {
			if f.written() || f.ID != one && (words == "" || words != quoted(f.Words[0]) &&
				words != quoted(f.Words[1])) {
				return false
			}
			f.Settled = pairs
			a.TakenBack = append(a.TakenBack, f)
			return true
		}
		a.Waiting = slices.DeleteFunc(a.Waiting, gone)
		a.Contradictions = slices.DeleteFunc(a.Contradictions, gone)
	}
}

// settleConfronted records what waits and was asked about. confronted has the place, from 0, of the pair that asked
// about each. A witness that said nothing to it leaves it unconfirmed.
func (a *Analysis) settleConfronted(all []Exchange, confronted map[string]int) {
	a.Waiting = slices.DeleteFunc(a.Waiting, func(f Finding) bool {
		at, asked := confronted[f.ID]
		if !asked {
			return false
		}
		f.Settled = at + 1
		f.Unconfirmed = all[at].NotFound || strings.TrimSpace(all[at].Answer) == ""
		a.Contradictions = append(a.Contradictions, f)
		return true
	})
}

// keepGaps takes the gaps that a model reports. One that has the id or the words of an earlier one is that one.
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
		twice := func(o record.Gap) bool {
			return o.ID == gap.ID || text.Fold(o.Description) == text.Fold(gap.Description)
		}
		ofFinding := func(f Finding) bool { return f.ID == gap.ID }
		if gap.Description == "" || slices.ContainsFunc(a.Gaps, twice) ||
			slices.ContainsFunc(slices.Concat(a.Waiting, a.Contradictions), ofFinding) {
			continue
		}
		a.Gaps = append(a.Gaps, gap)
	}
	for n := range a.Waiting {
		a.Gaps = append(a.Gaps, a.Waiting[n].gap())
	}
}

// checked is what there is after a model's analysis of these pairs.
func (m *modelAnalysis) checked(all []Exchange, confronted map[string]int, before Analysis) Analysis {
	a := Analysis{Completeness: m.CompletenessScore, Contradictions: slices.Clone(before.Contradictions),
		Waiting:    slices.Clone(before.Waiting),
		Unverified: slices.Clone(before.Unverified), TakenBack: slices.Clone(before.TakenBack)}
	a.addReports(all, m.Contradictions)
	a.takeBack(m.Retracted, len(all))
	a.settleConfronted(all, confronted)
	a.keepGaps(m, len(all), before.Gaps)
	return a
}
