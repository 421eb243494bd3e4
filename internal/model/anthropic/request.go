package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// params puts req into the form that the protocol wants, which rejects a whole conversation for a small fault.
func (m *Model) params(req model.Request) (sdk.MessageNewParams, error) {
	p := sdk.MessageNewParams{Model: m.name, MaxTokens: DefaultMaxOutputTokens}
	if req.MaxOutputTokens > 0 {
		p.MaxTokens = int64(req.MaxOutputTokens)
	}
	if !blank(req.System) {
		p.System = []sdk.TextBlockParam{{Text: req.System}}
	}
	var c conversation
	for i, msg := range req.Messages {
		if !c.add(m, msg) {
			return p, wire.UnknownRole(i, msg.Role)
		}
	}
	p.Messages = c.finish()
	tools := req.Tools
	if len(tools) == 0 && len(c.called) > 0 {
		// A conversation that holds calls is accepted only with tools.
		none := sdk.NewToolChoiceNoneParam()
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
	messages []sdk.MessageParam
	results  int          // tool results that the last message begins with
	called   []model.Tool // the tools that were called, each once
}

// add puts msg behind the others. It is false for a role that is not known.
func (c *conversation) add(m *Model, msg model.Message) bool {
	switch msg.Role {
	case model.User:
		c.say(sdk.MessageParamRoleUser, sdk.NewTextBlock(said(msg.Text)))
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
		c.say(sdk.MessageParamRoleAssistant, blocks...)
	case model.ToolRole:
		c.answer(sdk.NewToolResultBlock(wireID(msg.ToolCallID), said(msg.Text), msg.IsError))
	default:
		return false
	}
	return true
}

// rebuilt is an assistant turn made of its text and calls.
func rebuilt(msg model.Message) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	if !blank(msg.Text) || len(msg.ToolCalls) == 0 {
		blocks = append(blocks, sdk.NewTextBlock(said(msg.Text)))
	}
	for _, call := range msg.ToolCalls {
		blocks = append(blocks, toolUse(call))
	}
	return blocks
}

func toolUse(call model.ToolCall) sdk.ContentBlockParamUnion {
	return sdk.NewToolUseBlock(wireID(call.ID), wire.Object(call.Arguments), call.Name)
}

// say adds blocks to the last message, if it is of this role, or begins another.
func (c *conversation) say(role sdk.MessageParamRole, blocks ...sdk.ContentBlockParamUnion) {
	if n := len(c.messages); n > 0 && c.messages[n-1].Role == role {
		c.messages[n-1].Content = append(c.messages[n-1].Content, blocks...)
		return
	}
	c.messages = append(c.messages, sdk.MessageParam{Role: role, Content: blocks})
	c.results = 0
}

// answer adds a tool's result. In the message that follows a call, the results come before anything else.
func (c *conversation) answer(result sdk.ContentBlockParamUnion) {
	c.say(sdk.MessageParamRoleUser)
	last := &c.messages[len(c.messages)-1]
	last.Content = slices.Insert(last.Content, c.results, result)
	c.results++
}

// finish returns the messages, which on this wire begin and end with the user's: the first must, and an assistant's in
// the last place is taken for the beginning of the answer, which many models refuse.
func (c *conversation) finish() []sdk.MessageParam {
	if len(c.messages) == 0 || c.messages[0].Role != sdk.MessageParamRoleUser {
		c.messages = slices.Insert(c.messages, 0, sdk.NewUserMessage(sdk.NewTextBlock(said(""))))
	}
	c.say(sdk.MessageParamRoleUser)
	if last := &c.messages[len(c.messages)-1]; len(last.Content) == 0 {
		last.Content = append(last.Content, sdk.NewTextBlock("(continue)"))
	}
	return c.messages
}

// said stands in for an empty text: a block of white space alone is rejected.
func said(text string) string {
	if blank(text) {
		return wire.Empty
	}
	return text
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

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

func toolParam(t model.Tool) (sdk.ToolUnionParam, error) {
	schema, err := wire.Schema(t)
	if err != nil {
		return sdk.ToolUnionParam{}, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(schema, &fields); err != nil || fields == nil {
		return sdk.ToolUnionParam{}, fmt.Errorf("the schema of tool %q is not a JSON object", t.Name)
	}
	if _, ok := fields["type"]; !ok { // the wire wants it said
		fields["type"] = json.RawMessage(`"object"`)
		if schema, err = json.Marshal(fields); err != nil {
			return sdk.ToolUnionParam{}, fmt.Errorf("the schema of tool %q: %w", t.Name, err)
		}
	}
	tool := sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](schema)}
	if t.Description != "" {
		tool.Description = param.NewOpt(t.Description)
	}
	return sdk.ToolUnionParam{OfTool: &tool}, nil
}
