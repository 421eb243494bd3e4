package inquiry

import (
	"context"
	"encoding/json"
	"strings"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// exchanged tells what a detective was sent and said, and what a witness was asked. What rules did is told by its
// record.
func exchanged(ctx context.Context, v *run.View, c *run.CompletionRecord) (x assistant.ShownEffect, err error) {
	p := &performing{view: v}
	if err := p.read(); err != nil {
		return x, err
	}
	switch asked := c.Asked.(type) {
	case AnswerPayload:
		r, _ := c.Value.(AnswerReceipt)
		return p.exchangedAnswer(asked, r)
	case AskPayload:
		r, _ := c.Value.(AskReceipt) // none: it failed
		if !p.given.Model {
			return assistant.ShownEffect{To: r.By}, nil
		}
		return p.exchangedQuestion(ctx, asked, r)
	case AnalysePayload:
		r, _ := c.Value.(AnalyseReceipt)
		if !p.given.Model {
			return assistant.ShownEffect{To: r.By}, nil
		}
		q, err := p.about(ctx, textAnalyse, asked.Turns)
		if err != nil {
			return x, err
		}
		var got []assistant.Part
		if c.Err == nil {
			got = assistant.AnswerPartsJSON(struct { // what of it was taken
				Analysis
				FollowUp bool `json:"requiresFollowUp"`
			}{r.Analysis, r.FollowUp})
		}
		return q.ShowEffect(r.By, analysis(), r.Sent, got...), nil
	case SumPayload:
		r, _ := c.Value.(SumReceipt)
		if r.By == "" {
			return x, nil
		}
		q, err := p.about(ctx, textSummary, asked.Turns)
		if err != nil {
			return x, err
		}
		return q.ShowEffect(r.By, model.Schema{}, r.Sent, assistant.AnswerParts(r.Text)...), nil
	}
	return x, nil
}

// about is what a model was sent about these pairs.
func (p *performing) about(ctx context.Context, what string, turns []Turn) (*assistant.Prompt, error) {
	all, latest, err := p.answered(turns)
	if err != nil {
		return nil, err
	}
	return p.prompt(ctx, what, all, latest)
}

func (p *performing) exchangedQuestion(
	ctx context.Context, asked AskPayload, r AskReceipt,
) (x assistant.ShownEffect, err error) {
	all, latest, err := p.answered(asked.Turns)
	if err != nil {
		return x, err
	}
	k, err := p.asking(ctx, asked, all, latest)
	if err != nil {
		return x, err
	}
	for n, value := range r.Repeated {
		var said put
		if err := json.Unmarshal([]byte(value), &said); err != nil {
			return x, err
		}
		k.again(n+1, json.RawMessage(value), askedBefore(all, k.worded(said.Question)), said.Gaps)
	}
	return k.prompt.ShowEffect(r.By, question(), r.Sent, assistant.AnswerParts(r.Text)...), nil
}

// exchangedAnswer tells what a witness was asked. Documents are asked the question alone, and answer with passages.
func (p *performing) exchangedAnswer(asked AnswerPayload, r AnswerReceipt) (x assistant.ShownEffect, err error) {
	last := asked.Turns[len(asked.Turns)-1]
	q, err := run.ResultAt[AskReceipt](p.view, last.Question)
	if err != nil {
		return x, err
	}
	if p.env.Witness.Kind != record.WitnessModel {
		x = assistant.ShownEffect{To: r.By, Sent: []assistant.Part{{Kind: assistant.PartCall, Name: "question",
			Text: q.Text}}}
		if len(r.Given) > 0 {
			x.Sent = append(x.Sent, assistant.Part{Kind: assistant.PartSegment, Name: "passages",
				Text: strings.Join(r.Given, "\n")})
		}
		if r.Text != "" {
			x.Got = []assistant.Part{{Kind: assistant.PartResult, Text: r.Text}}
		}
		for _, c := range r.Citations {
			x.Got = append(x.Got, assistant.Part{Kind: assistant.PartResult, Name: c.Document,
				Text: r.Passages[c.ChunkHash]})
		}
		return x, nil
	}
	earlier, err := exchanges(p.view, asked.Turns)
	if err != nil {
		return x, err
	}
	req := witness.Request(p.env.Witness.Text, q.Text, asWitnessed(earlier))
	sent := &assistant.Prompt{}
	sent.Tell("witness", req.System)
	for _, m := range req.Messages {
		kind, name := assistant.PartSegment, "question"
		if m.Role == model.Assistant {
			kind, name = assistant.PartModel, ""
		}
		sent.Say(m.Role)
		sent.Part(kind, name, m.Text)
	}
	return sent.ShowEffect(r.By, model.Schema{}, r.Sent, assistant.AnswerParts(r.Text)...), nil
}
