package inquiry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"sibyl/internal/agent"
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
	model.Sent
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
		Turns   []Turn     `port:"turns"`
		Ledger  Ledger     `port:"ledger"`
		Failure string     `port:"failure"`
		Trail   []Trail    `port:"trail"`
		Events  []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectAnalyse, Label: fmt.Sprintf("answer %d is analysed, by %s", len(i.Turns), i.By), Payload: AnalysePayload{i.By, i.Turns}}, nil
	}
	fails := func(i in, why *bt.Fault, ref int64, o *out) {
		if i.By == byModel {
			o.Trail = tookOver(o.Trail, ref, i.Detective, why, "the rules analyse this answer")
		} else {
			o.Failure, o.Trail = why.Kind, failed(o.Trail, ref, why)
		}
	}
	collect := func(i in, r AnalyseReceipt, ref int64, o *out) error {
		o.Trail = switched(o.Trail, ref, r.Tries, r.By)
		o.Turns = slices.Clone(o.Turns)
		o.Turns[len(o.Turns)-1].Analysis = ref
		o.Ledger = ledgerOf(o.Ledger, len(o.Turns), r)
		l := &o.Ledger
		o.Events = []bt.Typed{LedgerKept{Number: l.Pairs, Limit: i.Limit, Completeness: l.Completeness, High: l.count("high"), Medium: l.count("medium"), Low: l.count("low"),
			Contradictions: l.Contradictions, Suspicions: l.Suspicions, By: r.By}}
		return nil
	}
	return bt.One("Analyse", "Finds the gaps and contradictions in the answers.", plan, collect, fails)
}

func (p *performing) analyse(ctx context.Context, job run.Job, asked AnalysePayload) (any, error) {
	all, latest, err := p.answered(asked.Turns)
	if err != nil {
		return nil, err
	}
	if asked.By == byRules {
		return p.byRules(all, latest), nil
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	q, err := p.prompt(ctx, textAnalyse, all, latest)
	if err != nil {
		return nil, err
	}
	var said modelAnalysis
	_, resp, err := model.Structured(ctx, m, q.Request, analysis, &said)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	about, err := p.askedAbout(asked.Turns)
	if err != nil {
		return nil, err
	}
	r := AnalyseReceipt{By: resp.Model, Usage: resp.Usage, Tries: resp.Tries, FollowUp: said.RequiresFollowUp, Sent: q.Request.Sent()}
	r.Analysis = said.checked(all, about, latest)
	return r, nil
}

// byRules is the analysis of the rules. What a model has found to clash before stays: the rules do not settle what they have not seen.
func (p *performing) byRules(all []rules.Exchange, latest AnalyseReceipt) AnalyseReceipt {
	var a rules.Analysis
	p.reading(all, func(c *rules.Case) { a = c.Analysis() })
	followUp := !a.Satisfied
	for _, c := range latest.Analysis.Contradictions {
		if ofModel(c.ID) && !clashing(slices.Concat(a.Contradictions, a.Suspicions), c) {
			a.Contradictions = append(a.Contradictions, c)
		}
	}
	for _, c := range latest.Analysis.Suspicions {
		if ofModel(c.ID) && !clashing(slices.Concat(a.Contradictions, a.Suspicions), c) {
			a.Suspicions, a.Gaps, followUp = append(a.Suspicions, c), append(a.Gaps, gapOf(c)), true
		}
	}
	return AnalyseReceipt{Analysis: a, FollowUp: followUp, By: model.OfflineRules}
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
