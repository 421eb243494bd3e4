package openai

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// failer is a test, or a draw of one.
type failer interface{ Fatal(args ...any) }

// sdkBody is the body as go-openai's types make it.
func sdkBody(t failer, name string, req model.Request, old bool) string {
	body := sdk.ChatCompletionRequest{Model: name, Stream: true, StreamOptions: &sdk.StreamOptions{IncludeUsage: true}}
	if old {
		body.MaxTokens = req.MaxOutputTokens //nolint:staticcheck // deprecated by OpenAI, all that many others know
	} else {
		body.MaxCompletionTokens = req.MaxOutputTokens
	}
	if req.System != "" {
		body.Messages = append(body.Messages, sdk.ChatCompletionMessage{Role: "system", Content: req.System})
	}
	for _, msg := range req.Messages {
		turn := sdk.ChatCompletionMessage{Role: string(msg.Role), Content: msg.Text, ToolCallID: msg.ToolCallID}
		for _, call := range msg.ToolCalls {
			turn.ToolCalls = append(turn.ToolCalls, sdk.ToolCall{ID: call.ID, Type: sdk.ToolTypeFunction,
				Function: sdk.FunctionCall{Name: call.Name, Arguments: string(wire.Object(call.Arguments))}})
		}
		if msg.Role == model.ToolRole {
			turn.Content = wire.Result(msg)
		}
		if turn.Content == "" && len(msg.ToolCalls) == 0 {
			turn.Content = wire.Empty
		}
		body.Messages = append(body.Messages, turn)
	}
	for _, tool := range req.Tools {
		schema, err := wire.ToolSchema(tool)
		if err != nil {
			t.Fatal(err)
		}
		body.Tools = append(body.Tools, sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
			Name: tool.Name, Description: tool.Description, Parameters: schema,
		}})
	}
	if s := req.Schema; s != nil {
		body.ResponseFormat = &sdk.ChatCompletionResponseFormat{Type: sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{Name: s.Name, Schema: s.JSON}}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// anyMessage draws a message.
func anyMessage(t *rapid.T) model.Message {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "<a & b>", "\xff", "\u2028"}))
	msg := model.Message{
		Role: rapid.SampledFrom([]model.Role{model.User, model.Assistant, model.ToolRole}).Draw(t, "role"), Text: text.Draw(t, "text"),
	}
	switch msg.Role {
	case model.Assistant:
		for range rapid.IntRange(0, 2).Draw(t, "calls") {
			arguments := rapid.SampledFrom([]string{"", `{"q":"<x>"}`, `{ "n" : 1 }`, "oops"})
			msg.ToolCalls = append(msg.ToolCalls, model.ToolCall{ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Arguments: arguments.Draw(t, "arguments")})
		}
	case model.ToolRole:
		msg.ToolCallID, msg.IsError = text.Draw(t, "id"), rapid.Bool().Draw(t, "failed")
	}
	return msg
}

func TestBodyIsThatOfTheSDK(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.Bool().Draw(t, "old")
		provider := OpenAI
		if old {
			provider = "house"
		}
		p := newProtocol(Config{Provider: provider, Model: rapid.String().Draw(t, "model")}, "house")
		req := model.Request{
			System: rapid.String().Draw(t, "system"), Messages: rapid.SliceOfN(rapid.Custom(anyMessage), 1, 5).Draw(t, "messages"),
			MaxOutputTokens: rapid.IntRange(0, 100).Draw(t, "limit"),
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "tools") {
			schema := rapid.SampledFrom([]string{"", `{"type":"object"}`, `{ "description" : "<&>" }`}).Draw(t, "schema")
			req.Tools = append(req.Tools, model.Tool{Name: strconv.Itoa(i), Description: rapid.String().Draw(t, "description"), Schema: json.RawMessage(schema)})
		}
		if rapid.Bool().Draw(t, "form") {
			req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object", "properties":{"a":{"type":"string"}}}`)}
		}
		want := sdkBody(t, p.name, req, old)
		got, err := p.encode(req, 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, got)); diff != "" {
			t.Errorf("body (-the SDK's +ours):\n%s", diff)
		}
	})
}

func decoded(t failer, raw []byte) (value any) {
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
