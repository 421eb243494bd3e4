package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 1024

// turn is an answer that is coming in.
type turn struct {
	*wire.Exchange
	protocol
	blocks []*block
	usage  usage
	event  event // the event at hand
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

// usage counts tokens as the protocol does: those of the input that were read from the cache, or written to it, are not
// among InputTokens. All counts only grow, and some events leave out what does not change.
type usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
}

// count takes the later of two counts, and passes on what the contract counts: the whole input, and how much of it came from
// the cache.
func (t *turn) count(later usage) {
	u := &t.usage
	u.InputTokens = max(u.InputTokens, later.InputTokens)
	u.OutputTokens = max(u.OutputTokens, later.OutputTokens)
	u.CacheRead = max(u.CacheRead, later.CacheRead)
	u.CacheWritten = max(u.CacheWritten, later.CacheWritten)
	t.Usage = model.Usage{
		InputTokens: u.InputTokens + u.CacheRead + u.CacheWritten, OutputTokens: u.OutputTokens, CachedTokens: u.CacheRead,
	}
}

// event is what is read of an event of any type.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta delta           `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// delta goes on with a block, or says how the message ends.
type delta struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Thinking    string `json:"thinking"`
	Signature   string `json:"signature"`
	PartialJSON string `json:"partial_json"`
	StopReason  string `json:"stop_reason"`
	StopDetails struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// read takes the whole answer into x, its calls also where it breaks off.
func (p protocol) read(x *wire.Exchange, answer *http.Response) error {
	t := &turn{Exchange: x, protocol: p}
	err := t.ReadEvents(answer.Body, false, t.take)
	for _, b := range t.blocks {
		if b.kind == kindToolUse {
			x.Calls = append(x.Calls, b.call())
		}
	}
	if err != nil {
		return err
	}
	if !x.Begun {
		return x.Fail(model.Garbled, "the answer holds no message", nil)
	}
	if err := x.CloseCalls(); err != nil {
		return err
	}
	if x.Native, err = t.native(); err != nil {
		return x.Fail(model.Garbled, "the answer can't be kept: "+err.Error(), err)
	}
	return nil
}

// take reads one event. Types that are not known are passed over, as the protocol asks.
func (t *turn) take(data []byte) error {
	t.event = event{}
	e := &t.event
	if err := json.Unmarshal(data, e); err != nil && (!json.Valid(data) || known(e.Type)) {
		return t.BadEvent(err)
	}
	if e.Type == "error" || wire.Given(e.Error) {
		return t.Inside(data)
	}
	switch e.Type {
	case "message_start":
		t.Begun = true
		t.count(e.Message.Usage)
	case "content_block_start":
		return t.begin(e)
	case "content_block_delta":
		return t.goOn(e)
	case "message_delta":
		t.count(e.Usage)
		t.Finish = cmp.Or(e.Delta.StopReason, t.Finish)
		t.Refusal = cmp.Or(e.Delta.StopDetails.Explanation, t.Refusal, "the provider refused to answer")
	case "message_stop":
		t.Done = true
	}
	return nil
}

// known says whether the form of an event of that type is known. An error is read in any form.
func known(eventType string) bool {
	switch eventType {
	case "message_start", "content_block_start", "content_block_delta", "message_delta", "message_stop":
		return true
	}
	return false
}

// begin adds a block.
func (t *turn) begin(e *event) error {
	if len(t.blocks) == maxBlocks {
		return t.Fail(model.Garbled, "the answer has more than 1024 blocks", nil)
	}
	b := &block{index: e.Index, kind: e.Block.Type}
	t.blocks = append(t.blocks, b)
	switch b.kind {
	case kindToolUse:
		b.id, b.name, b.input = e.Block.ID, e.Block.Name, e.Block.Input
	case kindRedacted:
		b.data = e.Block.Data
	}
	if err := t.Keep(len(b.id) + len(b.name) + len(b.input) + len(b.data)); err != nil {
		return err
	}
	return t.extend(b, &delta{Text: e.Block.Text, Thinking: e.Block.Thinking, Signature: e.Block.Signature})
}

// goOn adds to the block that e is for.
func (t *turn) goOn(e *event) error {
	b := t.at(e.Index)
	if b == nil {
		return t.Fail(model.Garbled, "the answer goes on with a block that it never began", nil)
	}
	return t.extend(b, &e.Delta)
}

// extend adds of d what belongs into a block of b's kind, and passes text on.
func (t *turn) extend(b *block, d *delta) error {
	switch b.kind {
	case kindToolUse:
		b.arguments.WriteString(d.PartialJSON)
		return t.Keep(len(d.PartialJSON))
	case kindThinking:
		b.text.WriteString(d.Thinking)
		b.signature.WriteString(d.Signature)
		return t.Keep(len(d.Thinking) + len(d.Signature))
	case kindText:
		b.text.WriteString(d.Text)
		return t.Say([]byte(d.Text))
	}
	return nil
}
