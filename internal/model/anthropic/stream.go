package anthropic

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// maxBlocks bounds the blocks of one answer.
const maxBlocks = 1024

// The types of blocks in an answer. The content of others is ignored.
const (
	kindText     = "text"
	kindThinking = "thinking"
	kindRedacted = "redacted_thinking"
	kindToolUse  = "tool_use"
)

// event holds what is read of an event of any type.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Usage usage `json:"usage"`
	} `json:"message"`
	Block piece           `json:"content_block"`
	Delta piece           `json:"delta"`
	Usage usage           `json:"usage"`
	Error json.RawMessage `json:"error"`
}

// piece begins a block, continues one, or says how the message ends.
type piece struct {
	Type        string          `json:"type"`
	Text        wire.Text       `json:"text"`
	Thinking    string          `json:"thinking"`
	Signature   string          `json:"signature"`
	Data        string          `json:"data"` // of redacted thinking
	ID          string          `json:"id"`   // of a tool's use, as name and input
	Name        wire.Text       `json:"name"`
	Input       json.RawMessage `json:"input"` // the arguments of a call that came whole
	PartialJSON wire.Text       `json:"partial_json"`
	StopReason  string          `json:"stop_reason"`
	StopDetails struct {
		Explanation string `json:"explanation"`
	} `json:"stop_details"`
}

// usage counts tokens as the protocol does: InputTokens does not include input that was read from the cache or written
// to it. Counts only grow, and some events leave out what does not change.
type usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CacheRead    int `json:"cache_read_input_tokens"`
	CacheWritten int `json:"cache_creation_input_tokens"`
}

// block is a part of an answer while it comes in.
type block struct {
	piece                   // that began it, with its whole signature
	index   int             // its index in events
	content strings.Builder // its text or thinking, or the arguments of a call
}

// isThinking says whether b is thinking that can be sent back: the provider checks its signature.
func (b *block) isThinking() bool {
	return b.Type == kindRedacted || b.Type == kindThinking && b.Signature != ""
}

// turn is an answer while it comes in.
type turn struct {
	*wire.Call
	blocks []*block
	usage  usage
}

// readTurn reads the whole answer into x.
func (p protocol) readTurn(x *wire.Call, answer *http.Response) error {
	t := &turn{Call: x}
	if err := t.ReadEvents(answer.Body, false, t.applyEvent); err != nil {
		return err
	}
	if !x.Begun {
		return x.NoAnswerError("the answer holds no message")
	}
	for _, b := range t.blocks {
		if b.Type != kindToolUse {
			continue
		}
		arguments := b.content.String()
		if arguments == "" && wire.IsSet(b.Input) {
			arguments = string(b.Input)
		}
		if err := x.AddCall(model.ToolCall{ID: b.ID, Name: string(b.Name), Arguments: arguments}); err != nil {
			return err
		}
	}
	return t.keepNative(p.config.Model)
}

// applyEvent applies one event to the answer. Unknown types are ignored, as the protocol requires, whatever their form.
func (t *turn) applyEvent(data []byte) error {
	var e event
	if err := t.Decode(data, &e); err != nil {
		var of struct {
			Type string `json:"type"`
		}
		if t.Decode(data, &of) != nil || slices.Contains([]string{"message_start", "content_block_start",
			"content_block_delta", "message_delta", "message_stop"}, of.Type) {
			return t.BadEventError(data, err)
		}
		return nil
	}
	if e.Type == "error" || wire.IsSet(e.Error) {
		return t.StreamError(data)
	}
	switch e.Type {
	case "message_start":
		t.Begun = true
		t.updateUsage(e.Message.Usage)
	case "content_block_start":
		return t.beginBlock(&e)
	case "content_block_delta":
		return t.continueBlock(&e)
	case "message_delta":
		t.updateUsage(e.Usage)
		t.Finish = cmp.Or(e.Delta.StopReason, t.Finish)
		t.Refusal = cmp.Or(e.Delta.StopDetails.Explanation, t.Refusal, "the provider refused to answer")
	case "message_stop":
		t.Done = true
	case "": // no event of the protocol
		return t.Complaint(data)
	}
	return nil
}

// updateUsage keeps the later of two counts, and sets Usage as the contract counts: the whole input, and how much of it
// came from the cache.
func (t *turn) updateUsage(later usage) {
	u := &t.usage
	u.InputTokens = max(u.InputTokens, later.InputTokens)
	u.OutputTokens = max(u.OutputTokens, later.OutputTokens)
	u.CacheRead = max(u.CacheRead, later.CacheRead)
	u.CacheWritten = max(u.CacheWritten, later.CacheWritten)
	t.Usage = model.Usage{
		InputTokens: u.InputTokens + u.CacheRead + u.CacheWritten, OutputTokens: u.OutputTokens,
		CachedTokens: u.CacheRead,
	}
}

// beginBlock begins a block of the answer, the 1024th at most.
func (t *turn) beginBlock(e *event) error {
	if len(t.blocks) == maxBlocks {
		return t.Fail(model.Garbled, "the answer has more than 1024 blocks", model.ErrOversized)
	}
	b := &block{piece: e.Block, index: e.Index}
	b.Signature = "" // extendBlock adds it
	t.blocks = append(t.blocks, b)
	if err := t.CountBytes(len(b.ID) + len(b.Name) + len(b.Input) + len(b.Data)); err != nil {
		return err
	}
	return t.extendBlock(b, &e.Block)
}

// continueBlock adds to the block that e belongs to: the last with its index.
func (t *turn) continueBlock(e *event) error {
	for _, b := range slices.Backward(t.blocks) {
		if b.index == e.Index {
			return t.extendBlock(b, &e.Delta)
		}
	}
	return t.Fail(model.Garbled, "the answer goes on with a block that it never began", nil)
}

// extendBlock adds the fields of p that belong to b's type, and emits text.
func (t *turn) extendBlock(b *block, p *piece) error {
	switch b.Type {
	case kindToolUse:
		b.content.WriteString(string(p.PartialJSON))
		return t.CountCall(string(p.PartialJSON))
	case kindThinking:
		b.content.WriteString(p.Thinking)
		b.Signature += p.Signature
		return cmp.Or(t.CountThinking(p.Thinking), t.CountBytes(len(p.Signature)))
	case kindText:
		b.content.WriteString(string(p.Text))
		return t.EmitText(string(p.Text))
	}
	return nil
}

// keepNative keeps the blocks of an answer with thinking in Native; others can be rebuilt from text and calls. It
// leaves out what would be rejected: blank texts, thinking without a signature, blocks of an unknown type.
func (t *turn) keepNative(modelName string) (err error) {
	if !slices.ContainsFunc(t.blocks, (*block).isThinking) {
		return nil
	}
	calls, kept := t.Calls, []any{}
	for _, b := range t.blocks {
		switch {
		case b.Type == kindText && !isBlank(b.content.String()):
			kept = append(kept, newTextBlock(b.content.String()))
		case b.Type == kindThinking && b.isThinking():
			kept = append(kept, map[string]string{"type": kindThinking, "thinking": b.content.String(),
				"signature": b.Signature})
		case b.Type == kindRedacted:
			kept = append(kept, map[string]string{"type": kindRedacted, "data": b.Data})
		case b.Type == kindToolUse:
			kept, calls = append(kept, newCallBlock(calls[0])), calls[1:]
		}
	}
	t.Native, err = wire.Marshal(struct {
		Model   string `json:"model"`
		Content []any  `json:"content"`
	}{modelName, kept})
	return err
}

// CarriesText implements wire.Carrier.
func (piece) CarriesText() {}
