package inquiry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/rules"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// AnalysePayload asks what the answers leave open.
type AnalysePayload struct {
	By    string `json:"by"`
	Turns []Turn `json:"turns"`
}

// AnalyseReceipt is what they leave open, after the last of them.
type AnalyseReceipt struct {
	Analysis rules.Analysis `json:"analysis"`
	FollowUp bool           `json:"follow_up"`
	By       string         `json:"by"`
	Usage    model.Usage    `json:"usage,omitzero"`
	Tries    []model.Try    `json:"tries,omitempty"`
}

// leastComplete is from where on an answer is complete enough (the design's settled question).
const leastComplete = 80

// satisfied says that the detective needs no further answer: it is complete enough, nothing severe is open, and nothing is to be asked.
func (r *AnalyseReceipt) satisfied() bool {
	if r.FollowUp || r.Analysis.Completeness < leastComplete {
		return false
	}
	return !slices.ContainsFunc(r.Analysis.Gaps, func(g rules.Gap) bool { return g.Severity == string(record.High) })
}

// analysis is the schema of a model's analysis. Pairs count from 1 there.
var analysis = model.Schema{Name: "analysis", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["gaps","completenessScore","requiresFollowUp","contradictions"],"properties":{"gaps":{"type":"array","maxItems":30,"items":{"type":"object","additionalProperties":false,"required":["id","category","severity","aspect","description","pair"],"properties":{"id":{"type":"string"},"category":{"type":"string","enum":["missing_information","ambiguity","inconsistency","vagueness"]},"severity":{"type":"string","enum":["low","medium","high"]},"aspect":{"type":"string"},"description":{"type":"string","minLength":1},"pair":{"type":"integer","minimum":1}}}},"completenessScore":{"type":"integer","minimum":0,"maximum":100},"requiresFollowUp":{"type":"boolean"},"contradictions":{"type":"array","maxItems":20,"items":{"type":"object","additionalProperties":false,"required":["first","second","first_words","second_words","kind","description"],"properties":{"first":{"type":"integer","minimum":1},"second":{"type":"integer","minimum":1},"first_words":{"type":"string","minLength":1},"second_words":{"type":"string","minLength":1},"kind":{"type":"string","enum":["number","date","negation","name","other"]},"description":{"type":"string","minLength":1}}}}}}`)}

func analyseLeaf() bt.Leaf {
	type in struct {
		By        string `port:"by" doc:"‘model’, or ‘rules’ where none is there or it failed"`
		Turns     []Turn `port:"turns"`
		Limit     int    `port:"limit"`
		Detective string `port:"detective"`
	}
	type out struct {
		Turns  []Turn     `port:"turns"`
		Ledger Ledger     `port:"ledger"`
		Trail  []Trail    `port:"trail"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: EffectAnalyse, Label: fmt.Sprintf("answer %d is analysed, by %s", len(i.Turns), i.By), Payload: AnalysePayload{i.By, i.Turns}}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		if err := done[0].Err; err != nil {
			if i.By == byModel {
				o.Trail = tookOver(o.Trail, done[0].Ref, i.Detective, err, "the rules analyse this answer")
			}
			return err
		}
		r, err := bt.ResultOf[AnalyseReceipt](done[0])
		if err != nil {
			return err
		}
		o.Trail = switched(o.Trail, done[0].Ref, r.Tries, r.By)
		o.Turns = slices.Clone(o.Turns)
		o.Turns[len(o.Turns)-1].Analysis = done[0].Ref
		o.Ledger = ledgerOf(o.Ledger, len(o.Turns), r)
		l := &o.Ledger
		o.Events = []bt.Typed{LedgerKept{Number: l.Pairs, Limit: i.Limit, Completeness: l.Completeness, High: l.count("high"), Medium: l.count("medium"), Low: l.count("low"),
			Contradictions: l.Contradictions, Suspicions: l.Suspicions, By: r.By}}
		return nil
	}
	return bt.Task("Analyse", "Says what the answers leave open, and where they clash.", plan, collect)
}

