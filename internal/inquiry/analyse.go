package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/collect"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
)

// AnalysePayload asks for an analysis of the answers.
type AnalysePayload struct {
	Turns []Turn `json:"turns"`
}

// AnalyseReceipt is the analysis after the last answer. Without a detective, By is model.OfflineRules, and nothing is
// judged.
type AnalyseReceipt struct {
	Analysis Analysis    `json:"analysis"`
	FollowUp bool        `json:"follow_up"`
	By       string      `json:"by"`
	Usage    model.Usage `json:"usage,omitzero"`
	Tries    []model.Try `json:"tries,omitempty"`
	model.Sent

	Silent   bool           `json:"silent,omitempty"`    // no answer so far says anything
	TimedOut []model.Try    `json:"timed_out,omitempty"` // time-outs after which the same model was asked again
	Late     []LateAnalysis `json:"late,omitempty"`      // of answers whose analysis failed before the run was suspended
}

func (r *AnalyseReceipt) judged() bool { return r.By != "" && r.By != model.OfflineRules }

// satisfied says whether the detective needs no further answer, even if gaps are open. Where no words bear on the
// hypothesis, or a gap is open without which it can't be judged, there is nothing to be satisfied with.
func (r *AnalyseReceipt) satisfied() bool {
	a := &r.Analysis
	decides := func(g record.Gap) bool {
		waits := func(f Finding) bool { return f.ID == g.ID } // what waits becomes a contradiction
		return g.Severity == record.High && !slices.ContainsFunc(a.Waiting, waits)
	}
	return r.wantsNoMore() && len(a.Evidence) > 0 && !slices.ContainsFunc(a.Gaps, decides)
}

// wantsNoMore says that the detective would end the questioning.
func (r *AnalyseReceipt) wantsNoMore() bool {
	return r.judged() && !r.Silent && !r.FollowUp && r.Analysis.Completeness >= record.LeastComplete
}

// analysisSchema is the schema of a model's analysis.
func analysisSchema() model.Schema {
	return model.Schema{Name: "analysis", JSON: schema.Answer[modelAnalysis]()}
}

// modelAnalysis is a model's reply. Pairs count from 1.
type modelAnalysis struct {
	Evidence          []modelEvidence      `json:"evidence" max:"6"`
	Gaps              []modelGap           `json:"gaps" max:"30"`
	CompletenessScore int                  `json:"completenessScore" min:"0" max:"100"`
	RequiresFollowUp  bool                 `json:"requiresFollowUp"`
	Contradictions    []modelContradiction `json:"contradictions" max:"20"`
	Retracted         []string             `json:"retracted" max:"20"`
}

// modelEvidence is a quotation that bears on the hypothesis, as a model reports it.
type modelEvidence struct {
	Pair  int    `json:"pair" min:"1"`
	Words string `json:"words" min:"1"`
	Says  string `json:"says" enum:"for,against"`
}

// modelGap is what a model finds missing.
type modelGap struct {
	ID          string `json:"id"`
	Category    string `json:"category" enum:"missing_information,ambiguity,inconsistency,vagueness"`
	Severity    string `json:"severity" enum:"low,medium,high"`
	Aspect      string `json:"aspect"`
	Description string `json:"description" min:"1"`
	Pair        int    `json:"pair" min:"1"`
}

// modelContradiction is a contradiction as a model reports it.
type modelContradiction struct {
	First       int    `json:"first" min:"1"`
	Second      int    `json:"second" min:"1"`
	FirstWords  string `json:"first_words" min:"1"`
	SecondWords string `json:"second_words" min:"1"`
	Kind        string `json:"kind" enum:"number,date,negation,name,other"`
	Description string `json:"description" min:"1"`
}

func analyseLeaf() bt.Leaf {
	type in struct {
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
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectAnalyse, Label: fmt.Sprintf("answer %d is analysed", len(i.Turns)),
			Payload: AnalysePayload{i.Turns}}, nil
	}
	fails := func(_ in, why *bt.Fault, ref int64, o *out) {
		o.Turns = slices.Clone(o.Turns)
		last := &o.Turns[len(o.Turns)-1]
		last.Failed, last.Coded = why.Reason, why.Why().Coded
		o.Trail = withFailure(o.Trail, ref, why)
		o.Events = []bt.Typed{AnalysisFailed{len(o.Turns), why.Reason, why.Why().Coded}}
	}
	collect := func(i in, r AnalyseReceipt, ref int64, o *out) error {
		o.Trail, o.Events = withSwitch(withTimeouts(o.Trail, ref, r.TimedOut), ref, i.Detective, r.Tries, r.By)
		o.Trail = trailOfLate(o.Trail, ref, r.Late)
		o.Trail = r.addToTrail(o.Trail, ref, len(o.Turns))
		o.Turns = turnsWithLate(o.Turns, ref, r.Late)
		o.Turns[len(o.Turns)-1].Analysis = ref
		o.Ledger = nextLedger(o.Ledger, len(o.Turns), r)
		o.Events = append(o.Events, r.ledgerEvent(len(o.Turns), i.Limit))
		o.Trail, o.Events = withCut(o.Trail, ref, r.Sent), agent.WithCut(o.Events, r.Sent)
		return nil
	}
	return bt.One("Analyse", "Finds the gaps and contradictions in the answers. FAILURE if the model fails.",
		plan, collect, fails)
}

