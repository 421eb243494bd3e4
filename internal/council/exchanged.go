package council

import (
	"context"

	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// showEffect shows the request to a model (an oracle's, the chair's, or one that names) and its reply. Other effects
// are shown by their records.
func showEffect(ctx context.Context, v *run.View, c *run.CompletionRecord) (x assistant.ShownEffect, err error) {
	p := &performer{view: v}
	if err := p.readStart(); err != nil {
		return x, err
	}
	if _, reply := c.Asked.(ReplyPayload); reply {
		return p.showReply(ctx, c)
	}
	var kept Composed
	var by string
	var got []assistant.Part
	switch r := c.Value.(type) {
	case ChairReceipt:
		kept, by, got = r.Composed, r.Model, assistant.AnswerParts(r.Text)
	case NameReceipt:
		kept, by, got = r.Composed, r.Model, assistant.AnswerParts(r.Name)
	}
	m, asks, err := p.modelTaskOf(ctx, c.Asked)
	if err != nil {
		return x, err
	}
	if !asks {
		return assistant.ShownEffect{To: by}, nil
	}
	q, err := p.requestFor(ctx, m)
	if err != nil {
		return x, err
	}
	return q.ShowEffect(by, m.schema, kept.Sent, got...), nil
}

func (p *performer) showReply(ctx context.Context, c *run.CompletionRecord) (assistant.ShownEffect, error) {
	q, err := p.oracleRequest(ctx)
	if err != nil {
		return assistant.ShownEffect{}, err
	}
	r, _ := c.Value.(ReplyReceipt) // none: it failed
	x := q.ShowEffect(r.Model, model.Schema{}, r.Sent, assistant.AnswerParts(r.Text)...)
	if p.env.Cut != "" {
		x.LeftOut = append(x.LeftOut, "what has no room in the model's window: it has "+p.env.Cut)
	}
	x.LeftOut = append(x.LeftOut, p.env.Left...)
	return x, nil
}
