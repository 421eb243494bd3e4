package wire

import (
	"crypto/rand"
	"fmt"
	"strings"

	"sibyl/internal/model"
)

// MaxAnswer bounds one answer, and one line of it, in bytes.
const MaxAnswer = 8 << 20

// MaxCalls bounds the tool calls of one answer.
const MaxCalls = 256

func (x *Exchange) tooLarge() *model.Error {
	return x.Fail(model.Garbled, "the answer is larger than 8 MB", nil)
}

// Keep counts n more bytes that are kept of the answer. It is Garbled if they are too many.
func (x *Exchange) Keep(n int) error {
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

// Complete gives a call that has come whole what the contract promises: an id that no other call of the answer has, and
// arguments. A call that names no tool is Garbled.
func (x *Exchange) Complete(call model.ToolCall) (model.ToolCall, error) {
	if call.Name == "" {
		return call, x.Fail(model.Garbled, "the answer calls a tool without naming it", nil)
	}
	if call.ID == "" || x.callIDs[call.ID] {
		call.ID = x.e.protocol.CallID + rand.Text()
	}
	if x.callIDs == nil {
		x.callIDs = map[string]bool{}
	}
	x.callIDs[call.ID] = true
	if strings.TrimSpace(call.Arguments) == "" {
		call.Arguments = "{}"
	}
	return call, nil
}

// Emit passes a piece of text on. It does nothing if there is no text or nobody to receive it.
func (x *Exchange) Emit(emit func(model.Delta) error, text string) error {
	if emit == nil || text == "" {
		return nil
	}
	if err := emit(model.Delta{Text: text}); err != nil {
		return x.Fail(model.Cancelled, "the receiver ended the answer: "+err.Error(), err)
	}
	return nil
}
