package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// sent returns the body that req becomes.
func sent(t *testing.T, req model.Request) map[string]any {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	if _, err := connect(t, server).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(server.Requests()[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// wholeRequest has one of everything that a request can hold.
func wholeRequest() model.Request {
	return model.Request{
		System: "be brief",
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"b":12345678901234567890,"a":"<&>"}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: "[oops"},
			}},
			{Role: model.ToolRole, ToolCallID: "1", ToolName: "f", Text: "found"},
			{Role: model.ToolRole, ToolCallID: "2", ToolName: "g"},
			{Role: model.ToolRole, ToolCallID: "3", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.Assistant},
			{Role: model.User, Text: ""},
		},
		Tools:           []model.Tool{{Name: "f", Description: "does f", Schema: json.RawMessage(`{"type":"object","additionalProperties":false}`)}, {Name: "g"}},
		MaxOutputTokens: 100,
	}
}

func TestRequestOnTheWire(t *testing.T) {
	type object = map[string]any
	call := func(id, name string, args object) object {
		return object{"functionCall": object{"id": id, "name": name, "args": args}}
	}
	first := call("1", "f", object{"b": 12345678901234567890.0, "a": "<&>"})
	first["thoughtSignature"] = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
	result := func(id, name, key, text string) object {
		return object{"functionResponse": object{"id": id, "name": name, "response": object{key: text}}}
	}
	want := object{
		"systemInstruction": object{"parts": []any{object{"text": "be brief"}}},
		"contents": []any{
			object{"role": "user", "parts": []any{object{"text": "q"}}},
			object{"role": "model", "parts": []any{first, call("2", "g", object{}), call("3", "h", object{"not_an_object": "[oops"})}},
			object{"role": "user", "parts": []any{
				result("1", "f", "output", "found"), result("2", "g", "output", ""), result("3", "h", "error", "bad arguments"),
			}},
			object{"role": "model", "parts": []any{object{"text": "(empty)"}}},
			object{"role": "user", "parts": []any{object{"text": "(empty)"}}},
		},
		"tools": []any{object{"functionDeclarations": []any{
			object{"name": "f", "description": "does f", "parametersJsonSchema": object{"type": "object", "additionalProperties": false}},
			object{"name": "g"},
		}}},
		"generationConfig": object{"maxOutputTokens": 100.0},
	}
	if diff := cmp.Diff(want, sent(t, wholeRequest())); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestNothingIsSentForWhatIsNotAskedFor(t *testing.T) {
	want := map[string]any{"contents": []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": "hello"}}}}}
	if diff := cmp.Diff(want, sent(t, hello())); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestResultsOfTwoTurnsAreNotGroupedTogether(t *testing.T) {
	turn := func(id string) []model.Message {
		return []model.Message{
			{Role: model.Assistant, Text: "so " + id, ToolCalls: []model.ToolCall{{ID: id, Name: "f", Arguments: "{}"}}},
			{Role: model.ToolRole, ToolCallID: id, ToolName: "f", Text: "result " + id},
		}
	}
	req := hello()
	req.Messages = append(append(req.Messages, turn("a")...), turn("b")...)
	contents, _ := sent(t, req)["contents"].([]any)
	if len(contents) != 5 {
		t.Errorf("got %d contents; want 5: %v", len(contents), contents)
	}
}

func TestWrongRequestIsInvalidWithoutBeingSent(t *testing.T) {
	server := modeltest.NewServer(t)
	for says, req := range map[string]model.Request{
		`message 0 has the role "system"`: {Messages: []model.Message{{Role: "system", Text: "x"}}},
		`schema of tool "f"`:              {Tools: []model.Tool{{Name: "f", Schema: json.RawMessage(`{`)}}},
		`message 0 is a tool's result`:    {Messages: []model.Message{{Role: model.ToolRole, ToolCallID: "1", Text: "x"}}},
	} {
		resp, err := connect(t, server).Chat(t.Context(), req, nil)
		if model.KindOf(err) != model.Invalid || resp.Attempts != 0 || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v after %d attempts; want invalid after none, saying %s", err, resp.Attempts, says)
		}
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}
