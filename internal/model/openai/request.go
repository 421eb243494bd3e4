package openai

import (
	"encoding/json"
	"fmt"

	wire "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
)

// encode writes req as the body of a streaming request.
func (m *Model) encode(req model.Request, withUsage bool) ([]byte, error) {
	messages, err := messages(req)
	if err != nil {
		return nil, err
	}
	tools, err := tools(req.Tools)
	if err != nil {
		return nil, err
	}
	body := wire.ChatCompletionRequest{Model: m.name, Messages: messages, Tools: tools, Stream: true}
	if withUsage {
		body.StreamOptions = &wire.StreamOptions{IncludeUsage: true}
	}
	if m.maxTokensOld {
		body.MaxTokens = req.MaxOutputTokens //nolint:staticcheck // deprecated by OpenAI, all that many others know
	} else {
		body.MaxCompletionTokens = req.MaxOutputTokens
	}
	return json.Marshal(body)
}

func messages(req model.Request) ([]wire.ChatCompletionMessage, error) {
	out := make([]wire.ChatCompletionMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, wire.ChatCompletionMessage{Role: wire.ChatMessageRoleSystem, Content: req.System})
	}
	for i, msg := range req.Messages {
		switch msg.Role {
		case model.User:
			out = append(out, wire.ChatCompletionMessage{Role: wire.ChatMessageRoleUser, Content: said(msg.Text)})
		case model.Assistant:
			turn := wire.ChatCompletionMessage{Role: wire.ChatMessageRoleAssistant, Content: msg.Text}
			for _, call := range msg.ToolCalls {
				turn.ToolCalls = append(turn.ToolCalls, wire.ToolCall{
					ID: call.ID, Type: wire.ToolTypeFunction,
					Function: wire.FunctionCall{Name: call.Name, Arguments: object(call.Arguments)},
				})
			}
			if len(turn.ToolCalls) == 0 {
				turn.Content = said(msg.Text)
			}
			out = append(out, turn)
		case model.ToolRole:
			text := msg.Text
			if msg.IsError {
				text = "The tool failed: " + text
			}
			out = append(out, wire.ChatCompletionMessage{
				Role: wire.ChatMessageRoleTool, Content: said(text), ToolCallID: msg.ToolCallID,
			})
		default:
			return nil, fmt.Errorf("message %d has the role %q; it must be user, assistant or tool", i, msg.Role)
		}
	}
	return out, nil
}

// said stands in for an empty text: the protocol wants content in every message, and go-openai leaves out an empty one.
func said(text string) string {
	if text == "" {
		return "(empty)"
	}
	return text
}

// object returns arguments as a JSON object. Some endpoints reject a whole conversation because of one call whose
// arguments the model once got wrong, so what is no object is sent inside one.
func object(arguments string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return arguments
	}
	if arguments == "" {
		return "{}"
	}
	text, err := json.Marshal(map[string]string{"not_an_object": arguments})
	if err != nil { // a map of strings always encodes
		return "{}"
	}
	return string(text)
}

func tools(offered []model.Tool) ([]wire.Tool, error) {
	var out []wire.Tool
	for _, t := range offered {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		if !json.Valid(schema) {
			return nil, fmt.Errorf("the schema of tool %q is not valid JSON", t.Name)
		}
		out = append(out, wire.Tool{Type: wire.ToolTypeFunction, Function: &wire.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return out, nil
}
