package openai

import (
	"encoding/json"
	"net/http"
	"strings"

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

type delta struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`

	ReasoningContent arguments `json:"reasoning_content"`
	Reasoning        arguments `json:"reasoning"`
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

// turn is an answer that is coming in.
type turn struct {
	*wire.Exchange
	refusal strings.Builder
	calls   []*call
	buffer  []byte // the text of a chunk
}

// read takes the whole answer into x, its calls also where it breaks off.
func read(x *wire.Exchange, answer *http.Response) error {
	t := &turn{Exchange: x}
	err := t.readParts(answer)
	for _, c := range t.calls {
		x.Calls = append(x.Calls, model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	switch {
	case err != nil:
		return err
	case t.refusal.Len() > 0:
		x.Finish = filtered
		return x.Fail(model.Refused, t.refusal.String(), nil)
	case !x.Begun:
		return x.Fail(model.Garbled, "the answer holds no choice", nil)
	}
	return x.CloseCalls()
}

func (t *turn) readParts(answer *http.Response) error {
	if !wire.IsJSON(answer) {
		return t.ReadEvents(answer.Body, true, t.take)
	}
	body, err := t.Body(answer)
	if err != nil {
		return err
	}
	t.Done = true
	return t.take(body)
}

// take reads one event.
func (t *turn) take(data []byte) error {
	if string(data) == "[DONE]" {
		t.Done = true
		return nil
	}
	if text, ok := chunkText(t.buffer[:0], data); ok {
		t.Begun = true
		t.buffer = text
		return t.Say(text)
	}
	var p part
	if err := json.Unmarshal(data, &p); err != nil {
		return t.BadEvent(err)
	}
	if wire.Given(p.Error) {
		return t.Inside(data)
	}
	if p.Usage != nil {
		t.Usage = model.Usage{
			InputTokens: p.Usage.PromptTokens, OutputTokens: p.Usage.CompletionTokens,
			CachedTokens: p.Usage.Details.CachedTokens,
		}
	}
	for i := range p.Choices {
		if p.Choices[i].Index == 0 {
			return t.choose(&p.Choices[i])
		}
	}
	return nil
}

func (t *turn) choose(c *choice) error {
	t.Begun = true
	if c.FinishReason != "" {
		t.Finish = c.FinishReason
	}
	if c.Message != nil {
		return t.apply(c.Message)
	}
	return t.apply(&c.Delta)
}

// apply adds d to the answer.
func (t *turn) apply(d *delta) error {
	size := len(d.Refusal) + len(d.ReasoningContent) + len(d.Reasoning)
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		size += len(c.ID) + len(c.Function.Name) + len(c.Function.Arguments)
		t.addCall(c)
	}
	if err := t.Keep(size); err != nil {
		return err
	}
	if err := t.KeepCalls(len(t.calls)); err != nil {
		return err
	}
	t.refusal.WriteString(d.Refusal)
	return t.Say([]byte(d.Content))
}

// call is a tool call that is coming in. Its index is -1 where the endpoint gives none.
type call struct {
	index     int
	id        string
	name      string
	arguments strings.Builder
}

// addCall adds a part to the call that it belongs to, or begins another.
func (t *turn) addCall(p *callPart) {
	c := t.callFor(p)
	if c == nil {
		c = &call{index: -1}
		if p.Index != nil {
			c.index = *p.Index
		}
		t.calls = append(t.calls, c)
	}
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Function.Name
	}
	c.arguments.WriteString(string(p.Function.Arguments))
}

// callFor returns the call that p goes on with, or nil where p begins one. The index decides, unless p has all that
// begins a call and the call under its index is another: some endpoints count every call as number 0. Without an index
// the id decides, and a part without either goes on with the last call unless it names a tool.
func (t *turn) callFor(p *callPart) *call {
	for i := len(t.calls) - 1; i >= 0; i-- {
		c := t.calls[i]
		switch {
		case p.Index != nil && c.index == *p.Index:
			if p.Function.Name != "" && c.isOtherThan(p) {
				return nil
			}
			return c
		case p.Index != nil:
		case p.ID != "" && c.id == p.ID:
			return c
		case p.ID == "" && p.Function.Name == "":
			return c
		}
	}
	return nil
}

func (c *call) isOtherThan(p *callPart) bool {
	if p.ID != "" && c.id != "" {
		return p.ID != c.id
	}
	return json.Valid([]byte(c.arguments.String()))
}
