package openai

import (
	"encoding/json"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
)

// finishFilter is the finish reason of an answer that the provider's filter ended.
const finishFilter = string(sdk.FinishReasonContentFilter)

// turn is an answer that is coming in.
type turn struct {
	emit    func(model.Delta) error
	text    strings.Builder
	refusal strings.Builder
	calls   []*call
	usage   model.Usage
	finish  string // the protocol's own word; empty until it comes
	begun   bool   // a choice has come
	done    bool   // [DONE] has come, or the answer came whole
	part    part   // the event at hand
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

// closeCalls makes every call of a whole answer what the contract promises.
func (x *exchange) closeCalls(t *turn) error {
	for _, c := range t.calls {
		whole, err := x.Complete(c.soFar())
		if err != nil {
			return err
		}
		c.id = whole.ID
		c.arguments.Reset()
		c.arguments.WriteString(whole.Arguments)
	}
	return nil
}

// soFar is the call as the contract has it, with what has come of it.
func (c *call) soFar() model.ToolCall {
	return model.ToolCall{ID: c.id, Name: c.name, Arguments: c.arguments.String()}
}

// fill writes what has come in so far to resp.
func (t *turn) fill(resp *model.Response) {
	resp.Text = t.text.String()
	resp.Usage = t.usage
	for _, c := range t.calls {
		resp.ToolCalls = append(resp.ToolCalls, c.soFar())
	}
	if t.finish != "" || t.done {
		resp.Finish = t.finished()
	}
}

// finished is the finish in the contract's words. Some endpoints stop with "stop", or say nothing, after a tool call.
func (t *turn) finished() model.Finish {
	switch sdk.FinishReason(t.finish) {
	case sdk.FinishReasonStop, "":
		if len(t.calls) > 0 {
			return model.FinishTools
		}
		return model.FinishStop
	case sdk.FinishReasonToolCalls, sdk.FinishReasonFunctionCall:
		return model.FinishTools
	case sdk.FinishReasonLength:
		return model.FinishLength
	case sdk.FinishReasonContentFilter:
		return model.FinishFilter
	}
	return model.FinishOther
}
