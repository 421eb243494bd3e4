package openai

import (
	"cmp"
	"encoding/json"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// chatRequest is the body of a streaming request for chat completions.
type chatRequest struct {
	Model               string          `json:"model"`
	Messages            []chatMessage   `json:"messages"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	Stream              bool            `json:"stream"`
	ResponseFormat      *responseFormat `json:"response_format,omitempty"`
	Tools               []chatTool      `json:"tools,omitempty"`
	ToolChoice          string          `json:"tool_choice,omitempty"`
	StreamOptions       map[string]bool `json:"stream_options,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
	ReturnProgress      bool            `json:"return_progress,omitempty"` // llama.cpp
	Temperature         *float64        `json:"temperature,omitempty"`
}

// chatMessage is one turn. Its content is a text or, with pictures, a list of userPart. Reasoning is sent back as it
// came.
type chatMessage struct {
	Role             string          `json:"role"`
	Content          any             `json:"content,omitempty"`
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	Reasoning        json.RawMessage `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []chatCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
}

// userPart is a text or a picture.
type userPart struct {
	Type  string            `json:"type"`
	Text  string            `json:"text,omitempty"`
	Image map[string]string `json:"image_url,omitempty"`
}

type chatCall struct {
	ID       string          `json:"id,omitempty"`
	Type     string          `json:"type"`
	Function chatFunction    `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type chatFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Function toolDefinition `json:"function"`
	Type     string         `json:"type"`
}

type toolDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type responseFormat struct {
	Type       string       `json:"type"`
	JSONSchema *namedSchema `json:"json_schema"`
}

// namedSchema is the schema that an answer has to fit.
type namedSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

// bridge is sent if an endpoint requires a turn of the assistant between a tool's message and a user's. Joining the
// user's words to the tool's message would make them data.
const bridge = "I have the results."

// encode makes the body of a streaming request.
func (p *protocol) encode(req wire.Request) (any, error) {
	q := p.quirks(req.Without)
	body := chatRequest{Model: p.config.Model, Messages: p.encodeMessages(req, q), Stream: true,
		ReasoningEffort: q.effort(p.config.Think), ReturnProgress: p.own && q&noProgress == 0,
		Temperature: p.temperature(req, q)}
	if q&completionLimit != 0 != (q&swappedLimit != 0) {
		body.MaxCompletionTokens = req.MaxOutputTokens
	} else {
		body.MaxTokens = req.MaxOutputTokens
	}
	if q&noStreamOptions == 0 {
		body.StreamOptions = map[string]bool{"include_usage": true}
	}
	if schema := q.answerSchema(req); schema != nil {
		body.ResponseFormat = &responseFormat{"json_schema", schema}
	}
	for _, t := range q.offeredTools(req) {
		body.Tools = append(body.Tools, chatTool{t, "function"})
	}
	if len(body.Tools) > 0 && req.NoCalls {
		body.ToolChoice = "none"
	}
	return body, nil
}

// temperature returns the field's value; nil: the field is left out.
func (p *protocol) temperature(req wire.Request, q quirk) *float64 {
	if !req.Greedy || !p.own || q&noTemperature != 0 {
		return nil
	}
	return new(float64)
}

func (p *protocol) encodeMessages(req wire.Request, q quirk) (all []chatMessage) {
	if req.System != "" {
		all = append(all, chatMessage{Role: "system", Content: req.System})
	}
	for i, msg := range req.Messages {
		if q&needsBridge != 0 && i > 0 && msg.Role == model.User && req.Messages[i-1].Role == model.ToolRole {
			all = append(all, chatMessage{Role: "assistant", Content: bridge})
		}
		all = append(all, p.encodeMessage(msg, q))
	}
	return all
}

func (p *protocol) encodeMessage(msg model.Message, q quirk) chatMessage {
	m := chatMessage{Role: string(msg.Role), Content: orEmpty(msg.Text)}
	switch msg.Role {
	case model.User:
		var parts []userPart
		for _, picture := range msg.Pictures {
			parts = append(parts, userPart{Type: "image_url", Image: map[string]string{"url": picture.URL()}})
		}
		if parts != nil {
			m.Content = append(parts, userPart{Type: "text", Text: orEmpty(msg.Text)})
		}
	case model.ToolRole:
		m.Content = orEmpty(wire.ResultText(msg))
		m.ToolCallID = q.callID(msg.ToolCallID)
	case model.Assistant:
		if len(msg.ToolCalls) > 0 && msg.Text == "" {
			m.Content = nil
		}
		native := p.nativeOf(msg)
		native.restoreReasoning(&m, q)
		for i, call := range msg.ToolCalls {
			m.ToolCalls = append(m.ToolCalls, chatCall{ID: q.callID(call.ID), Type: "function",
				Extra:    native.extraContent(i, call.ID, q),
				Function: chatFunction{Name: call.Name, Arguments: string(wire.ArgumentsObject(call.Arguments))}})
		}
	}
	return m
}

// orEmpty replaces an empty text: the protocol requires content in every message.
func orEmpty(text string) string { return cmp.Or(text, wire.EmptyText) }

// offeredTools returns the tools to send: none if they may not be called and the endpoint has no field for that.
func (q quirk) offeredTools(req wire.Request) (definitions []toolDefinition) {
	if req.NoCalls && q&noToolChoice != 0 {
		return nil
	}
	for _, t := range req.Tools {
		definitions = append(definitions, toolDefinition{t.Name, t.Description, wire.Parameters(t)})
	}
	return definitions
}

// answerSchema returns the schema that the answer has to fit; nil if there is none, or the endpoint accepts none.
func (q quirk) answerSchema(req wire.Request) *namedSchema {
	if req.Schema == nil || q&noFormat != 0 {
		return nil
	}
	return &namedSchema{req.Schema.Name, req.Schema.JSON, req.Strict}
}
