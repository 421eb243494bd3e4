package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	wire "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"sibyl/internal/model"
)

// params puts req into the form that the protocol wants, which rejects a whole conversation for a small fault.
func (m *Model) params(req model.Request) (wire.MessageNewParams, error) {
	p := wire.MessageNewParams{Model: m.name, MaxTokens: DefaultMaxOutputTokens}
	if req.MaxOutputTokens > 0 {
		p.MaxTokens = int64(req.MaxOutputTokens)
	}
	if !blank(req.System) {
		p.System = []wire.TextBlockParam{{Text: req.System}}
	}
	var c conversation
	for i, msg := range req.Messages {
		if err := c.add(m, msg); err != nil {
			return p, fmt.Errorf("message %d %w", i, err)
		}
	}
	p.Messages = c.finish()
	tools := req.Tools
	if len(tools) == 0 && len(c.called) > 0 {
		// A conversation that holds calls is accepted only with tools.
		none := wire.NewToolChoiceNoneParam()
		p.ToolChoice.OfNone = &none
		tools = c.called
	}
	for _, t := range tools {
		tool, err := toolParam(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, tool)
	}
	return p, nil
}

// conversation is the messages on the wire. They alternate between user and assistant, so messages of one role in a row
// become one.
type conversation struct {
	messages []wire.MessageParam
	results  int          // tool results that the last message begins with
	called   []model.Tool // the tools that were called, each once
}

func (c *conversation) add(m *Model, msg model.Message) error {
	switch msg.Role {
	case model.User:
		c.say(wire.MessageParamRoleUser, wire.NewTextBlock(said(msg.Text)))
	case model.Assistant:
		for _, call := range msg.ToolCalls {
			if !slices.ContainsFunc(c.called, func(t model.Tool) bool { return t.Name == call.Name }) {
				c.called = append(c.called, model.Tool{Name: call.Name})
			}
		}
		blocks, ok := m.replay(msg)
		if !ok {
			blocks = rebuilt(msg)
		}
		c.say(wire.MessageParamRoleAssistant, blocks...)
	case model.ToolRole:
		c.answer(wire.NewToolResultBlock(wireID(msg.ToolCallID), said(msg.Text), msg.IsError))
	default:
		return fmt.Errorf("has the role %q; it must be user, assistant or tool", msg.Role)
	}
	return nil
}

// rebuilt is an assistant turn made of its text and calls.
func rebuilt(msg model.Message) []wire.ContentBlockParamUnion {
	var blocks []wire.ContentBlockParamUnion
	if !blank(msg.Text) || len(msg.ToolCalls) == 0 {
		blocks = append(blocks, wire.NewTextBlock(said(msg.Text)))
	}
	for _, call := range msg.ToolCalls {
		blocks = append(blocks, toolUse(call))
	}
	return blocks
}

func toolUse(call model.ToolCall) wire.ContentBlockParamUnion {
	return wire.NewToolUseBlock(wireID(call.ID), object(call.Arguments), call.Name)
}

// say adds blocks to the last message, if it is of this role, or begins another.
func (c *conversation) say(role wire.MessageParamRole, blocks ...wire.ContentBlockParamUnion) {
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, wire.MessageParam{Role: role, Content: blocks})
	c.results = 0
}

// answer adds a tool's result. In the message that follows a call, the results come before anything else.
func (c *conversation) answer(result wire.ContentBlockParamUnion) {
	c.say(wire.MessageParamRoleUser)
	last := &c.messages[len(c.messages)-1]
	last.Content = slices.Insert(last.Content, c.results, result)
	c.results++
}

// finish returns the messages, which on this wire begin and end with the user's: the first must, and an assistant's in
// the last place is taken for the beginning of the answer, which many models refuse.
func (c *conversation) finish() []wire.MessageParam {
	if len(c.messages) == 0 || c.messages[0].Role != wire.MessageParamRoleUser {
		c.messages = slices.Insert(c.messages, 0, wire.NewUserMessage(wire.NewTextBlock(said(""))))
	}
	c.say(wire.MessageParamRoleUser)
	if last := &c.messages[len(c.messages)-1]; len(last.Content) == 0 {
		last.Content = append(last.Content, wire.NewTextBlock("(continue)"))
	}
	return c.messages
}

// said stands in for an empty text: a block of white space alone is rejected.
func said(text string) string {
	if blank(text) {
		return "(empty)"
	}
	return text
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// object returns arguments as a JSON object. The wire takes nothing else, so what is no object is sent inside one.
func object(arguments string) json.RawMessage {
	arguments = strings.ToValidUTF8(arguments, "\uFFFD")
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return json.RawMessage(arguments)
	}
	if blank(arguments) {
		return json.RawMessage("{}")
	}
	text, err := json.Marshal(map[string]string{"not_an_object": arguments})
	if err != nil { // a map of strings always encodes
		return json.RawMessage("{}")
	}
	return text
}

// wireID returns id in the alphabet that the wire takes. An id that another provider made may be outside it; it is
// spelled in a way that no two ids share.
func wireID(id string) string {
	foreign := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	if id != "" && !strings.ContainsFunc(id, foreign) {
		return id
	}
	return "id_" + base64.RawURLEncoding.EncodeToString([]byte(id))
}

func toolParam(t model.Tool) (wire.ToolUnionParam, error) {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil || fields == nil {
		return wire.ToolUnionParam{}, fmt.Errorf("the schema of tool %q is not a JSON object", t.Name)
	}
	if _, ok := fields["type"]; !ok { // the wire wants it said
		fields["type"] = json.RawMessage(`"object"`)
		var err error
		if schema, err = json.Marshal(fields); err != nil {
			return wire.ToolUnionParam{}, fmt.Errorf("the schema of tool %q: %w", t.Name, err)
		}
	}
	tool := wire.ToolParam{Name: t.Name, InputSchema: param.Override[wire.ToolInputSchemaParam](schema)}
	if t.Description != "" {
		tool.Description = param.NewOpt(t.Description)
	}
	return wire.ToolUnionParam{OfTool: &tool}, nil
}
