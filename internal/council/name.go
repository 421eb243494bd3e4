package council

import (
	"context"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// NamePayload asks a model for a name of the session.
type NamePayload struct{}

type NameReceipt struct {
	Name  string      `json:"name"`
	Model string      `json:"model"`
	Usage model.Usage `json:"usage"`
	Composed
}

// nameReply is what a model is asked for.
type nameReply struct {
	Name string `json:"name" min:"1" max:"80"`
}

func nameLeaf() bt.Leaf {
	type in struct{}
	type out struct {
		Events []bt.Typed `port:",events"`
	}
	plan := func(in) (bt.Request, error) {
		return bt.Request{Kind: EffectName, Label: "a name", Payload: NamePayload{}}, nil
	}
	collect := func(_ in, r NameReceipt, _ int64, o *out) error {
		o.Events = agent.WithCut([]bt.Typed{Named{r.Name}}, r.Sent)
		return nil
	}
	return bt.One("NameSession", "Has a model name the session by what was said. A name that a person gave stays.",
		plan, collect, nil)
}

func (p *performer) nameSession(ctx context.Context, job run.Job, asked NamePayload) (any, error) {
	m, _, err := p.modelTaskOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	var r NameReceipt
	q, resp, err := p.askStructured(ctx, job, m, &r)
	r.Model, r.Usage = resp.Model, resp.Usage
	if q != nil {
		r.Composed = q.kept(p.given.Snapshot)
	}
	if err != nil {
		return r, err
	}
	now, err := withFolder(p, func(s *session.Store) (session.Session, error) {
		return s.Rename(ctx, p.given.Session, r.Name, resp.Model)
	})
	r.Name = now.Name
	return r, err
}
