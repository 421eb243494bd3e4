package wire

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/model"
)

// MaxAnswer bounds what is kept of one answer, and one line of it, in bytes.
const MaxAnswer = 8 << 20

// MaxStream bounds the stream of one answer in bytes. It may have wrapping more for each byte that is kept of the answer: some
// providers wrap each token of a long one into half a kilobyte.
const (
	MaxStream = 64 << 20
	wrapping  = 64
)

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 256

// answer is what has come of one.
type answer struct {
	Calls   []model.ToolCall
	Usage   model.Usage
	Finish  string          // the protocol's own word for why the model stopped; empty until it comes
	Refusal string          // the provider's words, should the answer turn out to be refused
	Native  json.RawMessage // the turn in the provider's own form, if it has to go back in it
	Begun   bool            // a part of the protocol has come
	Done    bool            // the protocol's end has come

	emit    func(model.Delta) error
	text    strings.Builder
	size    int             // bytes kept of the answer
	callIDs map[string]bool // of its complete calls
}

// response is what has come so far.
func (x *Exchange) response() model.Response {
	resp := model.Response{
		Model: x.m.id, Text: x.text.String(), ToolCalls: x.Calls, Usage: believed(x.Usage), Finish: x.finish(), Attempts: x.attempts,
	}
	if x.Native != nil {
		resp.Native = &model.Native{Provider: x.m.config.Provider, Turn: x.Native}
	}
	return resp
}

// finish is why the model stopped, in the contract's words. Some endpoints stop as usual, or say nothing, after a call.
func (x *Exchange) finish() model.Finish {
	finish, known := x.m.protocol.Finishes[x.Finish]
	switch {
	case x.Finish == "" && !x.Done:
		return ""
	case x.Finish == "":
		finish = model.FinishStop
	case !known:
		finish = model.FinishOther
	}
	if finish == model.FinishStop && len(x.Calls) > 0 {
		return model.FinishTools
	}
	return finish
}

// maxTokens is more than any answer takes or costs.
const maxTokens = 100_000_000

// believed is u, or nothing where it can't be true: budgets count with it.
func believed(u model.Usage) model.Usage {
	for _, n := range []int{u.InputTokens, u.OutputTokens, u.CachedTokens} {
		if n < 0 || n > maxTokens {
			return model.Usage{}
		}
	}
	return u
}

func (x *Exchange) tooLarge() *model.Error {
	return x.Fail(model.Garbled, "the answer is larger than 8 MB", nil)
}

// Text is the answer's text so far.
func (x *Exchange) Text() string { return x.text.String() }

// Say adds a piece to the text and passes it on.
func (x *Exchange) Say(text []byte) error {
	if err := x.Keep(len(text)); err != nil {
		return err
	}
	from := x.text.Len()
	x.text.Write(text)
	if x.emit == nil || len(text) == 0 {
		return nil
	}
	if err := x.emit(model.Delta{Text: x.text.String()[from:]}); err != nil {
		return x.Fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// Keep counts n more bytes of what the model writes: text, thinking or a part of a call. That is progress, and nothing else is. It
// is Garbled if they are too many.
func (x *Exchange) Keep(n int) error {
	if n > 0 {
		x.clock.progress()
	}
	if x.size += n; x.size > MaxAnswer {
		return x.tooLarge()
	}
	return nil
}

// KeepCalls is Garbled if n calls are too many for one answer.
func (x *Exchange) KeepCalls(n int) error {
	if n > MaxCalls {
		return x.Fail(model.Garbled, fmt.Sprintf("the answer calls more than %d tools", MaxCalls), nil)
	}
	return nil
}

// AddCall adds a call that has come whole. It gets what the contract promises: an id that no other call of the answer has, and
// arguments. One that names no tool is Garbled.
func (x *Exchange) AddCall(call model.ToolCall) error {
	if err := x.KeepCalls(len(x.Calls) + 1); err != nil {
		return err
	}
	if call.Name == "" {
		return x.Fail(model.Garbled, "the answer calls a tool without naming it", nil)
	}
	if call.ID == "" || x.callIDs[call.ID] {
		call.ID = x.m.protocol.CallID + rand.Text()
	}
	if x.callIDs == nil {
		x.callIDs = map[string]bool{}
	}
	x.callIDs[call.ID] = true
	if strings.TrimSpace(call.Arguments) == "" {
		call.Arguments = "{}"
	}
	x.Calls = append(x.Calls, call)
	return nil
}

// CloseCalls is AddCall for all calls of a whole answer that came in parts.
func (x *Exchange) CloseCalls() error {
	calls := x.Calls
	x.Calls = nil
	for _, call := range calls {
		if err := x.AddCall(call); err != nil {
			x.Calls = calls
			return err
		}
	}
	return nil
}
