package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// deltas is a stream of these deltas.
func deltas(parts ...string) string {
	var events []string
	for _, part := range parts {
		events = append(events, `data: {"choices":[{"index":0,"delta":{`+part+`},"finish_reason":null}]}`)
	}
	return strings.Join(append(events, stop, done), "\n\n") + "\n\n"
}

// reread is resp as after a restart: it was written to the journal and read again.
func reread(t *testing.T, resp model.Response) model.Response {
	t.Helper()
	text, err := json.Marshal(resp)
	if err != nil {
		t.Fatal(err)
	}
	var out model.Response
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// after is the request that follows resp, with the results of its calls.
func after(resp model.Response) model.Request {
	req := hello()
	req.Tools = []model.Tool{{Name: "f"}, {Name: "g"}}
	req.Messages = append(req.Messages, model.Message{
		Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls, Native: resp.Native,
	})
	for _, call := range resp.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name, Text: "found"})
	}
	return req
}

const callF = `"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`

// sentBack is the assistant's turn as it stands in the request after an answer.
func sentBack(t *testing.T, address, answer string) (turn map[string]any, first model.Response) {
	t.Helper()
	m, r := at(address, nil, answer)
	var emitted string
	first, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if emitted != first.Text || strings.Contains(emitted, "think") {
		t.Errorf("emitted %q: reasoning is no text", emitted)
	}
	ask(t, m, after(reread(t, first)))
	turn, _ = messages(r.sent[1])[1].(map[string]any)
	return turn, first
}

func TestReasoningGoesBackWithItsTurn(t *testing.T) {
	call := map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"}}
	for name, c := range map[string]struct {
		answer string
		want   map[string]any
	}{
		"DeepSeek: reasoning_content": {
			deltas(`"role":"assistant","content":null,"reasoning_content":"think <a>"`, `"content":null,"reasoning_content":" & b"`, `"content":"Let me look."`, callF),
			map[string]any{"content": "Let me look.", "reasoning_content": "think <a> & b", "tool_calls": []any{call}},
		},
		"vLLM: reasoning": {
			deltas(`"reasoning":"think"`, callF),
			map[string]any{"reasoning": "think", "tool_calls": []any{call}},
		},
		"DeepSeek: a turn without calls": {
			deltas(`"reasoning_content":"think"`, `"content":"hi"`),
			map[string]any{"content": "hi", "reasoning_content": "think"},
		},
		"OpenRouter: parts of a signed text by their index": {
			deltas(`"content":"","reasoning":"think a","reasoning_details":[{"type":"reasoning.text","text":"think","format":"anthropic-claude-v1","index":0}]`,
				`"reasoning_details":[{"type":"reasoning.text","text":" a","signature":null,"format":"anthropic-claude-v1","index":0}]`,
				`"reasoning_details":[{"type":"reasoning.encrypted","data":"ZZ","id":"a","index":1},{"type":"reasoning.text","text":"think b","index":2}]`,
				`"reasoning_details":[{"type":"reasoning.text","signature":"S==","format":"anthropic-claude-v1","index":0}]`, callF),
			map[string]any{"reasoning": "think a", "tool_calls": []any{call}, "reasoning_details": []any{
				map[string]any{"type": "reasoning.text", "text": "think a", "signature": "S==", "format": "anthropic-claude-v1", "index": 0.0},
				map[string]any{"type": "reasoning.encrypted", "data": "ZZ", "id": "a", "index": 1.0},
				map[string]any{"type": "reasoning.text", "text": "think b", "index": 2.0},
			}},
		},
		"OpenRouter: parts by their id, and parts with neither": {
			deltas(`"reasoning_details":[{"type":"reasoning.summary","summary":"think","id":"x"},{"type":"reasoning.text","text":"think"}]`,
				`"reasoning_details":[{"type":"reasoning.text","text":"!"}]`, `"reasoning_details":[{"type":"reasoning.summary","summary":"?","id":"x"}]`,
				`"reasoning_details":[{"type":"reasoning.encrypted","data":"A"}]`, `"reasoning_details":[{"type":"reasoning.encrypted","data":"B"}]`, callF),
			map[string]any{"tool_calls": []any{call}, "reasoning_details": []any{
				map[string]any{"type": "reasoning.summary", "summary": "think?", "id": "x"},
				map[string]any{"type": "reasoning.text", "text": "think!"},
				map[string]any{"type": "reasoning.encrypted", "data": "A"},
				map[string]any{"type": "reasoning.encrypted", "data": "B"},
			}},
		},
		"Gemini: the signature of a call": {
			deltas(`"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"Sig="}}}]`),
			map[string]any{"tool_calls": []any{map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "f", "arguments": "{}"},
				"extra_content": map[string]any{"google": map[string]any{"thought_signature": "Sig="}}}}},
		},
		"nothing was thought": {
			deltas(`"content":"hi","reasoning":null,"reasoning_content":"","reasoning_details":[{}]`),
			map[string]any{"content": "hi"},
		},
		"reasoning in a form of its own": {
			deltas(`"content":"hi","reasoning_details":{"steps":3}`),
			map[string]any{"content": "hi"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, first := sentBack(t, "https://house.example/v1", c.answer)
			c.want["role"] = "assistant"
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the turn went back as (-want +got):\n%s", diff)
			}
			if (first.Native != nil) != (len(c.want) > 2 || first.Text == "") {
				t.Errorf("kept %+v", first.Native)
			}
		})
	}
}

