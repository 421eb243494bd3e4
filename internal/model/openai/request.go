package openai

import (
	"cmp"
	"encoding/json"

	sdk "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
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
	body := sdk.ChatCompletionRequest{Model: m.name, Messages: messages, Tools: tools, Stream: true}
	if withUsage {
		body.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	if m.maxTokensOld {
		body.MaxTokens = req.MaxOutputTokens //nolint:staticcheck // deprecated by OpenAI, all that many others know
	} else {
		body.MaxCompletionTokens = req.MaxOutputTokens
	}
	return json.Marshal(body)
}

func messages(req model.Request) ([]sdk.ChatCompletionMessage, error) {
	out := make([]sdk.ChatCompletionMessage, 0, len(req.Messages)+1)
	if req.System != "" {
		out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: req.System})
	}
	for i, msg := range req.Messages {
		switch msg.Role {
		case model.User:
			out = append(out, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: said(msg.Text)})
		case model.Assistant:
			turn := sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleAssistant, Content: msg.Text}
			for _, call := range msg.ToolCalls {
				turn.ToolCalls = append(turn.ToolCalls, sdk.ToolCall{
					ID: call.ID, Type: sdk.ToolTypeFunction,
					Function: sdk.FunctionCall{Name: call.Name, Arguments: string(wire.Object(call.Arguments))},
				})
			}
			if len(turn.ToolCalls) == 0 {
				turn.Content = said(msg.Text)
			}
			out = append(out, turn)
		case model.ToolRole:
			out = append(out, sdk.ChatCompletionMessage{
				Role: sdk.ChatMessageRoleTool, Content: said(wire.Result(msg)), ToolCallID: msg.ToolCallID,
			})
		default:
			return nil, wire.UnknownRole(i, msg.Role)
		}
	}
	return out, nil
}

// said stands in for an empty text: the protocol wants content in every message, and go-openai leaves out an empty one.
func said(text string) string { return cmp.Or(text, wire.Empty) }

func tools(offered []model.Tool) ([]sdk.Tool, error) {
	var out []sdk.Tool
	for _, t := range offered {
		schema, err := wire.Schema(t)
		if err != nil {
			return nil, err
		}
		out = append(out, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: t.Name, Description: t.Description, Parameters: schema,
		}})
	}
	return out, nil
}
