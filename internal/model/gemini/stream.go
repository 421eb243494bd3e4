package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// event is one event of the stream: a GenerateContentResponse or an error.
type event struct {
	Candidates     []candidate     `json:"candidates"`
	PromptFeedback *promptFeedback `json:"promptFeedback"`
	Usage          *usage          `json:"usageMetadata"`
	Error          json.RawMessage `json:"error"`
}

// candidate is one of several answers to a request. Only the first, number 0, is asked for.
type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []json.RawMessage `json:"parts"`
	} `json:"content"`
	FinishReason  string `json:"finishReason"`
	FinishMessage string `json:"finishMessage"`
}

type promptFeedback struct {
	BlockReason        string `json:"blockReason"`
	BlockReasonMessage string `json:"blockReasonMessage"`
}

// usage grows during a stream. The prompt's count includes what was cached.
type usage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolPrompt int `json:"toolUsePromptTokenCount"`
	Cached     int `json:"cachedContentTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
}

// promptBlocked is our finish reason for a blocked prompt: the provider has none.
const promptBlocked = "PROMPT_BLOCKED"

// turn is an answer while it comes in.
type turn struct {
	*wire.Call
	parts        [][]byte // as they came, without empty ones
	finishReason string   // why the answer ended, with the provider's explanation
	foreignEvent bool     // an event of another protocol has come
}

// part holds what is read of one part of an answer. Parts of other kinds, such as code that the provider ran, are only
// kept.
type part struct {
	Text         wire.Text     `json:"text"`
	Thought      bool          `json:"thought"`
	FunctionCall *functionCall `json:"functionCall"`
}

// readTurn reads the event stream to its end into x.
func readTurn(x *wire.Call, answer *http.Response) error {
	t := &turn{Call: x}
	err := x.ReadEvents(answer.Body, true, t.applyEvent)
	switch {
	case err != nil && t.foreignEvent && !x.Begun && model.KindOf(err) == model.Server:
		return x.NoAnswerError("the answer is not a stream of the Gemini API" + x.BaseHint())
	case err != nil:
		return err
	}
	return t.finishAnswer()
}

// applyEvent applies one event to the answer.
func (t *turn) applyEvent(data []byte) error {
	var e event
	if err := t.Decode(data, &e); err != nil {
		return t.BadEventError(data, err)
	}
	if wire.IsSet(e.Error) {
		return t.StreamError(data)
	}
	if e.Candidates == nil && e.PromptFeedback == nil && e.Usage == nil {
		t.foreignEvent = true
		return t.Complaint(data)
	}
	t.Begun = true
	if e.Usage != nil {
		t.Usage = model.Usage{
			InputTokens:  e.Usage.Prompt + e.Usage.ToolPrompt,
			OutputTokens: e.Usage.Candidates + e.Usage.Thoughts,
			CachedTokens: e.Usage.Cached,
		}
	}
	if f := e.PromptFeedback; f != nil && f.BlockReason != "" {
		t.Finish, t.finishReason = promptBlocked, reasonText(f.BlockReason, f.BlockReasonMessage)
	}
	for i := range e.Candidates {
		if e.Candidates[i].Index == 0 {
			return t.applyCandidate(&e.Candidates[i])
		}
	}
	return nil
}

func (t *turn) applyCandidate(c *candidate) error {
	if c.FinishReason != "" {
		t.Finish, t.finishReason = c.FinishReason, reasonText(c.FinishReason, c.FinishMessage)
	}
	for _, raw := range c.Content.Parts {
		if err := t.addPart(raw); err != nil {
			return err
		}
	}
	return nil
}

// addPart keeps one part, and emits its text or adds its call.
func (t *turn) addPart(raw json.RawMessage) error {
	var p part
	var fields map[string]json.RawMessage
	if err := t.Decode(raw, &p); err != nil {
		return t.Fail(model.Garbled, "a part of the answer is not what the protocol promises: "+err.Error(), err)
	}
	_ = json.Unmarshal(raw, &fields) // it has just been read as an object, or is null
	delete(fields, "text")
	delete(fields, "thought")
	if p.Text == "" && len(fields) == 0 {
		return nil // some streams end with one; the API would reject it if it were sent back
	}
	if err := t.CountBytes(len(raw) - len(p.Text)); err != nil { // its text is counted below
		return err
	}
	t.parts = append(t.parts, raw)
	if f := p.FunctionCall; f != nil {
		if err := t.CountCall(f.Name + f.arguments()); err != nil {
			return err
		}
		if err := t.AddCall(model.ToolCall{ID: f.ID, Name: f.Name, Arguments: f.arguments()}); err != nil {
			return err
		}
	}
	if p.Thought {
		return t.CountThinking(string(p.Text))
	}
	return t.EmitText(string(p.Text))
}

// arguments returns a call's arguments without the provider's spacing; {} if there are none.
func (f functionCall) arguments() string {
	var text bytes.Buffer
	if !wire.IsSet(f.Args) || json.Compact(&text, f.Args) != nil {
		return "{}"
	}
	return text.String()
}

// finishAnswer refuses an answer that ended without a turn, and keeps a valid one in Native.
func (t *turn) finishAnswer() error {
	switch t.Finish {
	case promptBlocked:
		return t.Fail(model.Refused, "the provider blocked the prompt: "+t.finishReason, nil)
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE":
		return t.Fail(model.Garbled, "the model called a tool in a way that the provider could not read: "+
			t.finishReason, nil)
	case "TOO_MANY_TOOL_CALLS":
		if t.Text() == "" && len(t.Calls) == 0 {
			return t.Fail(model.Garbled, "the provider ended the answer for its many calls: "+t.finishReason, nil)
		}
	}
	t.Refusal = "the provider's filter left nothing of the answer: " + t.finishReason
	if len(t.parts) > 0 {
		t.Native = slices.Concat([]byte(`{"role":"model","parts":[`), bytes.Join(t.parts, []byte(",")), []byte(`]}`))
	}
	return nil
}

func reasonText(reason, message string) string {
	if message != "" {
		reason += " (" + message + ")"
	}
	return reason
}

// CarriesText implements wire.Carrier.
func (candidate) CarriesText() {}

// CarriesText implements wire.Carrier.
func (part) CarriesText() {}
