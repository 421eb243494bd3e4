package council

import (
	"context"
	"fmt"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// Purpose is the Purpose of the model request for an oracle's answer.
const Purpose = "council.answer"

// ReplyPayload requests the answer of an oracle. Its prompt is a text of the run.
type ReplyPayload struct {
	Oracle string `json:"oracle"` // its id
}

// ReplyReceipt is the answer of an oracle.
type ReplyReceipt struct {
	Text     string      `json:"text"`
	Model    string      `json:"model"`
	Finish   string      `json:"finish,omitempty"`
	Usage    model.Usage `json:"usage"`
	Attempts int         `json:"attempts,omitempty"`
	Tries    []model.Try `json:"tries,omitempty"`   // models that failed before this one answered
	NotOwn   []string    `json:"not_own,omitempty"` // what was dropped of it: only repeated of what was sent
	Composed
}

func askOracle() bt.Leaf {
	type in struct {
		Oracles []Seat `port:"oracles" doc:"the first is asked"`
	}
	type out struct {
		Reply  int64      `port:"reply" doc:"the record of the answer"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		if len(i.Oracles) != 1 {
			return bt.Request{}, fmt.Errorf("an answer is of one oracle, not of %d", len(i.Oracles))
		}
		return bt.Request{Kind: EffectReply, Label: i.Oracles[0].Name, Payload: ReplyPayload{i.Oracles[0].ID}}, nil
	}
	collect := func(_ in, r ReplyReceipt, ref int64, o *out) error {
		o.Reply, o.Events = ref, agent.WithNotOwn(agent.WithCut(nil, r.Sent), r.NotOwn)
		return nil
	}
	failed := func(_ in, _ *bt.Fault, ref int64, o *out) { o.Reply = ref }
	return bt.One("AskOracle", "Has a model answer as the oracle, with the prompt that the run began with.",
		plan, collect, failed)
}

func (p *performer) answerAsOracle(ctx context.Context, job run.Job) (any, error) {
	if err := p.notDeleted(ctx); err != nil {
		return nil, err
	}
	m, err := p.Model(ctx, p.env.Model)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	q, err := p.oracleRequest(ctx)
	if err != nil {
		return nil, err
	}
	resp, err := q.For(model.WithReading(m, agent.TellReading(job))).Chat(ctx, q.Request, emitPieces(job))
	own, dropped := agent.OriginOfTexts(q.TextsByOrigin(p.firstOracle().Name)).Own(resp.Text)
	if dropped != nil {
		job.Emit(run.Piece{Text: own, Retract: true})
	}
	r := ReplyReceipt{Text: own, NotOwn: dropped, Model: resp.Model, Finish: string(resp.Finish), Usage: resp.Usage,
		Attempts: resp.Attempts, Tries: resp.Tries, Composed: q.kept(p.given.Snapshot)}
	switch {
	case err != nil:
		return r, agent.ModelFault(err)
	case resp.Finish == model.FinishFilter:
		return r, &bt.Fault{Kind: string(model.Refused), Reason: resp.Model +
			": the provider's filter stopped the answer"}
	case session.Blank(own):
		return r, &bt.Fault{Kind: string(model.Garbled), Reason: resp.Model + " answered nothing"}
	}
	return r, nil
}

// emitPieces passes on the text of an answer as it arrives, with its pauses.
func emitPieces(job run.Job) func(model.Delta) error {
	return func(d model.Delta) error {
		piece := run.Piece{Text: d.Text, Retract: d.Retract, Thinking: d.Thinking}
		if d.Wait != nil {
			piece.Wait = agent.PauseFor(*d.Wait)
		}
		job.Emit(piece)
		return nil
	}
}

// KeepPayload requests that the answer in a record is written into the session's folder.
type KeepPayload struct {
	Reply  int64  `json:"reply"` // the record of the answer
	Oracle Seat   `json:"oracle"`
	Kind   string `json:"kind,omitempty"` // as session.LlmEntry has it
}

// mergedKind is the Kind of what a chair has merged, as the tree says it.
const mergedKind = "chair"

// KeepReceipt names the entry and the file of a saved answer.
type KeepReceipt struct {
	Sequence int    `json:"sequence"`
	File     string `json:"file"`
}

func keepAnswer() bt.Leaf {
	type in struct {
		Reply   int64  `port:"reply"`
		Oracle  Seat   `port:"oracle,optional" doc:"whose it is, if not of the first of ‘oracles’"`
		Oracles []Seat `port:"oracles,optional"`
		Kind    string `port:"kind" default:"" doc:"‘chair’ for what a chair has merged"`
	}
	type out struct {
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		seat := i.Oracle
		if seat.ID == "" && len(i.Oracles) > 0 {
			seat = i.Oracles[0]
		}
		p := KeepPayload{Reply: i.Reply, Oracle: seat, Kind: i.Kind}
		return bt.Request{Kind: EffectKeep, Label: "the answer of " + seat.Name, Payload: p, Once: true}, nil
	}
	collect := func(_ in, r KeepReceipt, _ int64, o *out) error {
		o.Events = []bt.Typed{AnswerKept{r.File}}
		return nil
	}
	failed := func(_ in, why *bt.Fault, _ int64, o *out) {
		o.Events = []bt.Typed{AnswerUnsaved{why.Reason, why.Why().Coded}}
	}
	return bt.One("KeepAnswer",
		"Writes the answer into the session's folder, once. What the folder does not take stays in the journal.", plan,
		collect, failed)
}

// saveAnswer writes an answer into the session's folder. Repeating it writes no second one.
func (p *performer) saveAnswer(ctx context.Context, job run.Job, asked KeepPayload) (any, error) {
	r, err := p.responseEntry(asked)
	if err != nil {
		return nil, err
	}
	return withFolder(p, func(s *session.Store) (any, error) {
		e, err := s.SaveResponse(ctx, p.given.Session, r)
		if err != nil {
			return nil, err
		}
		return KeepReceipt{e.Sequence, e.File}, nil
	})
}

// findSavedAnswer finds an answer that was saved before a crash; false if it was not.
func (p *performer) findSavedAnswer(ctx context.Context, job run.Job) (any, bool, error) {
	asked, err := run.PayloadOf[KeepPayload](job)
	if err != nil {
		return nil, false, err
	}
	was := false
	e, err := withFolder(p, func(s *session.Store) (e session.LlmEntry, err error) {
		e, was, err = s.FindResponse(ctx, p.given.Session, operation(p.view, asked))
		return e, err
	})
	return KeepReceipt{e.Sequence, e.File}, was, err
}

// operation identifies the saving of an answer; it is the same after a crash and in every retry.
func operation(v *run.View, p KeepPayload) string { return fmt.Sprintf("%s/%d", v.ID, p.Reply) }

// responseEntry builds the entry of an answer from its receipt, for the session's folder.
func (p *performer) responseEntry(k KeepPayload) (r session.Response, err error) {
	c, err := p.view.Receipt(k.Reply)
	if err != nil {
		return r, err
	}
	text, by, sent, err := answerIn(c)
	if err != nil {
		return r, err
	}
	snapshot := sent.snapshot(p.given.Snapshot)
	snapshot.Model = by
	r.LlmEntry = session.LlmEntry{
		CreatedAt:  p.view.Records()[k.Reply].At.UTC(),
		OracleName: k.Oracle.Name,
		OracleID:   k.Oracle.ID,
		Context:    snapshot,
		Run:        p.view.ID,
		Operation:  operation(p.view, k),
		Kind:       k.Kind,
	}
	r.Slug, r.Text = k.Oracle.Slug, text
	return r, nil
}

// answerIn gives the text of an oracle's or a chair's answer, its model, and what that was sent.
func answerIn(c *run.CompletionRecord) (text, by string, sent Composed, err error) {
	switch r := c.Value.(type) {
	case ReplyReceipt:
		return r.Text, r.Model, r.Composed, nil
	case ChairReceipt:
		return r.Text, r.Model, r.Composed, nil
	}
	return "", "", sent, fmt.Errorf("%s is no answer", c.Name())
}
