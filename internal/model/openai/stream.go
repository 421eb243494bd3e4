package openai

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"

	fastjson "github.com/segmentio/encoding/json"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// part is what is read of one event: a chunk of a stream, a whole answer (Message in the place of Delta) or an error.
type part struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// choice is one of several answers to a request. Only the first, number 0, is asked for.
type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

// reset makes p ready for the next event and keeps its memory. The decoder does not clear what it reuses.
func (p *part) reset() {
	choices := p.Choices[:cap(p.Choices)]
	clear(choices)
	*p = part{Choices: choices[:0]}
}

type delta struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// arguments is a JSON string's value, or other JSON as it stands: some endpoints send the object itself.
type arguments string

func (a *arguments) UnmarshalJSON(raw []byte) error {
	*a = arguments(wire.Plain(raw))
	return nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// read takes the whole answer into t.
func (x *exchange) read(resp *http.Response, t *turn) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		body, err := x.Body(resp)
		if err != nil {
			return err
		}
		if err := x.take(body, t); err != nil {
			return err
		}
		return x.conclude(t)
	case "text/html":
		return x.WebPage()
	}
	return x.readStream(resp.Body, t)
}

func (x *exchange) readStream(body io.Reader, t *turn) error {
	events := x.Events(body)
	for events.Next() {
		data, ok := events.DataOrBare()
		switch {
		case !ok:
			continue
		case string(data) == "[DONE]":
			t.done = true
			x.Drain(body)
			return x.conclude(t)
		}
		if err := x.take(data, t); err != nil {
			if events.Cut(err) {
				break
			}
			return err
		}
	}
	switch {
	case t.finish != "" && !x.Withdrawn():
		// Only usage and [DONE] can be missing.
		return x.conclude(t)
	case !t.begun && events.Foreign():
		return x.Fail(model.Garbled, "the answer is not an event stream"+x.BaseHint(), nil)
	}
	return events.Failure()
}

// decode reads an event. The fast decoder takes half the CPU of encoding/json, but it follows nesting to any depth, and
// a large event could exhaust the stack with it.
func decode(event []byte, p *part) error {
	if len(event) <= maxFast {
		return fastjson.Unmarshal(event, p)
	}
	return json.Unmarshal(event, p)
}

// maxFast is more than any usual event, and less than could nest too deep.
const maxFast = 64 << 10

// take reads one event into t.
func (x *exchange) take(data []byte, t *turn) error {
	p := &t.part
	p.reset()
	if err := decode(data, p); err != nil {
		return x.BadEvent(err)
	}
	if wire.Given(p.Error) {
		return x.Inside(x.complaint(http.StatusOK, data))
	}
	if p.Usage != nil {
		t.usage = model.Usage{
			InputTokens: p.Usage.PromptTokens, OutputTokens: p.Usage.CompletionTokens,
			CachedTokens: p.Usage.Details.CachedTokens,
		}
	}
	for i := range p.Choices {
		if p.Choices[i].Index == 0 {
			return x.choose(&p.Choices[i], t)
		}
	}
	return nil
}

func (x *exchange) choose(c *choice, t *turn) error {
	t.begun = true
	if c.FinishReason != "" {
		t.finish = c.FinishReason
	}
	if c.Message != nil {
		t.done = true
		return x.apply(c.Message, t)
	}
	return x.apply(&c.Delta, t)
}

// apply adds d to t and passes its text on.
func (x *exchange) apply(d *delta, t *turn) error {
	size := len(d.Content) + len(d.Refusal)
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		size += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
		t.addCall(c)
	}
	if err := x.Keep(size); err != nil {
		return err
	}
	if err := x.KeepCalls(len(t.calls)); err != nil {
		return err
	}
	t.refusal.WriteString(d.Refusal)
	t.text.WriteString(d.Content)
	return x.Emit(t.emit, d.Content)
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	switch {
	case t.refusal.Len() > 0:
		t.finish = finishFilter
		return x.Fail(model.Refused, t.refusal.String(), nil)
	case t.finish == finishFilter && t.text.Len() == 0 && len(t.calls) == 0:
		return x.Fail(model.Refused, "the provider's content filter left nothing of the answer", nil)
	case !t.begun:
		return x.Fail(model.Garbled, "the answer holds no choice", nil)
	}
	return x.closeCalls(t)
}
