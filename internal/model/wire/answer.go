package wire

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/model"
)

// MaxAnswer bounds an answer that comes as a whole, and one line of a stream, in bytes.
const MaxAnswer = 8 << 20

// MaxReply bounds what is kept of one turn, in bytes: text, thinking and calls. It is more than twice what any model
// writes at once, and all that an endless one can add to a journal.
const MaxReply = 1 << 20

// MaxStream bounds the stream of one answer in bytes: some providers wrap each token into half a kilobyte.
const MaxStream = 128 << 20

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 256

// answerState is what has come of one.
type answerState struct {
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

	sent, received int // bytes of the last request, and of all that came back
}

// response is what has come so far.
func (x *Call) response() model.Response {
	resp := model.Response{
		Model: x.m.id, Text: x.text.String(), ToolCalls: x.Calls, Usage: x.plausibleUsage(x.Usage), Finish: x.finish(),
		Attempts: x.attempts,
	}
	if resp.Usage != x.Usage {
		reported := x.Usage
		resp.Reported = &reported
	}
	if x.Native != nil {
		resp.Native = &model.Native{Provider: x.m.config.Provider, Turn: x.Native}
	}
	return resp
}

// finish is why the model stopped, in the contract's words. Some endpoints stop as usual, or say nothing, after a call.
func (x *Call) finish() model.Finish {
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

// What the counts of a provider can be, in tokens.
const (
	maxTokens     = 100_000_000 // more than any answer takes or costs: whoever reports that has reported nothing
	unsentBytes   = 4 << 10     // a provider's own words around a request
	hiddenBytes   = 128 << 10   // what a model may have thought without showing it
	maxTokenBytes = 128         // of one token of an answer: a long row of blanks
)

// plausibleUsage is a usage as it can be, since budgets count with it: a token is at least a byte of what was sent and
// received, and at most a few. A count that is no count is nothing.
func (x *Call) plausibleUsage(u model.Usage) model.Usage {
	for _, n := range []int{u.InputTokens, u.OutputTokens, u.CachedTokens} {
		if n < 0 || n > maxTokens {
			return model.Usage{}
		}
	}
	if u == (model.Usage{}) {
		return u
	}
	u.InputTokens = min(u.InputTokens, x.sent+unsentBytes)
	u.CachedTokens = min(u.CachedTokens, u.InputTokens)
	u.OutputTokens = min(max(u.OutputTokens, x.size/maxTokenBytes), x.received+hiddenBytes)
	return u
}

func (x *Call) tooLargeError() *model.Error {
	return x.Fail(model.Garbled, "the answer is larger than 8 MB", nil)
}

// Text is the answer's text so far.
func (x *Call) Text() string { return x.text.String() }

// EmitText adds a piece to the text and passes it on.
func (x *Call) EmitText(text string) error {
	if err := x.CountBytes(len(text)); err != nil {
		return err
	}
	x.text.WriteString(text)
	if x.emit == nil || text == "" {
		return nil
	}
	if err := x.emit(model.Delta{Text: text}); err != nil {
		return x.Fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}

// CountBytes counts n more bytes of what the model writes: text, thinking or a part of a call. That is progress, and nothing
// else is. It is Garbled if they are too many.
func (x *Call) CountBytes(n int) error {
	if n > 0 {
		x.clock.noteProgress()
	}
	if x.size += n; x.size > MaxReply {
		return x.Fail(model.Garbled, "what the model writes is larger than 1 MB", nil)
	}
	return nil
}

// AddCall adds a call that has come whole. It gets what the contract promises: an id that no other call of the answer
// has, and arguments. One that names no tool is Garbled.
func (x *Call) AddCall(call model.ToolCall) error {
	switch {
	case len(x.Calls) == MaxCalls:
		return x.TooManyCallsError()
	case call.Name == "":
		return x.Fail(model.Garbled, "the answer calls a tool without naming it", nil)
	}
	if call.ID == "" || x.callIDs[call.ID] {
		call.ID = x.m.protocol.CallIDPrefix + rand.Text()
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

// TooManyCallsError is the error for an answer with more than MaxCalls calls.
func (x *Call) TooManyCallsError() *model.Error {
	return x.Fail(model.Garbled, fmt.Sprintf("the answer calls more than %d tools", MaxCalls), nil)
}
