package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

// sent returns the body that req becomes.
func sent(t *testing.T, req model.Request, adjust ...func(*openai.Config)) map[string]any {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	if _, err := connect(t, server, adjust...).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(server.Requests()[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequestOnTheWire(t *testing.T) {
	got := sent(t, model.Request{
		System: "be brief",
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"a":1}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: "[oops"},
			}},
			{Role: model.ToolRole, ToolCallID: "1", ToolName: "f", Text: "found"},
			{Role: model.ToolRole, ToolCallID: "2", ToolName: "g"},
			{Role: model.ToolRole, ToolCallID: "3", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.Assistant},
			{Role: model.User, Text: ""},
		},
		Tools: []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "g"}},
	})
	call := func(id, name, arguments string) any {
		return map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}}
	}
	want := map[string]any{
		"model": "llama3.1:8b", "stream": true, "stream_options": map[string]any{"include_usage": true},
		"messages": []any{
			map[string]any{"role": "system", "content": "be brief"},
			map[string]any{"role": "user", "content": "q"},
			map[string]any{"role": "assistant", "tool_calls": []any{
				call("1", "f", `{"a":1}`), call("2", "g", "{}"), call("3", "h", `{"not_an_object":"[oops"}`),
			}},
			map[string]any{"role": "tool", "content": "found", "tool_call_id": "1"},
			map[string]any{"role": "tool", "content": "(empty)", "tool_call_id": "2"},
			map[string]any{"role": "tool", "content": "The tool failed: bad arguments", "tool_call_id": "3"},
			map[string]any{"role": "assistant", "content": "(empty)"},
			map[string]any{"role": "user", "content": "(empty)"},
		},
		"tools": []any{
			map[string]any{"type": "function", "function": map[string]any{
				"name": "f", "description": "does f", "parameters": map[string]any{"type": "object"},
			}},
			map[string]any{"type": "function", "function": map[string]any{
				"name": "g", "parameters": map[string]any{"type": "object", "properties": map[string]any{}},
			}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}
