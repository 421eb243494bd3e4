package openai

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// chunk is one event: a chunk of a stream, a whole answer (with Message instead of Delta) or an error.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`

	// Progress is how much of the request llama.cpp has read, if it was asked for that.
	Progress *struct {
		Total     int `json:"total"`
		Cached    int `json:"cache"`
		Processed int `json:"processed"` // with those that were cached
	} `json:"prompt_progress"`
}

// choice is one of several answers to a request. Only the first, number 0, is asked for.
type choice struct {
	Index        int    `json:"index"`
	Delta        delta  `json:"delta"`
	Message      *delta `json:"message"`
	FinishReason string `json:"finish_reason"`
}

type delta struct {
	Content   content    `json:"content"`
	Refusal   wire.Text  `json:"refusal"`
	ToolCalls []callPart `json:"tool_calls"`

	ReasoningContent loose       `json:"reasoning_content"`
	Reasoning        loose       `json:"reasoning"`
	ReasoningDetails detailParts `json:"reasoning_details"`
}

// content is a JSON string's value, or the text in a list of parts, which Mistral's thinking models send.
type content string

func (c *content) UnmarshalJSON(raw []byte) error {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	switch raw[0] {
	case '{':
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	case '[':
	default:
		return json.Unmarshal(raw, (*string)(c))
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, part := range parts {
		if part.Type == "text" {
			*c += content(part.Text)
		}
	}
	return nil
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      wire.Text `json:"name"`
		Arguments loose     `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// loose is a JSON string's value, or any other JSON unchanged: some endpoints send an object.
type loose string

func (l *loose) UnmarshalJSON(raw []byte) error {
	*l = loose(wire.PlainText(raw))
	return nil
}

type usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Details          struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// incoming is an answer of either API while it comes in.
type incoming struct {
	*wire.Call
	refusal strings.Builder
}

// readAnswer passes each event of a stream to handle, or an answer that is no stream to whole.
func (i *incoming) readAnswer(answer *http.Response, finishEnds bool, handle, whole func([]byte) error) (err error) {
	if wire.IsJSON(answer) {
		var body []byte
		if body, err = i.ReadBody(answer); err == nil {
			i.Done = true
			err = whole(body)
		}
	} else {
		err = i.ReadEvents(answer.Body, finishEnds, handle)
	}
	switch {
	case err != nil:
		return err
	case i.refusal.Len() > 0:
		i.Finish = filtered
		return i.Fail(model.Refused, i.refusal.String(), nil)
	case !i.Begun:
		return i.NoAnswerError("the answer holds no choice and no output" + i.BaseHint())
	}
	return nil
}

// turn is an answer of chat completions while it comes in.
type turn struct {
	incoming
	reasoning    reasoningBuffer
	partialCalls []*partialCall
}

// readChat reads the whole answer into x.
func (p *protocol) readChat(x *wire.Call, answer *http.Response) error {
	t := &turn{incoming: incoming{Call: x}}
	err := t.readAnswer(answer, true, t.applyChunk, t.applyChunk)
	for i := 0; i < len(t.partialCalls) && err == nil; i++ {
		c := t.partialCalls[i]
		err = x.AddCall(model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()})
	}
	if err != nil {
		return err
	}
	return t.keepNative(p.config.Model)
}

// applyChunk applies one event to the answer.
func (t *turn) applyChunk(data []byte) error {
	if string(data) == "[DONE]" {
		t.Done = true
		return nil
	}
	var p chunk
	if err := t.Decode(data, &p); err != nil {
		return t.BadEventError(data, err)
	}
	if len(p.Choices) == 0 {
		if err := t.Complaint(data); err != nil {
			return err
		}
	} else if wire.IsSet(p.Error) {
		return t.StreamError(data)
	}
	if p.Usage != nil {
		t.Usage = model.Usage{
			InputTokens: p.Usage.PromptTokens, OutputTokens: p.Usage.CompletionTokens,
			CachedTokens: p.Usage.Details.CachedTokens,
		}
	}
	if read := p.Progress; read != nil {
		if err := t.NoteReading(read.Total-read.Cached, read.Processed-read.Cached); err != nil {
			return err
		}
	}
	for i := range p.Choices {
		c := &p.Choices[i]
		if c.Index != 0 {
			continue
		}
		t.Begun = true
		t.Finish = cmp.Or(c.FinishReason, t.Finish)
		return t.applyDelta(cmp.Or(c.Message, &c.Delta))
	}
	return nil
}

// applyDelta adds text, reasoning and calls of d to the answer.
func (t *turn) applyDelta(d *delta) error {
	size := len(d.Refusal)
	if d.ReasoningContent != "" { // some endpoints send it under both names
		size += len(d.Reasoning)
	}
	if err := t.CountThinking(string(cmp.Or(d.ReasoningContent, d.Reasoning))); err != nil {
		return err
	}
	for i := range d.ToolCalls {
		c := &d.ToolCalls[i]
		size += len(c.ID) + len(c.Extra)
		if err := t.CountCall(string(c.Function.Name) + string(c.Function.Arguments)); err != nil {
			return err
		}
		t.addCallPart(c)
	}
	for _, part := range d.ReasoningDetails {
		size += t.reasoning.addPart(part)
	}
	if err := t.CountBytes(size); err != nil {
		return err
	}
	if len(t.partialCalls) > wire.MaxCalls {
		return t.TooManyCallsError()
	}
	t.refusal.WriteString(string(d.Refusal))
	t.reasoning.reasoningContent.WriteString(string(d.ReasoningContent))
	t.reasoning.reasoningText.WriteString(string(d.Reasoning))
	return t.EmitText(string(d.Content))
}

// partialCall is a tool call that may not be complete yet. Its index is -1 if the endpoint gives none.
type partialCall struct {
	index     int
	id        string
	name      string
	arguments strings.Builder
	extra     json.RawMessage
}

// addCallPart adds a part to the call that it belongs to, or begins a call. An empty part is none.
func (t *turn) addCallPart(p *callPart) {
	if p.ID == "" && p.Function.Name == "" && p.Function.Arguments == "" && !wire.IsSet(p.Extra) {
		return
	}
	c := t.callFor(p)
	if c == nil {
		c = &partialCall{index: -1}
		if p.Index != nil {
			c.index = *p.Index
		}
		t.partialCalls = append(t.partialCalls, c)
	}
	c.id, c.name = cmp.Or(c.id, p.ID), cmp.Or(c.name, string(p.Function.Name))
	c.arguments.WriteString(string(p.Function.Arguments))
	if wire.IsSet(p.Extra) {
		c.extra = p.Extra
	}
}

// callFor returns the call that p belongs to, or nil if p begins one. The index decides, unless p names a tool and the
// call with its index is a different one: some endpoints number every call 0, and maybe count on with its arguments.
// Without an index the id decides. A part without either belongs to the last call, unless both have an id or name a
// tool.
func (t *turn) callFor(p *callPart) *partialCall {
	if last := len(t.partialCalls) - 1; p.Index != nil && p.ID == "" && p.Function.Name == "" && last == *p.Index &&
		t.partialCalls[last].index != last {
		return t.partialCalls[last]
	}
	for _, c := range slices.Backward(t.partialCalls) {
		switch {
		case p.Index != nil && c.index == *p.Index:
			if p.Function.Name != "" && c.isOtherThan(p) {
				return nil
			}
			return c
		case p.Index != nil:
		case p.ID != "" && c.id == p.ID:
			return c
		case (p.ID == "" || c.id == "") && (p.Function.Name == "" || c.name == ""):
			return c
		}
	}
	return nil
}

func (c *partialCall) isOtherThan(p *callPart) bool {
	if p.ID != "" && c.id != "" {
		return p.ID != c.id
	}
	return c.name != "" && json.Valid([]byte(c.arguments.String()))
}

// CarriesText implements wire.Carrier.
func (choice) CarriesText() {}

// CarriesText implements wire.Carrier.
func (delta) CarriesText() {}

// CarriesText implements wire.Carrier.
func (callPart) CarriesText() {}
