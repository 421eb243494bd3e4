package ollama_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ollama/ollama/api"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/ollama"
)

// sent returns the request that req becomes.
func sent(t *testing.T, req model.Request, adjust ...func(*ollama.Config)) modeltest.Request {
	t.Helper()
	server := modeltest.NewServer(t, modeltest.Stream("ok"))
	if _, err := connect(t, server, adjust...).Chat(t.Context(), req, nil); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0]
}

// conversation has all that a request can hold.
func conversation() model.Request {
	return model.Request{
		System: "be brief",
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.Assistant, Text: "wait", ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"z":1,"a":9007199254740993}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "h", Arguments: "[oops"},
			}, Native: &model.Native{Provider: ollama.Ollama, Turn: json.RawMessage(`{"thinking":"hmm"}`)}},
			{Role: model.ToolRole, ToolCallID: "1", ToolName: "f", Text: "found"},
			{Role: model.ToolRole, ToolCallID: "2", ToolName: "g"},
			{Role: model.ToolRole, ToolCallID: "3", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.Assistant},
			{Role: model.User, Text: ""},
		},
		Tools: []model.Tool{
			{Name: "f", Description: "does f", Schema: json.RawMessage(
				`{"type":"object","properties":{"z":{"type":"integer","maximum":9},"a":{"type":["string","null"]}},"required":["z"],"additionalProperties":false}`)},
			{Name: "g"},
		},
		MaxOutputTokens: 100,
	}
}

func TestRequestOnTheWire(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal([]byte(sent(t, conversation(), func(c *ollama.Config) { c.NumCtx = 8192 }).Body), &got); err != nil {
		t.Fatal(err)
	}
	call := func(id string, index float64, name string, arguments map[string]any) any {
		return map[string]any{"id": id, "function": map[string]any{"index": index, "name": name, "arguments": arguments}}
	}
	want := map[string]any{
		"model": "llama3.1:8b", "stream": true, "truncate": false, "shift": false,
		"options": map[string]any{"num_ctx": 8192.0, "num_predict": 100.0},
		"messages": []any{
			map[string]any{"role": "system", "content": "be brief"},
			map[string]any{"role": "user", "content": "q"},
			map[string]any{"role": "assistant", "content": "wait", "thinking": "hmm", "tool_calls": []any{
				call("1", 0, "f", map[string]any{"z": 1.0, "a": 9007199254740993.0}), call("2", 1, "g", map[string]any{}),
				call("3", 2, "h", map[string]any{"not_an_object": "[oops"}),
			}},
			map[string]any{"role": "tool", "content": "found", "tool_name": "f", "tool_call_id": "1"},
			map[string]any{"role": "tool", "content": "", "tool_name": "g", "tool_call_id": "2"},
			map[string]any{"role": "tool", "content": "The tool failed: bad arguments", "tool_name": "h", "tool_call_id": "3"},
			map[string]any{"role": "assistant", "content": ""},
			map[string]any{"role": "user", "content": ""},
		},
		"tools": []any{
			map[string]any{"type": "function", "function": map[string]any{
				"name": "f", "description": "does f", "parameters": map[string]any{
					"type": "object", "required": []any{"z"}, "additionalProperties": false,
					"properties": map[string]any{
						"z": map[string]any{"type": "integer", "maximum": 9.0}, "a": map[string]any{"type": []any{"string", "null"}},
					},
				},
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

func TestArgumentsKeepTheirOrderAndTheirNumbers(t *testing.T) {
	if body := sent(t, conversation()).Body; !strings.Contains(body, `{"z":1,"a":9007199254740993}`) {
		t.Errorf("the arguments were changed: %s", body)
	}
}

func TestNothingIsCutUnasked(t *testing.T) {
	got := sent(t, hello())
	if got.At("truncate") != false || got.At("shift") != false {
		t.Errorf("sent %s; want neither, as the server's default is to cut", got.Body)
	}
	if got.At("options", "num_predict") != nil {
		t.Errorf("a limit was sent that nobody set: %s", got.Body)
	}
}

func TestOllamaReadsTheRequestAsItWasMeant(t *testing.T) {
	var got api.ChatRequest
	req := conversation()
	req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object"}`)}
	if err := json.Unmarshal([]byte(sent(t, req).Body), &got); err != nil {
		t.Fatalf("Ollama's own type cannot read the request: %v", err)
	}
	if got.Model != "llama3.1:8b" || !*got.Stream || len(got.Messages) != 8 || len(got.Tools) != 2 || got.Options["num_predict"] != 100.0 ||
		string(got.Format) != `{"type":"object"}` {
		t.Fatalf("read as %+v", got)
	}
	turn, result := got.Messages[2], got.Messages[3]
	if turn.Thinking != "hmm" || len(turn.ToolCalls) != 3 || turn.ToolCalls[0].ID != "1" || turn.ToolCalls[1].Function.Index != 1 {
		t.Errorf("the turn was read as %+v", turn)
	}
	if result.Role != "tool" || result.ToolName != "f" || result.ToolCallID != "1" {
		t.Errorf("the result was read as %+v", result)
	}
	if parameters := got.Tools[0].Function.Parameters; parameters.Properties.Len() != 2 || cmp.Diff([]string{"z"}, parameters.Required) != "" {
		t.Errorf("the parameters were read as %s", parameters.String())
	}
}

func TestThinkingGoesBackToItsOwnProviderOnly(t *testing.T) {
	for _, c := range []struct {
		native *model.Native
		want   string
	}{
		{&model.Native{Provider: ollama.Ollama, Turn: json.RawMessage(`{"thinking":"hmm"}`)}, "hmm"},
		{&model.Native{Provider: "another", Turn: json.RawMessage(`{"thinking":"hmm"}`)}, ""},
		{&model.Native{Provider: ollama.Ollama, Turn: json.RawMessage(`[`)}, ""},
		{nil, ""},
	} {
		req := hello()
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: "said", Native: c.native})
		got := sent(t, req)
		if thinking, _ := got.At("messages", "1", "thinking").(string); thinking != c.want || got.Messages[1].Content != "said" {
			t.Errorf("native %+v: sent %s; want the thinking %q", c.native, got.Body, c.want)
		}
	}
}
