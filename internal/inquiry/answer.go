package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// OpenPayload asks to open the witness.
type OpenPayload struct {
	Witness WitnessSpec `json:"witness"`
}

// OpenReceipt is the witness, with the documents that were read and those that could not be read.
type OpenReceipt struct {
	Name      string            `json:"name"`
	Documents []record.Document `json:"documents,omitempty"`

	Embeddings Embeddings `json:"embeddings,omitzero"`
	Model      string     `json:"model,omitempty"` // that chooses quotations
}

func openLeaf() bt.Leaf {
	type in struct{}
	type out struct {
		Opened  int64      `port:"opened"`
		Failure string     `port:"failure"`
		Trail   []Trail    `port:"trail"`
		Events  []bt.Typed `port:",events"`
	}
	plan := func(in) (bt.Request, error) {
		return bt.Request{Kind: EffectOpen, Label: "the witness", Payload: OpenPayload{}}, nil
	}
	fails := func(_ in, why *bt.Fault, ref int64, o *out) {
		o.Failure, o.Trail = why.Kind, withFailure(o.Trail, ref, why)
	}
	collect := func(_ in, r OpenReceipt, ref int64, o *out) error {
		e := WitnessOpened{Name: r.Name, Embeddings: r.Embeddings.By, Away: r.Embeddings.Away, Model: r.Model}
		if n := len(r.Documents); n > 1 {
			e.Coded = severalDocuments.With(r.Documents[0].Name, n-1).Coded
		}
		for _, d := range r.Documents {
			if d.Error != "" {
				e.Unread = append(e.Unread, d.Name+": "+d.Error)
				continue
			}
			e.Documents, e.Chunks = e.Documents+1, e.Chunks+d.Chunks
		}
		o.Opened, o.Events = ref, []bt.Typed{e}
		return nil
	}
	return bt.One("OpenCase", "Examines the witness: reads the documents and names those that can't be read.",
		plan, collect, fails)
}

func (p *performer) performOpen(ctx context.Context, _ run.Job) (any, error) {
	w, documents, err := p.openWitness(ctx)
	if err != nil {
		return nil, err
	}
	return OpenReceipt{w.Name(), documents, p.env.Witness.Embeddings, p.env.Witness.Model}, nil
}

// AnswerPayload asks the witness the last question.
type AnswerPayload struct {
	Turns  []Turn `json:"turns"`
	Opened int64  `json:"opened"`
}

// AnswerReceipt is the witness's answer.
type AnswerReceipt struct {
	Text      string            `json:"text"`
	NotFound  bool              `json:"not_found,omitempty"` // no passage answers
	Further   bool              `json:"further,omitempty"`   // with NotFound: earlier answers quote the passages on it
	Citations []record.Citation `json:"citations,omitempty"`
	By        string            `json:"by"`
	Notes     agent.Whys        `json:"notes,omitempty"` // what went wrong beside the answer

	Passages map[string]string `json:"passages,omitempty"` // the texts of the chunks that are cited, by their hashes
	Given    []string          `json:"given,omitempty"`    // the passages of documents that a model chose from
	Tries    []model.Try       `json:"tries,omitempty"`    // models that did not answer before the one that did
	Model    string            `json:"model,omitempty"`    // the model that was asked to choose, even if its choice was unusable
	Usage    model.Usage       `json:"usage,omitzero"`     // of a model that answers, or chooses
	model.Sent

	Compared []witness.Comparison `json:"compared,omitempty"` // statements of documents that a model compared

	Left     int         `json:"left_out,omitempty"`  // the oldest exchanges that had no room in the model's window
	TimedOut []model.Try `json:"timed_out,omitempty"` // time-outs after which the same model was asked again
	NotOwn   []string    `json:"not_own,omitempty"`   // what was dropped of it: only repeated of what was sent
}

func hearLeaf() bt.Leaf {
	type in struct {
		Turns  []Turn `port:"turns"`
		Opened int64  `port:"opened"`
	}
	type out struct {
		Turns   []Turn     `port:"turns"`
		Failure string     `port:"failure"`
		Trail   []Trail    `port:"trail"`
		Events  []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		if len(i.Turns) == 0 {
			return bt.Request{}, errors.New("nothing was asked")
		}
		return bt.Request{Kind: EffectAnswer, Label: fmt.Sprintf("answer %d", len(i.Turns)), Payload: AnswerPayload(i)},
			nil
	}
	fails := func(_ in, why *bt.Fault, ref int64, o *out) {
		o.Failure, o.Trail = why.Kind, withFailure(o.Trail, ref, why)
	}
	collect := func(_ in, r AnswerReceipt, ref int64, o *out) error {
		o.Turns = slices.Clone(o.Turns)
		o.Turns[len(o.Turns)-1].Answer = ref
		e := AnswerHeard{Number: len(o.Turns), Text: r.Text, NotFound: r.NotFound, Further: r.Further,
			By: r.By}
		o.Trail, e.Notes = withNotes(withTimeouts(o.Trail, ref, r.TimedOut), ref, r.Notes)
		o.Trail, o.Events = withCut(o.Trail, ref, r.Sent), agent.WithCut(agent.WithNotOwn([]bt.Typed{e}, r.NotOwn), r.Sent)
		return nil
	}
	return bt.One("HearWitness", "Has the witness answer the question.", plan, collect, fails)
}

func (p *performer) performAnswer(ctx context.Context, job run.Job, payload AnswerPayload) (any, error) {
	q, err := run.ResultAt[AskReceipt](p.view, payload.Turns[len(payload.Turns)-1].Question)
	if err != nil {
		return nil, err
	}
	earlier, err := answeredPairs(p.view, payload.Turns)
	if err != nil {
		return nil, err
	}
	w, _, err := p.openWitness(ctx)
	if err != nil {
		return nil, err
	}
	reading := witness.WithReading(ctx, agent.TellReading(job))
	left := 0 // what had to be left out before is left out at once
	for _, c := range p.view.Receipts() {
		if before, is := c.Value.(AnswerReceipt); is {
			left = max(left, before.Left)
		}
	}
	a, err := w.Answer(reading, q.Text, p.given.Language, witnessExchanges(earlier[left:]))
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	opened, err := run.ResultAt[OpenReceipt](p.view, payload.Opened)
	if err != nil {
		return nil, err
	}
	r := AnswerReceipt{Text: a.Text, NotFound: a.NotFound, Further: a.Further, By: a.By, Notes: a.Notes,
		Passages: map[string]string{},
		Given:    a.Given, Tries: a.Tries, Usage: a.Usage, Sent: a.Sent,
		Model: a.Model, Compared: a.Compared, TimedOut: a.TimedOut, NotOwn: a.NotOwn, Left: left + a.Left}
	for _, c := range a.Citations {
		if !slices.ContainsFunc(opened.Documents, func(d record.Document) bool {
			return d.Name == c.Document && d.Hash == c.Hash
		}) {
			return nil, &bt.Fault{Kind: KindWitness, Reason: c.Document + " is not what it was when the inquiry began"}
		}
		r.Citations = append(r.Citations, c.Citation)
		if c.Passage != "" {
			r.Passages[c.ChunkHash] = c.Passage
		}
	}
	return r, nil
}

// witnessExchanges are the pairs without citations.
func witnessExchanges(all []AnsweredPair) (earlier []witness.Exchange) {
	for _, e := range all {
		earlier = append(earlier, e.Exchange)
	}
	return earlier
}
