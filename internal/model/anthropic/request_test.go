package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/modeltest"
)

// sent returns the body that req becomes, without marks for the cache.
func sent(t *testing.T, req model.Request, adjust ...func(*anthropic.Config)) map[string]any {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	if _, err := connect(t, server, adjust...).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(server.Requests()[0].Body, mark, "")), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// mark is what ends a block that the provider is to cache.
const mark = `,"cache_control":{"type":"ephemeral"}`

func text(s string) any { return map[string]any{"type": "text", "text": s} }

func message(role string, content ...any) any {
	return map[string]any{"role": role, "content": content}
}

func use(id, name string, input map[string]any) any {
	return map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}
}

func result(id, s string, isError bool) any {
	return map[string]any{"type": "tool_result", "tool_use_id": id, "content": []any{text(s)}, "is_error": isError}
}

func TestRequestOnTheWire(t *testing.T) {
	got := sent(t, model.Request{
		System: "be brief",
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.User, Text: " \n"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"a":1}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: "[oops"},
				{ID: "4", Name: "h", Arguments: "null"}, {ID: "5", Name: "f", Arguments: "{\"a\":\"\xff\"}"},
			}},
			{Role: model.ToolRole, ToolCallID: "1", ToolName: "f", Text: "found"},
			{Role: model.ToolRole, ToolCallID: "2", ToolName: "g"},
			{Role: model.User, Text: "[control] go on"},
			{Role: model.ToolRole, ToolCallID: "3", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.ToolRole, ToolCallID: "4", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.ToolRole, ToolCallID: "5", ToolName: "f", Text: "found"},
			{Role: model.Assistant},
			{Role: model.Assistant, Text: "done"},
			{Role: model.User, Text: "thanks"},
		},
		Tools: []model.Tool{
			{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"number"}},"additionalProperties":false}`)},
			{Name: "g"},
			{Name: "h", Schema: json.RawMessage(`{"required":["a"]}`)},
		},
		MaxOutputTokens: 77,
	})
	want := map[string]any{
		"model": "claude-test-1", "stream": true, "max_tokens": 77.0, "system": []any{text("be brief")},
		"messages": []any{
			message("user", text("q"), text("(empty)")),
			message("assistant", use("1", "f", map[string]any{"a": 1.0}), use("2", "g", map[string]any{}),
				use("3", "h", map[string]any{"not_an_object": "[oops"}), use("4", "h", map[string]any{"not_an_object": "null"}),
				use("5", "f", map[string]any{"a": "\uFFFD"})),
			message("user", result("1", "found", false), result("2", "(empty)", false), result("3", "bad arguments", true),
				result("4", "bad arguments", true), result("5", "found", false), text("[control] go on")),
			message("assistant", text("(empty)"), text("done")),
			message("user", text("thanks")),
		},
		"tools": []any{
			map[string]any{"name": "f", "description": "does f", "input_schema": map[string]any{
				"type": "object", "properties": map[string]any{"a": map[string]any{"type": "number"}}, "additionalProperties": false,
			}},
			map[string]any{"name": "g", "input_schema": map[string]any{"type": "object", "properties": map[string]any{}}},
			map[string]any{"name": "h", "input_schema": map[string]any{"type": "object", "required": []any{"a"}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestConversationBeginsAndEndsWithTheUser(t *testing.T) {
	said := func(role model.Role, text string) model.Message { return model.Message{Role: role, Text: text} }
	for name, c := range map[string]struct {
		messages []model.Message
		want     []any
	}{
		"nothing":          {nil, []any{message("user", text("(empty)"))}},
		"an assistant":     {[]model.Message{said(model.Assistant, "a ")}, []any{message("user", text("(empty)")), message("assistant", text("a ")), message("user", text("(continue)"))}},
		"user, assistant":  {[]model.Message{said(model.User, "u"), said(model.Assistant, "a")}, []any{message("user", text("u")), message("assistant", text("a")), message("user", text("(continue)"))}},
		"assistant, user":  {[]model.Message{said(model.Assistant, "a"), said(model.User, "u")}, []any{message("user", text("(empty)")), message("assistant", text("a")), message("user", text("u"))}},
		"the user, thrice": {[]model.Message{said(model.User, "1"), said(model.User, "2"), said(model.User, "3")}, []any{message("user", text("1"), text("2"), text("3"))}},
	} {
		body := sent(t, model.Request{System: " ", Messages: c.messages})
		if diff := cmp.Diff(c.want, body["messages"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if body["system"] != nil || body["tools"] != nil || body["tool_choice"] != nil {
			t.Errorf("%s: empty fields were sent: %v", name, body)
		}
	}
}

func TestCallsOfAConversationWithoutToolsAreDeclaredAndForbidden(t *testing.T) {
	req := hello()
	for _, id := range []string{"1", "2"} {
		req.Messages = append(req.Messages,
			model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: id, Name: "f", Arguments: "{}"}}},
			model.Message{Role: model.ToolRole, ToolCallID: id, Text: "found"})
	}
	body := sent(t, req)
	want := []any{map[string]any{"name": "f", "input_schema": map[string]any{"type": "object", "properties": map[string]any{}}}}
	if diff := cmp.Diff(want, body["tools"]); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"type": "none"}, body["tool_choice"]); diff != "" {
		t.Errorf("tool_choice (-want +got):\n%s", diff)
	}
}

func TestOutputLimitIsAlwaysSent(t *testing.T) {
	for limit, want := range map[int]float64{0: anthropic.DefaultMaxOutputTokens, -1: anthropic.DefaultMaxOutputTokens, 5: 5} {
		req := hello()
		req.MaxOutputTokens = limit
		if got := sent(t, req)["max_tokens"]; got != want {
			t.Errorf("limit %d: sent %v; want %v", limit, got, want)
		}
	}
}
