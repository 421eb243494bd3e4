package inquiry

import (
	"context"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// SumPayload asks what came of the inquiry, in words.
type SumPayload struct {
	Turns []Turn `json:"turns,omitempty"`
}

// SumReceipt is the summary, as Markdown. Failure says why there is none, or why it ends early.
type SumReceipt struct {
	Text    string      `json:"text"`
	By      string      `json:"by,omitempty"`
	Failure *bt.Fault   `json:"failure,omitempty"`
	NotOwn  []string    `json:"not_own,omitempty"` // what was dropped of it: only repeated of what was sent
	Usage   model.Usage `json:"usage,omitzero"`
	Tries   []model.Try `json:"tries,omitempty"`
	model.Sent

	TimedOut []model.Try `json:"timed_out,omitempty"` // time-outs after which the same model was asked again
}

func sumLeaf() bt.Leaf {
	type in struct {
		Turns     []Turn `port:"turns,optional"`
		Detective string `port:"detective"`
	}
	type out struct {
		Summary int64      `port:"summary"`
		Trail   []Trail    `port:"trail"`
		Events  []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectSum, Label: "the summary", Payload: SumPayload{i.Turns}}, nil
	}
	collect := func(i in, r SumReceipt, ref int64, o *out) error {
		o.Summary = ref
		o.Trail = withTimeouts(o.Trail, ref, r.TimedOut)
		if r.Failure != nil {
			o.Trail = withFailure(o.Trail, ref, r.Failure)
		}
		if r.By != "" {
			o.Trail, o.Events = withSwitch(o.Trail, ref, i.Detective, r.Tries, r.By)
		}
		o.Events = agent.WithCut(agent.WithNotOwn(o.Events, r.NotOwn), r.Sent)
		return nil
	}
	return bt.One("SumUp", "Has the detective sum up the inquiry. A failure leaves the findings without a summary.",
		plan, collect, nil)
}

func (p *performer) performSum(ctx context.Context, job run.Job, payload SumPayload) (any, error) {
	all, latest, err := p.pairsAndAnalysis(payload.Turns)
	switch {
	case err != nil:
		return nil, err
	case !p.given.Model:
		return SumReceipt{Text: record.NotAudited}, nil
	case len(all) == 0 || !latest.Analysis.hasFindings():
		return SumReceipt{}, nil // there is nothing to sum up: the verdict says so
	}
	q, err := p.newPrompt(ctx, textSummary, all, latest)
	if err != nil {
		return nil, err
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return SumReceipt{Failure: faultOf(err)}, nil
	}
	noting := &witness.Noting{Model: p.fitting(q, m)}
	resp, err := noting.Chat(witness.WithReading(ctx, agent.TellReading(job)), q.Request, func(d model.Delta) error {
		job.Emit(run.Piece{Text: d.Text, Retract: d.Retract, Thinking: d.Thinking})
		return nil
	})
	own, dropped := agent.OriginOfTexts(q.TextsByOrigin(textSummary, "language")).Own(strings.TrimSpace(resp.Text))
	if dropped != nil {
		job.Emit(run.Piece{Text: own, Retract: true})
	}
	r := SumReceipt{Text: own, NotOwn: dropped, By: resp.Model, Usage: resp.Usage, Tries: resp.Tries,
		Sent: q.Sent(), TimedOut: noting.TimedOut}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, faultOf(err)
	case err != nil:
		return SumReceipt{Failure: faultOf(err), Sent: r.Sent, TimedOut: r.TimedOut}, nil
	case resp.Finish == model.FinishRepeated:
		r.Failure = &bt.Fault{Kind: string(model.Repeated), Reason: resp.Model + ": " + model.Repeated.Words()}
	case r.Text == "":
		return SumReceipt{Failure: &bt.Fault{Kind: string(model.Garbled), Reason: resp.Model +
			": the summary is empty"}, Usage: r.Usage, Sent: r.Sent, NotOwn: dropped}, nil
	}
	return r, nil
}