func TestReasoningIsSentOnlyToTheModelThatGaveIt(t *testing.T) {
	answer := deltas(`"reasoning_content":"canary"`, callF)
	m, _ := at("https://house.example/v1", nil, answer)
	first, err := m.Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	req := after(first)
	for name, c := range map[string]struct {
		adjust func(*openai.Config)
		want   bool
	}{
		"itself":                        {func(*openai.Config) {}, true},
		"another provider":              {func(c *openai.Config) { c.Provider = "other" }, false},
		"another model of the provider": {func(c *openai.Config) { c.Model = "other" }, false},
		"the other API":                 {func(c *openai.Config) { c.API = openai.Responses }, false},
	} {
		server := modeltest.NewServer(t, modeltest.Stream("ok"))
		other := connect(t, server, func(c *openai.Config) { c.Model = "m" }, c.adjust)
		ask(t, other, req)
		body := server.Requests()[0].Body
		if strings.Contains(body, "canary") != c.want || !strings.Contains(body, `"f"`) {
			t.Errorf("%s: sent %s", name, body)
		}
	}
	req.Messages[1].Native = &model.Native{Provider: "house", Turn: json.RawMessage(`{`)}
	ask(t, m, req)
}

func TestReasoningThatAnEndpointRejectsIsLeftOut(t *testing.T) {
	for name, said := range map[string]string{
		"reasoning_content": "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
		"reasoning":         "'messages.1' : property 'reasoning' is unsupported",
		"reasoning_details": "messages.1.assistant.reasoning_details: property unsupported",
	} {
		m, r := at("https://house.example/v1", nil, deltas(`"reasoning_content":"a","reasoning":"b","reasoning_details":[{"text":"c"}]`, callF),
			`{"error":{"message":"`+said+`"}}`)
		first, err := m.Chat(t.Context(), hello(), nil)
		if err != nil {
			t.Fatal(err)
		}
		ask(t, m, after(first))
		turn := messages(r.sent[2])[1].(map[string]any)
		if turn["reasoning_content"] != nil || turn["reasoning"] != nil || turn["reasoning_details"] != nil {
			t.Errorf("%s: asked again with %v", name, turn)
		}
	}
}

func TestTurnsThatCameFromElsewhereGetAPlaceForReasoningWhereOneIsRequired(t *testing.T) {
	for _, said := range []string{
		"The `reasoning_content` in the thinking mode must be passed back to the API.",
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
	} {
		m, r := at("https://house.example/v1", nil, `{"error":{"message":"`+said+`","type":"invalid_request_error"}}`, deltas(`"reasoning_content":"think"`, callF))
		req := hinted()
		own, err := m.Chat(t.Context(), req, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Messages = append(req.Messages, after(own).Messages[1:]...)
		ask(t, m, req)
		for i, want := range map[int]any{1: " ", 4: "think"} {
			if got := messages(r.sent[2])[i].(map[string]any)["reasoning_content"]; got != want {
				t.Errorf("%s: message %d went with %q; want %q", said, i, got, want)
			}
		}
	}
}

func TestGeminiGetsASignatureForACallThatCameFromElsewhere(t *testing.T) {
	req := hinted()
	req.Messages[1].ToolCalls = append(req.Messages[1].ToolCalls, model.ToolCall{ID: "call_2", Name: "f"})
	req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: "call_2"})
	const missing = `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`
	for address, answers := range map[string][]string{
		"https://generativelanguage.googleapis.com/v1beta/openai": nil,
		"https://gateway.example/v1":                              {missing},
	} {
		m, r := at(address, nil, answers...)
		ask(t, m, req)
		calls := messages(r.sent[len(answers)])[1].(map[string]any)["tool_calls"].([]any)
		want := map[string]any{"google": map[string]any{"thought_signature": "skip_thought_signature_validator"}}
		if diff := cmp.Diff(want, calls[0].(map[string]any)["extra_content"]); diff != "" || calls[1].(map[string]any)["extra_content"] != nil {
			t.Errorf("%s: sent %v", address, calls)
		}
	}
}
