package anthropic

import (
	"encoding/json"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// nativeTurn is what Native.Turn holds: the content of an assistant turn as it is sent back, and the model that wrote it.
// A signature holds for that model alone.
type nativeTurn struct {
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
}

// native keeps the blocks of an answer that thought; another is told by its text and calls. Left out is what would be
// rejected or cannot be told again: blank texts, thinking without a signature, blocks of an unknown type.
func (t *turn) native() (json.RawMessage, error) {
	if !slices.ContainsFunc(t.blocks, (*block).thought) {
		return nil, nil
	}
	kept := nativeTurn{Model: t.name}
	calls := t.Calls
	for _, b := range t.blocks {
		var block any
		switch {
		case b.kind == kindText && !blank(b.text.String()):
			block = text(b.text.String())
		case b.kind == kindThinking && b.thought():
			block = map[string]string{"type": kindThinking, "thinking": b.text.String(), "signature": b.signature.String()}
		case b.kind == kindRedacted:
			block = map[string]string{"type": kindRedacted, "data": b.data}
		case b.kind == kindToolUse:
			block, calls = toolUse(calls[0]), calls[1:]
		default:
			continue
		}
		raw, err := wire.Marshal(block)
		if err != nil {
			return nil, err
		}
		kept.Content = append(kept.Content, raw)
	}
	return wire.Marshal(kept)
}

// replay returns the blocks of msg as this model once gave them. It gives none if another model did, or if they do not
// hold the very calls of msg: a call without a result, or a result without a call, would be rejected.
func (p protocol) replay(msg model.Message) ([]any, bool) {
	if msg.Native == nil || msg.Native.Provider != p.config.Provider {
		return nil, false
	}
	var kept nativeTurn
	if json.Unmarshal(msg.Native.Turn, &kept) != nil || kept.Model != p.name {
		return nil, false
	}
	var blocks []any
	calls, last := 0, ""
	for _, raw := range kept.Content {
		var block struct {
			Type string `json:"type"`
			ID   string `json:"id"`
		}
		if json.Unmarshal(raw, &block) != nil || block.Type == "" {
			return nil, false
		}
		if block.Type == kindToolUse {
			if calls == len(msg.ToolCalls) || block.ID != wireID(msg.ToolCalls[calls].ID) {
				return nil, false
			}
			calls++
		}
		last = block.Type
		blocks = append(blocks, raw)
	}
	if len(blocks) == 0 || calls != len(msg.ToolCalls) {
		return nil, false
	}
	if last == kindThinking || last == kindRedacted { // rejected in the last place
		blocks = append(blocks, text(""))
	}
	return blocks, true
}
