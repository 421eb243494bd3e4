package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	sdk "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// sdkBody is the body as go-openai's types and encoding/json make it.
func sdkBody(t testing.TB, name string, req model.Request, old bool) string {
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

// anyMessage draws a message that has a Memo half of the time.
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
	if rapid.Bool().Draw(t, "memo") {
		msg.Memo = &model.Memo{}
	}
	return msg
}

func TestBodyByHandIsThatOfEncodingJSON(t *testing.T) {
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
		want := sdkBody(testing.TB(nil), p.name, req, old)
		for turn := range 3 {
			got, err := p.encode(req, 0)
			if got := bytes.Join(got, nil); err != nil || string(got) != want {
				t.Fatalf("turn %d: %v\n%s\nwant\n%s", turn, err, got, want)
			}
		}
	})
}

func TestMessageThatChangedIsEncodedAnew(t *testing.T) {
	p := newProtocol(Config{Provider: "house", Model: "m"}, "house")
	first := model.Message{Role: model.Assistant, Text: "a", ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}, Memo: &model.Memo{}}
	second := first
	second.Text = "b"
	third := first
	first.ToolCalls[0].Name = "g"
	for _, msg := range []model.Message{first, second, third, first} {
		req := model.Request{Messages: []model.Message{msg}}
		got, err := p.encode(req, 0)
		if want := sdkBody(t, "m", req, true); err != nil || string(bytes.Join(got, nil)) != want {
			t.Errorf("%v\n%s\nwant\n%s", err, got, want)
		}
		first.ToolCalls[0].Name += "h"
	}
}

func TestLongConversationIsEncodedOnce(t *testing.T) {
	p := newProtocol(Config{Provider: "house", Model: "m"}, "house")
	req := model.Request{System: "be brief"}
	for range 150 {
		req.Messages = append(req.Messages, model.Message{
			Role: model.Assistant, Text: "…", ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"q":1}`}}, Memo: &model.Memo{},
		})
	}
	encode := func() {
		if _, err := p.encode(req, 0); err != nil {
			t.Fatal(err)
		}
	}
	encode()
	if n := testing.AllocsPerRun(20, encode); n > 5 {
		t.Errorf("a turn after 150 others took %v mallocs; want the body alone", n)
	}
}

// FuzzChunk checks that a chunk of a usual form is read as encoding/json reads it, whatever was read before.
func FuzzChunk(f *testing.F) {
	const usual = `{"id":"x","object":"chat.completion.chunk","created":17,"model":"m","system_fingerprint":null,"choices":[{"index":0,` +
		`"delta":{"role":"assistant","content":"a\u00fc\ud83d\ude80\n\"\\ü"},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"q"}`
	const call = `{"choices":[{"index":0,"delta":{"content":null,"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1"}},` +
		`{"index":1,"function":{"arguments":""}}]},"finish_reason":"tool_calls"}]}`
	const counts = `{"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":3,"total_tokens":123,"prompt_tokens_details":{"cached_tokens":7,"audio_tokens":0},` +
		`"completion_tokens_details":{"reasoning_tokens":2}}}`
	for _, form := range []string{usual, call, counts, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`} {
		if !new(chunk).read([]byte(form)) {
			f.Fatalf("the usual form %s is not known", form)
		}
		f.Add(form)
	}
	for name, form := range map[string]string{
		"OpenRouter": `{"id":"x","provider":"A","model":"m","object":"chat.completion.chunk","created":17,"choices":[{"index":0,"delta":{"role":"assistant",` +
			`"content":"hi","reasoning":null,"reasoning_details":[]},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}`,
		"vLLM": `{"id":"x","object":"chat.completion.chunk","created":17,"model":"m","choices":[{"index":0,"delta":{"content":"hi","reasoning_content":null},` +
			`"logprobs":null,"finish_reason":null,"stop_reason":null,"token_ids":null}]}`,
	} {
		if !new(chunk).read([]byte(form)) {
			f.Fatalf("the usual form of %s is not known", name)
		}
		f.Add(form)
	}
	f.Add(`{"choices": [{"index": 0, "delta": {"content": "spaced"}}]}`)
	f.Add(`{"choices":[{"delta":{"content":"half \ud83d"}}]}`)
	f.Add(`{"choices":[{"delta":{"content":"a"}}],"choices":[{"delta":{"role":"b"}}]}`)
	f.Add(`{"choices":[{"delta":{"content":"a"}}],"created":01}`)
	f.Add(`{"usage":{"prompt_tokens":1},"choices":[],"usage":{"completion_tokens":1234567890123456789012}}`)
	f.Add(`{"choices":[{"delta":{"tool_calls":[{"id":"a"}],"tool_calls":[{"index":1}]}}]}`)
	f.Add(`{"choices":[{"delta":{"content":"a` + "\t" + `"}}],"id":"` + "\xff" + `"} x`)
	c := &chunk{}
	f.Fuzz(func(t *testing.T, event string) {
		if !c.read([]byte(event)) {
			return
		}
		var p part
		if err := json.Unmarshal([]byte(event), &p); err != nil {
			t.Fatalf("%q is read, but encoding/json says: %v", event, err)
		}
		if len(c.Choices) > 0 {
			c.Choices[0].Delta.Content = content(c.text)
		}
		if diff := cmp.Diff(p, c.part, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q (-encoding/json +by hand):\n%s", event, diff)
		}
	})
}
