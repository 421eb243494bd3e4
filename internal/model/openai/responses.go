package openai

import (
	"encoding/json"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// responseRequest is the body of a streaming request to the Responses API. The provider is asked to store nothing: its
// reasoning comes encrypted, and is sent back.
type responseRequest struct {
	Model        string `json:"model"`
	Instructions string `json:"instructions,omitempty"`
	// each an inputText, inputCall or inputResult, or an item as the model gave it
	Input           []any          `json:"input"`
	Stream          bool           `json:"stream"`
	Store           bool           `json:"store"`
	Include         []string       `json:"include,omitempty"`
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Temperature     *float64       `json:"temperature,omitempty"`
	Text            *textFormat    `json:"text,omitempty"`
	Tools           []responseTool `json:"tools,omitempty"`
	ToolChoice      string         `json:"tool_choice,omitempty"`
	Reasoning       *thinking      `json:"reasoning,omitempty"`
}

// inputText is a message. Its content is a text or, with pictures, a list of inputPart.
type inputText struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// inputPart is a text or a picture.
type inputPart struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`
}

type inputCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type inputResult struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

type textFormat struct {
	Format typedSchema `json:"format"`
}

type typedSchema struct {
	Type string `json:"type"`
	namedSchema
}

type responseTool struct {
	Type string `json:"type"`
	toolDefinition
	Strict bool `json:"strict"` // whose default is true
}

// thinking sets the effort, and asks for a summary: without one, a model that thinks for long is silent.
type thinking struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// encodeResponse makes the body of a streaming request to the Responses API.
func (p *protocol) encodeResponse(req wire.Request) (any, error) {
	q := p.quirks(req.Without)
	body := responseRequest{Model: p.config.Model, Instructions: req.System, Input: []any{}, Stream: true,
		MaxOutputTokens: req.MaxOutputTokens, Temperature: p.temperature(req, q)}
	if q&noEncrypted == 0 {
		body.Include = []string{"reasoning.encrypted_content"}
	}
	reasoning := thinking{Effort: q.effort(p.config.Think)}
	if q&(noSummary|noEncrypted) == 0 {
		reasoning.Summary = "auto"
	}
	if reasoning != (thinking{}) {
		body.Reasoning = &reasoning
	}
	if schema := q.answerSchema(req); schema != nil {
		body.Text = &textFormat{typedSchema{"json_schema", *schema}}
	}
	for _, t := range q.offeredTools(req) {
		body.Tools = append(body.Tools, responseTool{Type: "function", toolDefinition: t})
	}
	if len(body.Tools) > 0 && req.NoCalls {
		body.ToolChoice = "none"
	}
	for _, msg := range req.Messages {
		body.Input = append(body.Input, p.encodeItems(msg)...)
	}
	return body, nil
}

// encodeItems returns the items of a message. Items that this model gave are sent back as they came.
func (p *protocol) encodeItems(msg model.Message) (all []any) {
	switch msg.Role {
	case model.User:
		var parts []inputPart
		for _, picture := range msg.Pictures {
			parts = append(parts, inputPart{Type: "input_image", Image: picture.URL()})
		}
		if parts != nil {
			return []any{inputText{"user", append(parts, inputPart{Type: "input_text", Text: orEmpty(msg.Text)})}}
		}
		return []any{inputText{"user", orEmpty(msg.Text)}}
	case model.ToolRole:
		return []any{inputResult{"function_call_output", msg.ToolCallID, orEmpty(wire.ResultText(msg))}}
	}
	if native := p.nativeOf(msg); holdCalls(native.Items, msg.ToolCalls) {
		for _, item := range native.Items {
			all = append(all, item)
		}
		return all
	}
	if msg.Text != "" || len(msg.ToolCalls) == 0 {
		all = append(all, inputText{"assistant", orEmpty(msg.Text)})
	}
	for _, call := range msg.ToolCalls {
		all = append(all, inputCall{functionCall, call.ID, call.Name, string(wire.ArgumentsObject(call.Arguments))})
	}
	return all
}

// holdCalls says whether items hold exactly these calls: a call without a result, or a result without a call, would be
// rejected.
func holdCalls(items []json.RawMessage, calls []model.ToolCall) bool {
	var ids []string
	for _, raw := range items {
		var it item
		if json.Unmarshal(raw, &it) != nil || it.Type == "" {
			return false
		}
		if it.Type == functionCall {
			ids = append(ids, it.CallID)
		}
	}
	return len(items) > 0 && slices.EqualFunc(ids, calls, func(id string, call model.ToolCall) bool {
		return id == call.ID
	})
}
