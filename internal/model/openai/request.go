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
	StreamOptions       *streamOptions  `json:"stream_options,omitempty"`
	ReasoningEffort     string          `json:"reasoning_effort,omitempty"`
}

// chatMessage is one turn. Reasoning is sent back as it came.
type chatMessage struct {
	Role             string          `json:"role"`
	Content          string          `json:"content,omitempty"`
	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	Reasoning        json.RawMessage `json:"reasoning,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
	ToolCalls        []chatCall      `json:"tool_calls,omitempty"`
	ToolCallID       string          `json:"tool_call_id,omitempty"`
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
	Function toolForm `json:"function"`
	Type     string   `json:"type"`
}

type toolForm struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema *namedForm `json:"json_schema"`
}

// namedForm is the schema that an answer is to fit.
type namedForm struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// bridge stands where an endpoint wants a turn of the assistant between a tool's message and a user's. To fold what the user says into
// the tool's message would make it data.
const bridge = "I have the results."

// encode makes the body of a streaming request.
func (p *protocol) encode(req model.Request, without uint32) ([]byte, error) {
	q := p.quirks(without)
	body := chatRequest{Model: p.name, Stream: true, ReasoningEffort: q.effort(p.think)}
	if q&newLimit != 0 != (q&otherLimit != 0) {
		body.MaxCompletionTokens = req.MaxOutputTokens
	} else {
		body.MaxTokens = req.MaxOutputTokens
	}
	if q&noStreamOptions == 0 {
		body.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	form, err := formOf(req, q)
	if err != nil {
		return nil, err
	}
	if form != nil {
		body.ResponseFormat = &responseFormat{"json_schema", form}
	}
	offered, err := toolForms(req, q)
	if err != nil {
		return nil, err
	}
	for _, t := range offered {
		body.Tools = append(body.Tools, chatTool{t, "function"})
	}
	if len(offered) > 0 && req.NoCalls {
		body.ToolChoice = "none"
	}
	if body.Messages, err = p.messages(req, q); err != nil {
		return nil, err
	}
	return wire.Marshal(body)
}

func (p *protocol) messages(req model.Request, q quirk) ([]chatMessage, error) {
	all := make([]chatMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		all = append(all, chatMessage{Role: "system", Content: req.System})
	}
	for i := range req.Messages {
		msg := &req.Messages[i]
		if !isRole(msg.Role) {
			return nil, wire.UnknownRole(i, msg.Role)
		}
		if q&bridged != 0 && i > 0 && msg.Role == model.User && req.Messages[i-1].Role == model.ToolRole {
			all = append(all, chatMessage{Role: "assistant", Content: bridge})
		}
		all = append(all, p.message(msg, q))
	}
	return all, nil
}

func isRole(r model.Role) bool { return r == model.User || r == model.Assistant || r == model.ToolRole }

func (p *protocol) message(msg *model.Message, q quirk) chatMessage {
	m := chatMessage{Role: string(msg.Role)}
	switch msg.Role {
	case model.ToolRole:
		m.Content = said(wire.Result(*msg))
		m.ToolCallID = q.callID(msg.ToolCallID)
		return m
	case model.User:
		m.Content = said(msg.Text)
		return m
	}
	m.Content = msg.Text
	if len(msg.ToolCalls) == 0 {
		m.Content = said(msg.Text)
	}
	native := p.native(msg)
	native.reason(&m, q)
	for i, call := range msg.ToolCalls {
		m.ToolCalls = append(m.ToolCalls, chatCall{ID: q.callID(call.ID), Type: "function", Extra: native.extra(i, call.ID, q),
			Function: chatFunction{Name: call.Name, Arguments: string(wire.Object(call.Arguments))}})
	}
	return m
}

// said stands in for an empty text: the protocol wants content in every message.
func said(text string) string { return cmp.Or(text, wire.Empty) }

// toolForms are the tools that are offered: none where they may not be called and the endpoint can't be told so.
func toolForms(req model.Request, q quirk) (forms []toolForm, err error) {
	if req.NoCalls && q&noToolChoice != 0 {
		return nil, nil
	}
	for _, t := range req.Tools {
		schema, err := wire.ToolSchema(t)
		if err != nil {
			return nil, err
		}
		forms = append(forms, toolForm{t.Name, t.Description, schema})
	}
	return forms, nil
}

// formOf is the schema that the answer is to fit; nil if there is none, or the endpoint takes none.
func formOf(req model.Request, q quirk) (*namedForm, error) {
	schema, strict, err := wire.AnswerSchema(req)
	if schema == nil || err != nil || q&noFormat != 0 {
		return nil, err
	}
	return &namedForm{req.Schema.Name, schema, strict}, nil
}
