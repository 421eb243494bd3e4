package anthropic

import (
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"sibyl/internal/model"
)

// nativeTurn is what Native.Turn holds: the content of an assistant turn as it is sent back, and the model that wrote it.
// A signature holds for that model alone.
type nativeTurn struct {
	Model   string            `json:"model"`
	Content []json.RawMessage `json:"content"`
}

// native keeps the blocks of an answer that thought; another is told by its text and calls. Left out is what would be
// rejected or cannot be told again: blank texts, thinking without a signature, blocks of an unknown type.
func (m *Model) native(t *turn) *model.Native {
	if !slices.ContainsFunc(t.blocks, (*block).thought) {
		return nil
	}
	kept := nativeTurn{Model: m.name}
	for _, b := range t.blocks {
		var block sdk.ContentBlockParamUnion
		switch {
		case b.kind == kindText && !blank(b.text.String()):
			block = sdk.NewTextBlock(b.text.String())
		case b.kind == kindThinking && b.thought():
			block = sdk.NewThinkingBlock(b.signature.String(), b.text.String())
		case b.kind == kindRedacted:
			block = sdk.NewRedactedThinkingBlock(b.data)
		case b.kind == kindToolUse:
			block = toolUse(b.call())
		default:
			continue
		}
		raw, err := json.Marshal(block)
		if err != nil { // strings and a JSON object always encode
			return nil
		}
		kept.Content = append(kept.Content, raw)
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return &model.Native{Provider: m.provider, Turn: raw}
}

// replay returns the blocks of msg as this model once gave them. It gives none if another model did, or if they do not
// hold the very calls of msg: a call without a result, or a result without a call, would be rejected.
func (m *Model) replay(msg model.Message) ([]sdk.ContentBlockParamUnion, bool) {
	if msg.Native == nil || msg.Native.Provider != m.provider {
		return nil, false
	}
	var kept nativeTurn
	if json.Unmarshal(msg.Native.Turn, &kept) != nil || kept.Model != m.name {
		return nil, false
	}
	var blocks []sdk.ContentBlockParamUnion
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
		blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](raw))
	}
	if len(blocks) == 0 || calls != len(msg.ToolCalls) {
		return nil, false
	}
	if last == kindThinking || last == kindRedacted { // rejected in the last place
		blocks = append(blocks, sdk.NewTextBlock(said("")))
	}
	return blocks, true
}
