package openai_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// raw is an answer of these events, one line each.
func raw(events ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(events, "\n\n") + "\n\n"}}
}

func delta(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`
}

func calls(parts string) string {
	return `data: {"choices":[{"index":0,"delta":{"tool_calls":[` + parts + `]}}]}`
}

const (
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done = `data: [DONE]`
)

func TestDifferencesOfCompatibleEndpointsAreAccepted(t *testing.T) {
	search := model.ToolCall{ID: "a", Name: "search", Arguments: `{"q":"x"}`}
	fetch := model.ToolCall{ID: "b", Name: "fetch", Arguments: `{"u":"y"}`}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Response
	}{
		{
			"no finish reason before DONE",
			raw(delta("hi"), done),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"no DONE after the finish reason",
			raw(delta("hi"), stop),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"no blank lines, no space after data, CRLF, comments and other fields",
			modeltest.Answer{Raw: &modeltest.Raw{Body: ": keep-alive\r\nevent: x\r\nid: 1\r\nretry: 3\r\ndata:{\"choices\":[{\"delta\":" +
				"{\"content\":\"hi\"}}]}\r\n: keep-alive\r\n" + stop + "\r\ndata:[DONE]"}},
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"a whole JSON answer",
			modeltest.Answer{Raw: &modeltest.Raw{
				Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}},
				Body: `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"hi","tool_calls":[
					{"id":"a","type":"function","function":{"name":"search","arguments":"{\"q\":\"x\"}"}}]}}],
					"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
			}},
			model.Response{
				Text: "hi", Finish: model.FinishTools, ToolCalls: []model.ToolCall{search},
				Usage: model.Usage{InputTokens: 3, OutputTokens: 2},
			},
		}, {
			"usage in every part, the last counts",
			raw(`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`,
				`data: {"choices":[{"delta":{"content":"b"}}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`, stop, done),
			model.Response{Text: "ab", Finish: model.FinishStop, Usage: model.Usage{InputTokens: 9, OutputTokens: 2}},
		}, {
			"reasoning is no text",
			raw(`data: {"choices":[{"delta":{"reasoning_content":"hmm","reasoning":"hmm","content":null}}]}`, delta("hi"), stop, done),
			model.Response{Text: "hi", Finish: model.FinishStop, Native: &model.Native{Provider: "house",
				Turn: json.RawMessage(`{"model":"llama3.1:8b","fields":{"reasoning":"hmm","reasoning_content":"hmm"}}`)}},
		}, {
			"other choices are not mixed in",
			raw(`data: {"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"length"}]}`, delta("hi"), stop, done),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"a part does not keep what the one before it held",
			raw(delta("hi"), `data: {"choices":[{}]}`, `data: {"choices":[]}`, `data: {}`, stop, done),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"an unknown finish reason",
			raw(delta("hi"), `data: {"choices":[{"delta":{},"finish_reason":"eos_by_magic"}]}`, done),
			model.Response{Text: "hi", Finish: model.FinishOther},
		}, {
			"interleaved parts, ids in the first parts only",
			raw(calls(`{"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}}`),
				calls(`{"index":1,"id":"b","type":"function","function":{"name":"fetch","arguments":"{"}}`),
				calls(`{"index":0,"function":{"arguments":"{\"q\":"}},{"index":1,"function":{"arguments":"\"u\":"}}`),
				calls(`{"index":1,"function":{"arguments":"\"y\"}"}}`),
				calls(`{"index":0,"function":{"arguments":"\"x\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}},
		}, {
			"whole calls without an index",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":"{\"q\":\"x\"}"}}`),
				calls(`{"id":"b","function":{"name":"fetch","arguments":"{\"u\":\"y\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}},
		}, {
			"whole calls in one part without an index",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":"{\"q\":\"x\"}"}},`+
				`{"id":"b","function":{"name":"fetch","arguments":"{\"u\":\"y\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}},
		}, {
			"parts without an index, the first with an id",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":"{\"q\""}}`),
				calls(`{"function":{"arguments":":\"x\"}"}}`),
				calls(`{"id":"b","function":{"name":"fetch","arguments":"{\"u\""}}`),
				calls(`{"id":"b","function":{"arguments":":\"y\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}},
		}, {
			"every whole call counted as number 0",
			raw(calls(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\":\"x\"}"}}`),
				calls(`{"index":0,"id":"b","function":{"name":"fetch","arguments":"{\"u\":\"y\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}},
		}, {
			"id and name repeated in every part",
			raw(calls(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\""}}`),
				calls(`{"index":0,"id":"a","function":{"name":"search","arguments":":\"x\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search}},
		}, {
			"another id in every part",
			raw(calls(`{"index":0,"id":"a","function":{"name":"search","arguments":"{\"q\""}}`),
				calls(`{"index":0,"id":"b","function":{"arguments":":\"x\"}"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search}},
		}, {
			"arguments as an object, as null and not at all",
			raw(calls(`{"index":0,"id":"a","function":{"name":"search","arguments":{"q":"x"}}}`),
				calls(`{"index":1,"id":"c","function":{"name":"list","arguments":null}}`),
				calls(`{"index":2,"id":"d","function":{"name":"list"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{
				search, {ID: "c", Name: "list", Arguments: "{}"}, {ID: "d", Name: "list", Arguments: "{}"},
			}},
		}, {
			"arguments that are no JSON are passed on",
			raw(calls(`{"index":0,"id":"a","function":{"name":"search","arguments":"{q: x"}}`), stop, done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{q: x"}}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewOpenAIServer(t, c.answer))
			var emitted string
			got, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if emitted != got.Text {
				t.Errorf("emitted %q, text %q", emitted, got.Text)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(model.Response{}, "Model", "Attempts")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCallsWithoutAnIDOfTheirOwnGetOne(t *testing.T) {
	for name, answer := range map[string]modeltest.Answer{
		"no ids":    raw(calls(`{"function":{"name":"a","arguments":"{}"}}`), calls(`{"function":{"name":"b"}}`), stop, done),
		"one index": raw(calls(`{"index":0,"function":{"name":"a","arguments":"{}"}}`), calls(`{"index":0,"function":{"name":"b"}}`), done),
		"same id":   raw(calls(`{"index":0,"id":"x","function":{"name":"a"}}`), calls(`{"index":1,"id":"x","function":{"name":"b"}}`), done),
	} {
		got, err := connect(t, modeltest.NewOpenAIServer(t, answer)).Chat(t.Context(), hello(), nil)
		if err != nil || len(got.ToolCalls) != 2 || got.ToolCalls[0].Name != "a" || got.ToolCalls[1].Name != "b" {
			t.Fatalf("%s: got %v, %v; want calls of a and b", name, got.ToolCalls, err)
		}
		first, second := got.ToolCalls[0].ID, got.ToolCalls[1].ID
		if first == "" || second == "" || first == second {
			t.Errorf("%s: ids %q and %q; want two different ones", name, first, second)
		}
	}
}

func TestBadAnswerHasItsKindAndKeepsWhatHadArrived(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	var tooMuch, tooManyCalls []string
	for range 9 {
		tooMuch = append(tooMuch, calls(`{"index":0,"id":"a","function":{"name":"f","arguments":"`+huge+`"}}`))
	}
	for range 257 {
		tooManyCalls = append(tooManyCalls, calls(`{"function":{"name":"f"}}`))
	}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.Kind
		text   string
		says   string
	}{
		{"end without finish", raw(delta("half")), model.Server, "half", "cut"},
		{"end inside a line", modeltest.Answer{Raw: &modeltest.Raw{Body: delta("half") + "\n\ndata: {\"cho"}}, model.Server, "half", "cut"},
		{"nothing at all", modeltest.Answer{Raw: &modeltest.Raw{}}, model.Server, "", "cut"},
		{"a part that is no JSON", raw(delta("half"), `data: {"choices":[`, stop, done), model.Garbled, "half", "JSON"},
		{"a large part nested without end", raw(delta("half"), `data: {"x":`+strings.Repeat("[", 4<<20)), model.Garbled, "half", "JSON"},
		{"a part nested without end", raw(delta("half"), `data: {"x":`+strings.Repeat("[", 60<<10)), model.Garbled, "half", "JSON"},
		{"a part of another shape", raw(delta("half"), `data: {"choices":"none"}`, done), model.Garbled, "half", "JSON"},
		{"parts of another protocol", raw(`data: {"type":"message_start"}`, done), model.Garbled, "", "no choice"},
		{
			"a JSON answer that is cut",
			modeltest.Answer{Raw: &modeltest.Raw{
				Header: http.Header{"Content-Type": {"application/json"}, "Content-Length": {"100"}}, Body: `{"choices":[`,
			}},
			model.Server, "", "cut",
		},
		{
			"a JSON answer larger than 8 MB",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"application/json"}}, Body: strings.Repeat(huge, 9)}},
			model.Garbled, "", "8 MB",
		},
		{"no event stream", raw("It works!"), model.Garbled, "", "/v1"},
		{
			"a web page",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>"}},
			model.Garbled, "", "/v1",
		},
		{
			"JSON without a choice",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"status":"ok"}`}},
			model.Garbled, "", "no choice",
		},
		{"a call without a name", raw(calls(`{"index":0,"function":{"arguments":"{}"}}`), stop, done), model.Garbled, "", "naming"},
		{"arguments larger than 1 MB", raw(append(tooMuch, stop, done)...), model.Garbled, "", "1 MB"},
		{"one line larger than 8 MB", raw(delta("half"), delta(strings.Repeat(huge, 9))), model.Garbled, "half", "8 MB"},
		{"more than 256 calls", raw(append(tooManyCalls, stop, done)...), model.Garbled, "", "256"},
		{
			"refusal",
			raw(`data: {"choices":[{"delta":{"refusal":"I cannot "}}]}`, `data: {"choices":[{"delta":{"refusal":"do that."}}]}`, stop, done),
			model.Refused, "", "I cannot do that.",
		},
		{"filter that left nothing", raw(`data: {"choices":[{"delta":{},"finish_reason":"content_filter"}]}`, done), model.Refused, "", "filter"},
		{"error inside the stream", raw(delta("half"), `data: {"error":{"message":"overloaded","type":"server_error"}}`), model.Overloaded, "half", "overloaded"},
		{"rate limit inside the stream", raw(delta("half"), `data: {"error":{"message":"slow down","code":429}}`), model.RateLimit, "half", "slow down"},
		{"error with no data field", raw(delta("half"), `{"error":"model crashed"}`), model.Server, "half", "model crashed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewOpenAIServer(t, c.answer))
			var emitted string
			resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want kind %s, saying %q", err, c.kind, c.says)
			}
			if resp.Text != c.text || emitted != c.text {
				t.Errorf("kept %q, emitted %q; want %q", resp.Text, emitted, c.text)
			}
		})
	}
}
