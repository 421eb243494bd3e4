package inquiry

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/rules"
	"sibyl/internal/model"
)

// Interview is one that was held already: there is nobody to be asked.
type Interview struct {
	Hypothesis string     `json:"hypothesis"`
	Language   string     `json:"language"` // "en" or "de"; "": that of most of its words
	Pairs      []Exchange `json:"pairs"`
}

// words are all that is said in it, by which its language is found out: a hypothesis alone may be too short, and those who speak may speak another.
func (i *Interview) words() string {
	b := &strings.Builder{}
	b.WriteString(i.Hypothesis)
	for _, p := range i.Pairs {
		b.WriteString("\n" + p.Question + "\n" + p.Answer)
	}
	return b.String()
}

// Exchange is a question and its answer.
type Exchange struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

// The bounds of an Interview: pairs, and bytes of its JSON.
const (
	MostPairs     = 500
	MostInterview = 8 << 20
)

// Found is what an interview leaves open, and where its answers clash. Pairs count from 0.
type Found struct {
	Pairs          []FoundPair  `json:"pairs"`
	Contradictions []FoundClash `json:"contradictions"`
	Suspicions     []FoundClash `json:"suspicions"` // not firm enough to record
	Satisfied      bool         `json:"satisfied"`
	Completeness   int          `json:"completeness"`
	By             string       `json:"by"`
}

// FoundPair is a pair with the gaps that it shows and that no later answer closes.
type FoundPair struct {
	Gaps []FoundGap `json:"gaps"`
}

// FoundGap is a gap.
type FoundGap struct {
	Category    string `json:"category"`
	Severity    string `json:"severity"`
	Aspect      string `json:"aspect"`
	Description string `json:"description"`
}

// FoundClash is two answers that clash.
type FoundClash struct {
	Pairs  [2]int    `json:"pairs"`
	Reason string    `json:"reason"`
	Kind   string    `json:"kind"`
	Words  [2]string `json:"words"`
}

// Analyse says what an interview leaves open, by a model or, for model.OfflineRules, by rules alone. Where nobody can be asked, a contradiction that a model
// reports is recorded only if the rules see a clash of the same answers too.
func (d *Desk) Analyse(ctx context.Context, id string, i Interview) (Found, error) {
	language := i.Language
	if language == "" {
		language = rules.Language(i.words())
	}
	var all []rules.Exchange
	for _, p := range i.Pairs {
		all = append(all, rules.Exchange{Question: p.Question, Answer: p.Answer})
	}
	byRules := rules.Finished(i.Hypothesis, language, all)
	if id == model.OfflineRules {
		return found(byRules, byRules.Satisfied, len(all), model.OfflineRules), nil
	}
	m, err := d.Model(ctx, id)
	if err != nil {
		return Found{}, err
	}
	told, err := fs.ReadFile(d.Prompts, textAnalyse+".md")
	if err != nil {
		return Found{}, fmt.Errorf("the prompts of the Inquiry: %w", err)
	}
	var said modelAnalysis
	_, resp, err := model.Structured(ctx, m, examined(string(told), textAnalyse, i.Hypothesis, language, all, AnalyseReceipt{}).Request, analysis, &said)
	if err != nil {
		return Found{}, err
	}
	a := said.checked(all, make([][]int, len(all)), AnalyseReceipt{})
	seen := slices.Concat(byRules.Contradictions, byRules.Suspicions)
	a.Suspicions = slices.DeleteFunc(a.Suspicions, func(c rules.Clash) bool {
		agreed := slices.ContainsFunc(seen, func(other rules.Clash) bool { return other.Pairs == c.Pairs })
		if agreed {
			a.Contradictions = append(a.Contradictions, c)
			a.Gaps = slices.DeleteFunc(a.Gaps, func(g rules.Gap) bool { return g.ID == c.ID })
		}
		return agreed
	})
	r := AnalyseReceipt{Analysis: a, FollowUp: said.RequiresFollowUp}
	return found(a, r.satisfied(), len(all), resp.Model), nil
}

func found(a rules.Analysis, satisfied bool, pairs int, by string) Found {
	f := Found{Pairs: make([]FoundPair, pairs), Contradictions: clashes(a.Contradictions), Suspicions: clashes(a.Suspicions), Satisfied: satisfied, Completeness: a.Completeness, By: by}
	for n := range f.Pairs {
		f.Pairs[n].Gaps = []FoundGap{}
	}
	for _, g := range a.Gaps {
		if g.Category == string(record.Inconsistency) && isClash(a, g) {
			continue // it stands among the suspicions
		}
		if g.Pair >= 0 && g.Pair < pairs {
			f.Pairs[g.Pair].Gaps = append(f.Pairs[g.Pair].Gaps, FoundGap{g.Category, g.Severity, g.Aspect, g.Description})
		}
	}
	return f
}

func isClash(a rules.Analysis, g rules.Gap) bool {
	return slices.ContainsFunc(slices.Concat(a.Suspicions, a.Contradictions), func(c rules.Clash) bool { return c.ID == g.ID })
}

func clashes(of []rules.Clash) []FoundClash {
	all := []FoundClash{}
	for _, c := range of {
		all = append(all, FoundClash{c.Pairs, c.Reason, c.Kind, c.Words})
	}
	return all
}