func (p *performing) analyse(ctx context.Context, job run.Job) (any, error) {
	asked, err := run.AskedOf[AnalysePayload](job)
	if err != nil {
		return nil, err
	}
	all, err := exchanges(p.view, asked.Turns)
	if err != nil {
		return nil, err
	}
	if asked.By == byRules {
		a := rules.Analyse(p.given.Hypothesis, p.given.Language, all)
		return AnalyseReceipt{Analysis: a, FollowUp: !a.Satisfied, By: RulesModel}, nil
	}
	latest, err := p.latest(asked.Turns)
	if err != nil {
		return nil, err
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return nil, modelFault(err)
	}
	req, err := p.request(ctx, textAnalyse, all, latest)
	if err != nil {
		return nil, err
	}
	said, resp, err := analysed(ctx, m, req)
	if err != nil {
		return nil, modelFault(err)
	}
	about, err := p.askedAbout(asked.Turns)
	if err != nil {
		return nil, err
	}
	r := AnalyseReceipt{By: resp.Model, Usage: resp.Usage, Tries: resp.Tries, FollowUp: said.RequiresFollowUp}
	r.Analysis = said.checked(all, about, latest)
	return r, nil
}

// modelAnalysis is what a model says. Pairs count from 1.
type modelAnalysis struct {
	Gaps []struct {
		ID, Category, Severity, Aspect, Description string
		Pair                                        int
	}
	CompletenessScore int
	RequiresFollowUp  bool
	Contradictions    []struct {
		First, Second int
		FirstWords    string `json:"first_words"`
		SecondWords   string `json:"second_words"`
		Kind          string
		Description   string
	}
}

// askedAbout gives, for each answered pair, the pairs that its question names.
func (p *performing) askedAbout(turns []Turn) (about [][]int, err error) {
	for _, t := range turns {
		if t.Answer == 0 {
			continue
		}
		q, err := run.ResultAt[AskReceipt](p.view, t.Question)
		if err != nil {
			return nil, err
		}
		about = append(about, q.About)
	}
	return about, nil
}

// checked is what of a model's analysis holds: gaps of pairs that are there, and contradictions whose words stand in the answers. One is recorded only
// once the witness was asked about both answers; until then it is a suspicion, and a severe gap.
func (m *modelAnalysis) checked(all []rules.Exchange, about [][]int, latest AnalyseReceipt) (a rules.Analysis) {
	a.Completeness = m.CompletenessScore
	for n, g := range m.Gaps {
		if g.Pair > len(all) {
			continue
		}
		id := g.ID
		if !latest.open(id) {
			id = fmt.Sprintf("m%d.%d", len(all), n+1)
		}
		a.Gaps = append(a.Gaps, rules.Gap{ID: id, Category: g.Category, Severity: g.Severity, Aspect: g.Aspect, Description: g.Description, Pair: g.Pair - 1})
	}
	for _, c := range m.Contradictions {
		i, j := c.First-1, c.Second-1
		if i > j {
			i, j, c.FirstWords, c.SecondWords = j, i, c.SecondWords, c.FirstWords
		}
		if i == j || j >= len(all) || !quotes(all[i].Answer, c.FirstWords) || !quotes(all[j].Answer, c.SecondWords) {
			continue
		}
		clash := rules.Clash{ID: fmt.Sprintf("c%d-%d-%s", i+1, j+1, c.Kind), Pairs: [2]int{i, j}, Kind: c.Kind, Reason: c.Description, Words: [2]string{c.FirstWords, c.SecondWords}, Settled: -1}
		for n := j + 1; n < len(all); n++ {
			if slices.Contains(about[n], i) && slices.Contains(about[n], j) {
				clash.Settled = n
			}
		}
		if clash.Settled >= 0 {
			a.Contradictions = append(a.Contradictions, clash)
			continue
		}
		a.Suspicions = append(a.Suspicions, clash)
		a.Gaps = append(a.Gaps, rules.Gap{ID: clash.ID, Category: string(record.Inconsistency), Severity: string(record.High), Description: c.Description, Pair: j, Words: c.SecondWords})
	}
	for _, g := range latest.Analysis.Gaps {
		if !slices.ContainsFunc(a.Gaps, func(now rules.Gap) bool { return now.ID == g.ID }) {
			a.Closed = append(a.Closed, g.ID)
		}
	}
	return a
}

// quotes says whether words stand in an answer, whatever the blanks between them.
func quotes(answer, words string) bool {
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return words != "" && strings.Contains(plain(answer), plain(words))
}
