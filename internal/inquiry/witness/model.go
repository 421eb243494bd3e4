package witness

import (
	"cmp"
	"context"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/text"
)

const (
	mostAnswer  = 4_000 // bytes of an answer
	mostEarlier = 24    // earlier exchanges in a request
)

// Purpose names a witness's requests to a model.
const Purpose = "inquiry.witness"

// modelWitness is a witness that is a model.
type modelWitness struct {
	model  model.Model
	prompt string
}

// Model is a witness that is a model, with prompt as its system prompt.
func Model(m model.Model, prompt string) Witness { return modelWitness{m, prompt} }

func (w modelWitness) Name() string { return w.model.ID() }

// Check asks for a word.
func (w modelWitness) Check(ctx context.Context) error {
	word := model.Message{Role: model.User, Text: "Answer with the word yes."}
	req := model.Request{Messages: []model.Message{word}, MaxOutputTokens: model.BoundWitness, Purpose: Purpose}
	_, err := w.model.Chat(ctx, req, nil)
	return err
}

// leftOut is how many of n earlier exchanges are not sent: so many at once that what was sent before then stays for the
// questions that follow.
func leftOut(n int) int {
	const step = mostEarlier / 2
	return (max(0, n-mostEarlier) + step - 1) / step * step
}

// Request is the request to a model as a witness. prompt is the system prompt; the earlier exchanges are turns.
func Request(prompt, question string, earlier []Exchange) model.Request {
	req := model.Request{System: prompt, MaxOutputTokens: model.BoundWitness, Purpose: Purpose}
	for _, e := range earlier[leftOut(len(earlier)):] {
		if strings.TrimSpace(e.Answer) == "" {
			continue // some providers refuse a turn without words
		}
		req.Messages = append(req.Messages,
			model.Message{Role: model.User, Text: e.Question}, model.Message{Role: model.Assistant, Text: e.Answer})
	}
	req.Messages = append(req.Messages, model.Message{Role: model.User, Text: question})
	return req
}

// Answer asks the model. What its window has no room for is left out, the oldest exchanges first.
func (w modelWitness) Answer(ctx context.Context, question, _ string, earlier []Exchange) (Answer, error) {
	req, left, cut := Request(w.prompt, question, earlier), 0, 0
	noting := &Noting{Model: model.CutOnce(w.model, len(req.Messages), func(tokens int) []model.Message {
		whole := req.Tokens()
		for cut < tokens && left < len(earlier) {
			left++
			req = Request(w.prompt, question, earlier[left:])
			cut = whole - req.Tokens()
		}
		if cut <= 0 {
			return nil
		}
		return req.Messages
	})}
	resp, err := noting.Chat(ctx, req, nil)
	if err != nil {
		return Answer{}, err
	}
	by := cmp.Or(resp.Model, w.model.ID())
	own, dropped := agent.OriginOf(agent.Request{Request: req}).Own(strings.TrimSpace(resp.Text))
	a := Answer{Text: clipAnswer(own), NotOwn: dropped, By: by, Usage: resp.Usage, Sent: req.Digest(),
		Tries: resp.Tries, TimedOut: noting.TimedOut}
	a.Sent.Cut, a.Left = cut, left
	if resp.Finish == model.FinishRepeated {
		a.Notes = append(a.Notes, stoppedRepeating.With(by))
	}
	return a, nil
}

// clipAnswer keeps the beginning of an answer that is too long, up to the end of a word.
func clipAnswer(answer string) string {
	kept := text.Clip(answer, mostAnswer)
	if kept == answer {
		return answer
	}
	if space := strings.LastIndexByte(kept, ' '); space > 0 {
		kept = kept[:space]
	}
	return strings.TrimSpace(kept) + " …"
}
