package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// turn is an answer that is coming in.
type turn struct {
	emit  func(model.Delta) error
	text  strings.Builder
	calls []model.ToolCall
	parts [][]byte // as they came, but for those that say nothing
	usage model.Usage

	finish, finishMessage   string // the provider's own words; empty until they come
	blocked, blockedBecause string // why the prompt was blocked, if it was

	begun   bool // an event of the protocol has come
	strange bool // an event of another protocol has come
}

// part is what is read of one part of an answer. Others, such as code that the provider ran, are only kept.
type part struct {
	Text         string        `json:"text"`
	Thought      bool          `json:"thought"`
	FunctionCall *functionCall `json:"functionCall"`
}

// over says whether the provider has ended the answer.
func (t *turn) over() bool { return t.finish != "" || t.blocked != "" }

// add takes one part in and passes its text on.
func (x *exchange) add(raw json.RawMessage, t *turn) error {
	if err := x.Keep(len(raw)); err != nil {
		return err
	}
	var p part
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &p); err != nil {
		return x.Fail(model.Garbled, "a part of the answer is not what the protocol promises: "+err.Error(), err)
	}
	_ = json.Unmarshal(raw, &fields) // it has just been read as an object, or is null
	delete(fields, "text")
	if p.Text == "" && len(fields) == 0 {
		return nil // the API ends a stream so, and would reject it if it were sent back
	}
	t.parts = append(t.parts, raw)
	if p.FunctionCall != nil {
		if err := x.addCall(*p.FunctionCall, t); err != nil {
			return err
		}
	}
	if p.Thought {
		return nil
	}
	t.text.WriteString(p.Text)
	return x.Emit(t.emit, p.Text)
}

func (x *exchange) addCall(f functionCall, t *turn) error {
	if err := x.KeepCalls(len(t.calls) + 1); err != nil {
		return err
	}
	call, err := x.Complete(model.ToolCall{ID: f.ID, Name: f.Name, Arguments: f.arguments()})
	if err != nil {
		return err
	}
	t.calls = append(t.calls, call)
	return nil
}

// arguments is a call's arguments without the provider's spacing. A tool without arguments is called without args.
func (f functionCall) arguments() string {
	var text bytes.Buffer
	if !wire.Given(f.Args) || json.Compact(&text, f.Args) != nil {
		return "{}"
	}
	return text.String()
}

// conclude says whether an answer that came to its end is one.
func (x *exchange) conclude(t *turn) error {
	switch {
	case t.finish == "":
		return x.Fail(model.Refused, because("the provider blocked the prompt", t.blocked, t.blockedBecause), nil)
	case t.finish == "MALFORMED_FUNCTION_CALL", t.finish == "UNEXPECTED_TOOL_CALL":
		unread := because("the model called a tool in a way that the provider could not read", t.finish, t.finishMessage)
		return x.Fail(model.Server, unread, nil)
	case t.finished() == model.FinishFilter && t.text.Len() == 0 && len(t.calls) == 0:
		return x.Fail(model.Refused, because("the provider's filter left nothing of the answer", t.finish, t.finishMessage), nil)
	}
	return nil
}

func because(what, reason, message string) string {
	what += ": " + reason
	if message != "" {
		what += " (" + message + ")"
	}
	return what
}

// fill writes what has come in so far to resp.
func (t *turn) fill(resp *model.Response) {
	resp.Text = t.text.String()
	resp.ToolCalls = t.calls
	resp.Usage = t.usage
	if t.over() {
		resp.Finish = t.finished()
	}
}

// native is the turn as the provider gave it; nil if it gave none.
func (t *turn) native(provider string) *model.Native {
	if len(t.parts) == 0 {
		return nil
	}
	list := bytes.Join(t.parts, []byte(","))
	return &model.Native{Provider: provider, Turn: slices.Concat([]byte(`{"role":"model","parts":[`), list, []byte(`]}`))}
}

// finished is the finish in the contract's words. The provider has no word of its own for tool calls.
func (t *turn) finished() model.Finish {
	switch t.finish {
	case "STOP":
		if len(t.calls) > 0 {
			return model.FinishTools
		}
		return model.FinishStop
	case "MAX_TOKENS":
		return model.FinishLength
	case "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
		"": // the prompt was blocked
		return model.FinishFilter
	}
	return model.FinishOther
}
