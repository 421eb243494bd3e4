package anthropic

import (
	"encoding/json"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 1024

// turn is an answer that is coming in.
type turn struct {
	emit        func(model.Delta) error
	text        strings.Builder
	blocks      []*block
	usage       usage
	finish      string // the protocol's own word; empty until it comes
	explanation string // why the provider refused, where it says so
	begun       bool   // message_start has come
	done        bool   // message_stop has come
	event       event  // the event at hand
}

// The types of blocks that an answer is made of. The content of any other is passed over.
const (
	kindText     = "text"
	kindThinking = "thinking"
	kindRedacted = "redacted_thinking"
	kindToolUse  = "tool_use"
)

// block is a part of an answer that is coming in.
type block struct {
	index     int
	kind      string
	text      strings.Builder // of a text or of thinking
	signature strings.Builder // of thinking
	data      string          // of redacted thinking
	id        string          // of a tool's use, as name and arguments
	name      string
	arguments strings.Builder
	input     json.RawMessage // the arguments of a call that came whole
}

// thought says whether b is thinking that can be sent back: a signature is what the provider checks it with.
func (b *block) thought() bool {
	return b.kind == kindRedacted || (b.kind == kindThinking && b.signature.Len() > 0)
}

// call is the tool's use as the contract has it, its arguments so far.
func (b *block) call() model.ToolCall {
	arguments := b.arguments.String()
	if arguments == "" && wire.Given(b.input) {
		arguments = string(b.input)
	}
	return model.ToolCall{ID: b.id, Name: b.name, Arguments: arguments}
}

// at returns the block that is called index, or nil.
func (t *turn) at(index int) *block {
	for i := len(t.blocks) - 1; i >= 0; i-- {
		if t.blocks[i].index == index {
			return t.blocks[i]
		}
	}
	return nil
}

// closeCalls makes every call of a whole answer what the contract promises.
func (x *exchange) closeCalls(t *turn) error {
	for _, b := range t.blocks {
		if b.kind != kindToolUse {
			continue
		}
		whole, err := x.Complete(b.call())
		if err != nil {
			return err
		}
		b.id = whole.ID
		b.arguments.Reset()
		b.arguments.WriteString(whole.Arguments)
	}
	return nil
}

// fill writes what has come in so far to resp.
func (t *turn) fill(resp *model.Response) {
	resp.Text = t.text.String()
	resp.Usage = t.usage.counted()
	for _, b := range t.blocks {
		if b.kind == kindToolUse {
			resp.ToolCalls = append(resp.ToolCalls, b.call())
		}
	}
	if t.finish != "" || t.done {
		resp.Finish = finished(t.finish, len(resp.ToolCalls) > 0)
	}
}

// finished is the finish in the contract's words. Some endpoints say end_turn, or nothing, after a call.
func finished(word string, called bool) model.Finish {
	switch sdk.StopReason(word) {
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence, "":
		if called {
			return model.FinishTools
		}
		return model.FinishStop
	case sdk.StopReasonToolUse:
		return model.FinishTools
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return model.FinishLength
	case sdk.StopReasonRefusal:
		return model.FinishFilter
	}
	return model.FinishOther
}

// usage counts tokens as the protocol does: those of the input that were read from the cache, or written to it, are not
// among InputTokens.
type usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
}

// update takes the later of two counts. All of them only grow, and some events leave out what does not change.
func (u *usage) update(later usage) {
	u.InputTokens = max(u.InputTokens, later.InputTokens)
	u.OutputTokens = max(u.OutputTokens, later.OutputTokens)
	u.CacheRead = max(u.CacheRead, later.CacheRead)
	u.CacheWritten = max(u.CacheWritten, later.CacheWritten)
}

// counted is the usage as the contract counts: the whole input, and how much of it came from the cache.
func (u usage) counted() model.Usage {
	return model.Usage{
		InputTokens:  u.InputTokens + u.CacheRead + u.CacheWritten,
		OutputTokens: u.OutputTokens,
		CachedTokens: u.CacheRead,
	}
}
