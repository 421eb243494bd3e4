package openai_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func byResponses(c *openai.Config) { c.API = openai.Responses }

// events is a stream of the Responses API, each event by its fields.
func events(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte("{"+part+"}"), &kind)
		b.WriteString("event: " + kind.Type + "\ndata: {" + part + "}\n\n")
	}
	return b.String()
}

func rawEvents(parts ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: events(parts...)}}
}

const (
	created     = `"type":"response.created","response":{"id":"resp_1","status":"in_progress","output":[]}`
	ended       = `"type":"response.completed","response":{"status":"completed"}`
	reasonItem  = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAA<b>=="}`
	messageItem = `{"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Let me look.","annotations":[]}]}`
	callItem    = `{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"f","arguments":"{\"q\":1}"}`
)

func itemDone(at, item string) string {
	return `"type":"response.output_item.done","output_index":` + at + `,"item":` + item
}

func textPart(at, text string) string {
	return `"type":"response.output_text.delta","output_index":` + at + `,"content_index":0,"delta":"` + text + `"`
}

func TestResponseIsAskedForAsTheAPISays(t *testing.T) {
	for name, c := range map[string]struct {
		adjust func(*openai.Config, *model.Request)
		want   map[string]any
	}{
		"a reasoning model": {func(*openai.Config, *model.Request) {}, map[string]any{
			"include": []any{"reasoning.encrypted_content"}, "reasoning": map[string]any{"summary": "auto"}}},
		"much thinking": {func(c *openai.Config, _ *model.Request) { c.Think = "high" }, map[string]any{
			"include": []any{"reasoning.encrypted_content"}, "reasoning": map[string]any{"effort": "high", "summary": "auto"}}},
		"a model that does not reason": {func(c *openai.Config, _ *model.Request) { c.Model = "gpt-4.1" }, map[string]any{"model": "gpt-4.1"}},
		"a model of ChatGPT":           {func(c *openai.Config, _ *model.Request) { c.Model = "chatgpt-4o-latest" }, map[string]any{"model": "chatgpt-4o-latest"}},
		"limits, a schema, and no calls": {func(c *openai.Config, req *model.Request) {
			c.Model, req.MaxOutputTokens, req.NoCalls = "gpt-4.1", 7, true
			req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false,"required":[]}`)}
		}, map[string]any{"model": "gpt-4.1", "max_output_tokens": 7.0, "tool_choice": "none", "text": map[string]any{"format": map[string]any{
			"type": "json_schema", "name": "x", "strict": true, "schema": map[string]any{
				"type": "object", "properties": map[string]any{}, "additionalProperties": false, "required": []any{}}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			config := openai.Config{Model: "gpt-5.1"}
			req := hinted()
			req.System = "be brief"
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: "so"}, model.Message{Role: model.User},
				model.Message{Role: model.Assistant, Text: "both", ToolCalls: []model.ToolCall{{ID: "2", Name: "f", Arguments: "[oops"}, {ID: "3", Name: "f"}}},
				model.Message{Role: model.ToolRole, ToolCallID: "2", Text: "bad", IsError: true}, model.Message{Role: model.ToolRole, ToolCallID: "3"})
			c.adjust(&config, &req)
			got := sent(t, req, byResponses, func(c *openai.Config) { c.Model, c.Think = config.Model, config.Think })
			call := func(id, arguments string) any {
				return map[string]any{"type": "function_call", "call_id": id, "name": "f", "arguments": arguments}
			}
			result := func(id, text string) any {
				return map[string]any{"type": "function_call_output", "call_id": id, "output": text}
			}
			said := func(text string) any { return map[string]any{"role": "assistant", "content": text} }
			want := map[string]any{
				"model": config.Model, "instructions": "be brief", "stream": true, "store": false,
				"input": []any{
					user("q"), call("call_1", "{}"), result("call_1", "found"), user("go on"), said("so"), user("(empty)"),
					said("both"), call("2", `{"not_an_object":"[oops"}`), call("3", "{}"), result("2", "The tool failed: bad"), result("3", "(empty)"),
				},
				"tools": []any{map[string]any{"type": "function", "name": "f", "strict": false,
					"parameters": map[string]any{"type": "object", "properties": map[string]any{}}}},
			}
			maps.Copy(want, c.want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
		})
	}
}

func TestItemsOfAResponseGoBackWithTheirReasoning(t *testing.T) {
	server := modeltest.NewServer(t,
		rawEvents(itemDone("0", reasonItem), textPart("1", "Let me look."), itemDone("2", callItem), itemDone("1", messageItem), ended), modeltest.Stream("ok"))
	m := connect(t, server, byResponses)
	first, err := m.Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	first = reread(t, first)
	ask(t, m, after(first))
	got := server.Last().At("input").([]any)
	var want []any
	if err := json.Unmarshal([]byte("["+reasonItem+","+messageItem+","+callItem+"]"), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got[1:4]); diff != "" {
		t.Errorf("the turn went back as (-want +got):\n%s", diff)
	}
	for name, adjust := range map[string]func(*model.Request, *openai.Config){
		"other calls than it holds": func(req *model.Request, _ *openai.Config) {
			req.Messages[1].ToolCalls = []model.ToolCall{{ID: "call_2", Name: "f", Arguments: "{}"}}
			req.Messages[2].ToolCallID = "call_2"
		},
		"more calls than it holds": func(req *model.Request, _ *openai.Config) {
			req.Messages[1].ToolCalls = append(req.Messages[1].ToolCalls[:1:1], model.ToolCall{ID: "call_2", Name: "f"})
			req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: "call_2"})
		},
		"items of no type": func(req *model.Request, _ *openai.Config) {
			req.Messages[1].Native = &model.Native{Provider: "house", Turn: json.RawMessage(`{"model":"llama3.1:8b","items":[{}]}`)}
		},
		"chat completions": func(_ *model.Request, c *openai.Config) { c.API = openai.Chat },
	} {
		server.Add(modeltest.Stream("ok"))
		req := after(first)
		ask(t, connect(t, server, byResponses, func(c *openai.Config) { adjust(&req, c) }), req)
		if body := server.Last().Body; strings.Contains(body, "gAAA") || !strings.Contains(body, "Let me look.") {
			t.Errorf("%s: sent %s", name, body)
		}
	}
}

func TestReasoningThatCameWithoutItsContentDoesNotGoBack(t *testing.T) {
	server := modeltest.NewServer(t, rawEvents(itemDone("0", `{"id":"rs_1","type":"reasoning","summary":[]}`), itemDone("1", callItem), ended), modeltest.Stream("ok"))
	m := connect(t, server, byResponses)
	first, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || first.Native != nil {
		t.Fatalf("kept %+v, %v", first.Native, err)
	}
	ask(t, m, after(first))
}

func TestWhatAModelHasNotIsNotAskedOfItAgain(t *testing.T) {
	for said, field := range map[string]string{
		"Encrypted content is not supported with this model.":                              "include",
		"Unknown parameter: 'include[0]' reasoning.encrypted_content":                      "include",
		"Your organization must be verified to generate reasoning summaries. Please go to": "reasoning",
		"Unsupported parameter: 'reasoning.summary' is not supported with this model.":     "reasoning",
		"Invalid parameter: 'text.format' of type 'json_schema' is not supported":          "text",
	} {
		server := modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Status: 400, Body: `{"error":{"message":"` + said + `"}}`}},
			modeltest.Stream("ok"), modeltest.Stream("ok"))
		m := connect(t, server, byResponses)
		req := hello()
		req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(`{"type":"object"}`)}
		for i, want := range []int{2, 1} {
			if resp := ask(t, m, req); resp.Attempts != want {
				t.Errorf("%s: answer %d took %d requests; want %d", said, i, resp.Attempts, want)
			}
		}
		first, last := server.Requests()[0].Body, server.Requests()[2].Body
		if !strings.Contains(first, `"`+field+`":`) || strings.Contains(last, `"`+field+`":`) {
			t.Errorf("%s: sent %s, then %s", said, first, last)
		}
	}
}
