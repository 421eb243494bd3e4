package openai_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/openai"
)

func byResponses(c *openai.Config) { c.API = openai.Responses }

func TestResponsesAPIKeepsTheContract(t *testing.T) {
	modeltest.Suite(t, func(t *testing.T, s modeltest.Setup) modeltest.Subject {
		server := modeltest.NewOpenAIServer(t, s.Answers...)
		return server.Subject(connect(t, server, byResponses, func(c *openai.Config) {
			c.Idle, c.FirstByte, c.Key = s.Idle, s.FirstByte, s.Key
		}))
	})
}

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

func itemBegun(at, item string) string {
	return `"type":"response.output_item.added","output_index":` + at + `,"item":` + item
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

func TestResponseIsReadFromItsEvents(t *testing.T) {
	call := model.ToolCall{ID: "call_1", Name: "f", Arguments: `{"q":1}`}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Response
	}{
		{
			"text, calls and usage",
			rawEvents(created, itemBegun("0", `{"type":"message","content":[]}`), textPart("0", "Let me "), textPart("0", "look."), itemDone("0", messageItem),
				itemBegun("1", `{"type":"function_call","call_id":"call_1","name":"f","arguments":""}`),
				`"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"q\""`,
				`"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"q\":1}"`, itemDone("1", callItem),
				`"type":"response.completed","response":{"status":"completed","output":[`+messageItem+`,`+callItem+`],"incomplete_details":null,"error":null,`+
					`"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":14}}`),
			model.Response{Text: "Let me look.", ToolCalls: []model.ToolCall{call}, Finish: model.FinishTools,
				Usage: model.Usage{InputTokens: 9, OutputTokens: 5, CachedTokens: 4}},
		}, {
			"reasoning is no text",
			rawEvents(created, `"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"**think**"`,
				`"type":"response.reasoning_text.delta","output_index":0,"delta":"think"`, textPart("1", "hi"), ended),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"events and items that are not known",
			rawEvents(created, `"type":"keepalive","sequence_number":3`, `"type":"response.weather.delta","delta":{"rain":1}`,
				itemDone("0", `{"type":"weather","id":"w"}`), textPart("1", "hi"), ended),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"two messages are set apart",
			rawEvents(textPart("0", "First."), itemDone("0", messageItem), textPart("1", "Second"), textPart("1", "."), ended),
			model.Response{Text: "First.\n\nSecond.", Finish: model.FinishStop},
		}, {
			"items without deltas, the last one in the end alone",
			rawEvents(itemDone("0", messageItem), `"type":"response.completed","response":{"status":"completed","output":[`+messageItem+`,`+callItem+`]}`),
			model.Response{Text: "Let me look.", ToolCalls: []model.ToolCall{call}, Finish: model.FinishTools},
		}, {
			"calls that interleave",
			rawEvents(itemBegun("0", `{"type":"function_call","call_id":"call_1","name":"f"}`), itemBegun("1", `{"type":"function_call","call_id":"b","name":"g"}`),
				`"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"`,
				`"type":"response.function_call_arguments.delta","output_index":0,"delta":"{\"q\":1}"`, ended),
			model.Response{ToolCalls: []model.ToolCall{call, {ID: "b", Name: "g", Arguments: "{}"}}, Finish: model.FinishTools},
		}, {
			"cut short by the limit",
			rawEvents(textPart("0", "half"), `"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}`),
			model.Response{Text: "half", Finish: model.FinishLength},
		}, {
			"cut short by the filter",
			rawEvents(textPart("0", "half"), `"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`),
			model.Response{Text: "half", Finish: model.FinishFilter},
		}, {
			"a whole JSON answer",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"application/json"}},
				Body: `{"object":"response","status":"completed","output":[` + messageItem + `],"usage":{"input_tokens":3,"output_tokens":2}}`}},
			model.Response{Text: "Let me look.", Finish: model.FinishStop, Usage: model.Usage{InputTokens: 3, OutputTokens: 2}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var emitted string
			got, err := connect(t, modeltest.NewOpenAIServer(t, c.answer), byResponses).Chat(t.Context(), hello(),
				func(d model.Delta) error { emitted += d.Text; return nil })
			if err != nil || emitted != got.Text {
				t.Errorf("emitted %q, %v", emitted, err)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(model.Response{}, "Model", "Attempts")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBadResponseHasItsKindAndKeepsWhatHadArrived(t *testing.T) {
	var tooMany, tooMuch []string
	for i := range 1025 {
		tooMany = append(tooMany, itemBegun(strconv.Itoa(i), `{"type":"message"}`))
	}
	for range 9 {
		tooMuch = append(tooMuch, `"type":"response.function_call_arguments.delta","output_index":0,"delta":"`+strings.Repeat("x", 1<<20)+`"`)
	}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.Kind
		text   string
		says   string
	}{
		{"end without an end", rawEvents(created, textPart("0", "half")), model.Server, "half", "cut"},
		{"an error", rawEvents(created, textPart("0", "half"), `"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null`),
			model.RateLimit, "half", "slow down"},
		{"an error inside another", rawEvents(`"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"too long"}`),
			model.ContextLength, "", "too long"},
		{"a failed response", rawEvents(created, textPart("0", "half"),
			`"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"it broke"}}`), model.Server, "half", "it broke"},
		{"no money", rawEvents(`"type":"response.failed","response":{"status":"failed","error":{"code":"insufficient_quota","message":"pay"}}`), model.Payment, "", "pay"},
		{"a refusal", rawEvents(`"type":"response.refusal.delta","output_index":0,"delta":"I "`, `"type":"response.refusal.delta","output_index":0,"delta":"won't."`,
			itemDone("0", `{"type":"message","content":[{"type":"refusal","refusal":"I won't."}]}`), ended), model.Refused, "", "refused: I won't."},
		{"a refusal in one piece", rawEvents(itemDone("0", `{"type":"message","content":[{"type":"refusal","refusal":"I won't."}]}`), ended), model.Refused, "", "I won't."},
		{"a filter that left nothing", rawEvents(`"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}`),
			model.Refused, "", "filter"},
		{"an event that is no JSON", rawEvents(textPart("0", "half"), `"type":[`), model.Garbled, "half", "JSON"},
		{"an item that is none", rawEvents(itemDone("0", `7`)), model.Garbled, "", "JSON"},
		{"a call without a name", rawEvents(itemDone("0", `{"type":"function_call","call_id":"a","arguments":"{}"}`), ended), model.Garbled, "", "naming"},
		{"more parts than an answer has", rawEvents(tooMany...), model.Garbled, "", "1024"},
		{"arguments larger than 1 MB", rawEvents(tooMuch...), model.Garbled, "", "1 MB"},
		{"JSON without output", modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"status":"ok"}`}},
			model.Garbled, "", "/v1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, err := connect(t, modeltest.NewOpenAIServer(t, c.answer), byResponses).Chat(t.Context(), hello(), nil)
			if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || resp.Text != c.text {
				t.Errorf("got %q, %v; want %q and kind %s, saying %q", resp.Text, err, c.text, c.kind, c.says)
			}
		})
	}
}

func TestItemsOfAResponseGoBackWithTheirReasoning(t *testing.T) {
	server := modeltest.NewOpenAIServer(t,
		rawEvents(itemDone("0", reasonItem), textPart("1", "Let me look."), itemDone("2", callItem), itemDone("1", messageItem), ended), modeltest.Stream("ok"))
	m := connect(t, server, byResponses)
	first, err := m.Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	first = reread(t, first)
	ask(t, m, after(first))
	var got []any
	if err := json.Unmarshal(server.Requests()[1].Input, &got); err != nil {
		t.Fatal(err)
	}
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
		requests := server.Requests()
		if body := requests[len(requests)-1].Body; strings.Contains(body, "gAAA") || !strings.Contains(body, "Let me look.") {
			t.Errorf("%s: sent %s", name, body)
		}
	}
}

func TestReasoningThatCameWithoutItsContentDoesNotGoBack(t *testing.T) {
	server := modeltest.NewOpenAIServer(t, rawEvents(itemDone("0", `{"id":"rs_1","type":"reasoning","summary":[]}`), itemDone("1", callItem), ended), modeltest.Stream("ok"))
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
		server := modeltest.NewOpenAIServer(t, modeltest.Answer{Raw: &modeltest.Raw{Status: 400, Body: `{"error":{"message":"` + said + `"}}`}},
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

func overResponses(client *http.Client) model.Model {
	return openai.New(openai.Config{Provider: "house", Model: "m", BaseURL: "http://house/v1", HTTPClient: client, API: openai.Responses})
}

func TestWaitsForAResponseAreForProgress(t *testing.T) {
	modeltest.Clocks(t, overResponses, modeltest.Wire{
		Begin: events(created),
		Alive: []string{": keep-alive\n\n", events(`"type":"keepalive","sequence_number":1`), events(`"type":"response.in_progress","response":{"status":"in_progress"}`),
			events(itemBegun("0", `{"id":"rs_1","type":"reasoning","summary":[]}`)), events(textPart("1", ""))},
		Thought: events(`"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"hm"`),
		Text:    events(textPart("1", "word ")),
		End:     events(ended),
		Usage: func(input string) string {
			return events(`"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":` + input + `,"output_tokens":3}}`)
		},
	})
}

func FuzzResponseStream(f *testing.F) {
	modeltest.FuzzStreams(f, overResponses,
		events(created, textPart("0", "hi"), itemDone("0", messageItem), ended),
		events(itemDone("0", reasonItem), itemBegun("1", callItem), itemDone("1", callItem), ended),
		events(`"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[`+callItem+`]}`),
		events(`"type":"error","message":"x"`), events(`"type":"response.refusal.delta","delta":"no"`, ended)+"data: [DONE]\n",
	)
}
