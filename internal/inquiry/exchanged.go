package inquiry

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// exchangedEffect shows what an effect sent to the detective or the witness, and the reply. Effects without a model
// have no reply.
func exchangedEffect(ctx context.Context, v *run.View, c *run.CompletionRecord) (x assistant.ShownEffect, err error) {
	p := &performer{view: v}
	if err := p.readStart(); err != nil {
		return x, err
	}
	switch payload := c.Asked.(type) {
	case AnswerPayload:
		r, _ := c.Value.(AnswerReceipt)
		return p.exchangedAnswer(payload, r)
	case AskPayload:
		r, _ := c.Value.(AskReceipt) // zero if it failed
		if !p.given.Model {
			return assistant.ShownEffect{To: r.By}, nil
		}
		return p.exchangedQuestion(ctx, payload, r)
	case AnalysePayload:
		r, _ := c.Value.(AnalyseReceipt)
		if !p.given.Model {
			return assistant.ShownEffect{To: r.By}, nil
		}
		q, err := p.promptAbout(ctx, textAnalyse, payload.Turns, r.Late)
		if err != nil {
			return x, err
		}
		var got []assistant.Part
		if c.Err == nil {
			got = assistant.AnswerPartsJSON(struct { // the part that was used
				Analysis
				FollowUp bool `json:"requiresFollowUp"`
			}{r.Analysis, r.FollowUp})
		}
		return q.ShowEffect(r.By, analysisSchema(), r.Sent, got...), nil
	case SumPayload:
		r, _ := c.Value.(SumReceipt)
		if r.By == "" {
			return x, nil
		}
		q, err := p.promptAbout(ctx, textSummary, payload.Turns, nil)
		if err != nil {
			return x, err
		}
		return q.ShowEffect(r.By, model.Schema{}, r.Sent, assistant.AnswerParts(r.Text)...), nil
	}
	return x, nil
}

// promptAbout composes the prompt for these turns again.
func (p *performer) promptAbout(
	ctx context.Context, what string, turns []Turn, late []LateAnalysis,
) (*assistant.Prompt, error) {
	all, latest, err := p.pairsAndAnalysis(turns)
	if err != nil {
		return nil, err
	}
	return p.newPrompt(ctx, what, all, latestOf(latest, turns, late))
}

func (p *performer) exchangedQuestion(
	ctx context.Context, payload AskPayload, r AskReceipt,
) (x assistant.ShownEffect, err error) {
	all, latest, err := p.pairsAndAnalysis(payload.Turns)
	if err != nil {
		return x, err
	}
	k, err := p.newQuestioner(ctx, payload, all, latestOf(latest, payload.Turns, r.Late))
	if err != nil {
		return x, err
	}
	for n, value := range r.Repeated {
		var said modelQuestion
		if err := json.Unmarshal([]byte(value), &said); err != nil {
			return x, err
		}
		k.rejectRepetition(n+1, json.RawMessage(value), pairWithQuestion(all, k.wording(said.Question)), said.Gaps)
	}
	return k.prompt.ShowEffect(r.By, questionSchema(), r.Sent, assistant.AnswerParts(r.Text)...), nil
}

// exchangedAnswer shows what the witness was asked. Documents get only the question, and answer with passages.
func (p *performer) exchangedAnswer(payload AnswerPayload, r AnswerReceipt) (x assistant.ShownEffect, err error) {
	last := payload.Turns[len(payload.Turns)-1]
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
		for _, c := range r.Compared {
			x.Got = append(x.Got, assistant.Part{Kind: assistant.PartModel, Name: "compared",
				Text: fmt.Sprintf("“%s”\n%s: %s\n“%s”\n%s: %s", c.Words[0], c.First.Property, c.First.Value, c.Words[1],
					c.Second.Property, c.Second.Value)})
		}
		for _, c := range r.Citations {
			x.Got = append(x.Got, assistant.Part{Kind: assistant.PartResult, Name: c.Document,
				Text: r.Passages[c.ChunkHash]})
		}
		return x, nil
	}
	earlier, err := answeredPairs(p.view, payload.Turns)
	if err != nil {
		return x, err
	}
	req := witness.Request(p.env.Witness.Text, q.Text, witnessExchanges(earlier[r.Left:]))
	sent := &assistant.Prompt{}
	sent.AddSegment("witness", req.System)
	for _, m := range req.Messages {
		kind, name := assistant.PartSegment, "question"
		if m.Role == model.Assistant {
			kind, name = assistant.PartModel, ""
		}
		sent.BeginMessage(m.Role)
		sent.AddPart(kind, name, m.Text)
	}
	x = sent.ShowEffect(r.By, model.Schema{}, model.Sent{Hash: r.Hash}, assistant.AnswerParts(r.Text)...)
	if r.Left > 0 {
		x.LeftOut = []string{assistant.NoRoom}
	}
	return x, nil
}