// addToTrail adds the contradictions that the witness took back in this pair, and those that can't be verified.
func (r *AnalyseReceipt) addToTrail(trail []Trail, ref int64, pair int) []Trail {
	trail = slices.Clip(trail)
	for _, f := range r.Analysis.TakenBack {
		if f.Settled == pair {
			trail = append(trail, newTrail(ref, record.ErrorEvent, tookBack.With(f.Description)))
		}
	}
	for _, u := range r.Analysis.Unverified {
		if u.Pair == pair {
			trail = append(trail, newTrail(ref, record.ErrorEvent, unverifiable.With(u.Description,
				bt.Why{Text: u.Reason, Coded: u.Coded})))
		}
	}
	return trail
}

// ledgerEvent counts what is open after the analysis.
func (r *AnalyseReceipt) ledgerEvent(number, limit int) LedgerKept {
	e := LedgerKept{Number: number, Limit: limit, Contradictions: len(r.Analysis.Contradictions),
		Waiting:    len(r.Analysis.Waiting),
		Unverified: len(r.Analysis.Unverified), By: r.By}
	if r.judged() {
		e.Completeness = &r.Analysis.Completeness
	}
	for _, g := range r.Analysis.Gaps {
		switch g.Severity {
		case record.High:
			e.High++
		case record.Medium:
			e.Medium++
		default:
			e.Low++
		}
	}
	return e
}

func (p *performer) performAnalyse(ctx context.Context, job run.Job, payload AnalysePayload) (any, error) {
	ctx = witness.WithReading(ctx, agent.TellReading(job))
	all, latest, err := p.pairsAndAnalysis(payload.Turns)
	if err != nil {
		return nil, err
	}
	if !p.given.Model {
		return unjudgedAnalysis(p.given.Language, all), nil
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return nil, suspendedBy(ctx, err)
	}
	late, took, err := p.analyseLate(ctx, m, payload.Turns[:len(payload.Turns)-1])
	if err != nil {
		return nil, err
	}
	r, err := p.analyse(ctx, m, payload.Turns, all, latestOf(latest, payload.Turns, late))
	r.Late, r.Usage, r.TimedOut = late, r.Usage.Add(took.Usage), append(took.TimedOut, r.TimedOut...)
	failed, isReply := errors.AsType[*replyError](err)
	switch {
	case err == nil:
		return r, nil
	case !isReply:
		return nil, err
	case !isLasting(failed.error) && failedInARow(turnsWithLate(payload.Turns, 0, late)) < mostFailed-1:
		return r, faultOf(failed.error)
	}
	return r, suspendedBy(ctx, failed.error)
}

// replyError is the failure of a model that was asked for an analysis.
type replyError struct{ error }

func (e *replyError) Unwrap() error { return e.error }

// analyse has the detective analyse the answers of these turns. If its reply fails, the error is a *replyError, and the
// receipt has what it took.
func (p *performer) analyse(
	ctx context.Context, m model.Model, turns []Turn, all []AnsweredPair, before AnalyseReceipt,
) (r AnalyseReceipt, err error) {
	confronted, err := p.confrontingPairs(turns)
	if err != nil {
		return r, err
	}
	q, err := p.newPrompt(ctx, textAnalyse, all, before)
	if err != nil {
		return r, err
	}
	noting := &witness.Noting{Model: p.fitting(q, m)}
	var said modelAnalysis
	_, resp, err := model.Structured(ctx, noting, q.Request, analysisSchema(), &said)
	r = AnalyseReceipt{By: resp.Model, Usage: resp.Usage, Tries: resp.Tries, Sent: q.Sent(),
		TimedOut: noting.TimedOut}
	if err != nil {
		return r, &replyError{err}
	}
	from := agent.OriginOfTexts(q.TextsByOrigin(textAnalyse, "language"))
	said.Gaps = slices.DeleteFunc(said.Gaps, func(g modelGap) bool { return !from.IsOwn(g.Description) })
	r.Analysis = said.analysisAfter(all, confronted, before.Analysis)
	r.Analysis.keepEvidence(all, said.Evidence, namesIn(p.given.Hypothesis, p.given.Language))
	r.FollowUp = said.RequiresFollowUp
	r.Silent = !slices.ContainsFunc(all, func(e AnsweredPair) bool {
		return !e.NotFound && strings.TrimSpace(e.Answer) != ""
	})
	if r.wantsNoMore() && !r.satisfied() {
		r.FollowUp = true
		if len(r.Analysis.Evidence) == 0 {
			r.Analysis.Gaps = append(r.Analysis.Gaps, nothingBearsGap(len(all)))
		}
	}
	return r, nil
}

// isLasting says whether the next request would fail in the same way.
func isLasting(err error) bool {
	kind := model.KindOf(err)
	return kind == model.Auth || kind == model.Payment
}

// failedInARow counts the pairs directly before the last one whose analysis failed.
func failedInARow(turns []Turn) (n int) {
	for at := len(turns) - 2; at >= 0 && turns[at].Failed != ""; at-- {
		n++
	}
	return n
}

// confrontingPairs returns, by the finding's id, the index from 0 of the answered pair that asked about it.
func (p *performer) confrontingPairs(turns []Turn) (map[string]int, error) {
	at := map[string]int{}
	for n, t := range turns {
		q, err := run.ResultAt[AskReceipt](p.view, t.Question)
		if err != nil {
			return nil, err
		}
		if q.Confronts != "" && t.Answer != 0 {
			at[q.Confronts] = n
		}
	}
	return at, nil
}

// unjudgedAnalysis lists what the answers leave open, without a model.
func unjudgedAnalysis(language string, all []AnsweredPair) AnalyseReceipt {
	return AnalyseReceipt{Analysis: Analysis{Gaps: collect.Gaps(language, witnessExchanges(all))}, By: model.OfflineRules,
		FollowUp: true}
}
