package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

func TestStreamIsReadAsTheProtocolSays(t *testing.T) {
	search := model.ToolCall{ID: "a", Name: "search", Arguments: `{"q":"x"}`}
	fetch := model.ToolCall{ID: "b", Name: "fetch", Arguments: `{"u":"y"}`}
	counted := model.Usage{InputTokens: 3, OutputTokens: 2}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Response
	}{
		{
			"several texts are one",
			raw(start, begin(0, textBlock), textDelta(0, "a"), end(0), begin(1, textBlock), textDelta(1, "b"), end(1), finish("end_turn"), stop),
			model.Response{Text: "ab", Finish: model.FinishStop, Usage: counted},
		}, {
			"text that its block begins with",
			raw(start, begin(0, `"type":"text","text":"a"`), textDelta(0, "b"), end(0), finish("stop_sequence"), stop),
			model.Response{Text: "ab", Finish: model.FinishStop, Usage: counted},
		}, {
			"no content at all",
			raw(start, finish("end_turn"), stop),
			model.Response{Finish: model.FinishStop, Usage: counted},
		}, {
			"an empty text",
			raw(start, begin(0, textBlock), textDelta(0, ""), end(0), finish("end_turn"), stop),
			model.Response{Finish: model.FinishStop, Usage: counted},
		}, {
			"no event lines, no blank lines, no space after data, CRLF and comments",
			modeltest.Answer{Raw: &modeltest.Raw{Body: ": hi\r\nid: 1\r\nretry: 3\r\n" +
				"data:{\"type\":\"message_start\"}\r\n" +
				"data:{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\r\n: keep-alive\r\n" +
				"data:{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\r\n" +
				"data:{\"type\":\"message_stop\"}\r\n"}},
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"no end of the line after message_stop",
			modeltest.Answer{Raw: &modeltest.Raw{Body: start + `data: {"type":"message_stop"}`}},
			model.Response{Finish: model.FinishStop, Usage: model.Usage{InputTokens: 3, OutputTokens: 1}},
		}, {
			"pings, and types of events, blocks and deltas that nobody knows",
			raw(start, ping, event("weather", `"delta":"sunny","index":"north","message":7`),
				begin(0, `"type":"weather_report","text":"leak","name":"leak"`), textDelta(0, "leak"), argumentsDelta(0, "leak"), end(0),
				begin(1, textBlock), ping, delta(1, `"type":"weather_delta","forecast":"rain"`),
				delta(1, `"type":"citations_delta","citation":{"type":"page_location","cited_text":"leak"}`),
				textDelta(1, "hi"), end(1), ping, finish("end_turn"), stop),
			model.Response{Text: "hi", Finish: model.FinishStop, Usage: counted},
		}, {
			"calls that the provider makes itself are none of ours",
			raw(start, begin(0, `"type":"server_tool_use","id":"s","name":"web_search","input":{}`), argumentsDelta(0, `{"query":"x"}`), end(0),
				begin(1, `"type":"web_search_tool_result","tool_use_id":"s","content":[]`), end(1), finish("pause_turn"), stop),
			model.Response{Finish: model.FinishOther, Usage: counted},
		}, {
			"interleaved blocks",
			raw(start, begin(0, textBlock), begin(1, toolBlock("a", "search")), begin(2, toolBlock("b", "fetch")),
				argumentsDelta(2, `{"u"`), textDelta(0, "h"), argumentsDelta(1, `{"q":"x`), argumentsDelta(2, `:"y"}`), textDelta(0, "i"),
				argumentsDelta(1, `"}`), end(1), end(0), end(2), finish("tool_use"), stop),
			model.Response{Text: "hi", Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, fetch}, Usage: counted},
		}, {
			"arguments whole in the beginning of their block",
			raw(start, begin(0, `"type":"tool_use","id":"a","name":"search","input":{"q":"x"}`), end(0), finish("tool_use"), stop),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search}, Usage: counted},
		}, {
			"arguments null, blank and not at all",
			raw(start, begin(0, `"type":"tool_use","id":"a","name":"list","input":null`), begin(1, `"type":"tool_use","id":"b","name":"list"`),
				begin(2, toolBlock("c", "list")), argumentsDelta(2, " "), finish("tool_use"), stop),
			model.Response{Finish: model.FinishTools, Usage: counted, ToolCalls: []model.ToolCall{
				{ID: "a", Name: "list", Arguments: "{}"}, {ID: "b", Name: "list", Arguments: "{}"}, {ID: "c", Name: "list", Arguments: "{}"},
			}},
		}, {
			"arguments that are no JSON are passed on",
			raw(start, begin(0, toolBlock("a", "search")), argumentsDelta(0, "{q: x"), end(0), finish("max_tokens"), stop),
			model.Response{Finish: model.FinishLength, Usage: counted, ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{q: x"}}},
		}, {
			"end_turn after a call",
			raw(start, begin(0, toolBlock("a", "search")), argumentsDelta(0, `{"q":"x"}`), finish("end_turn"), stop),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search}, Usage: counted},
		}, {
			"a full window",
			raw(start, begin(0, textBlock), textDelta(0, "hi"), finish("model_context_window_exceeded"), stop),
			model.Response{Text: "hi", Finish: model.FinishLength, Usage: counted},
		}, {
			"a stop reason that nobody knows",
			raw(start, begin(0, textBlock), textDelta(0, "hi"), finish("bored"), stop),
			model.Response{Text: "hi", Finish: model.FinishOther, Usage: counted},
		}, {
			"a refusal in the middle",
			raw(start, begin(0, textBlock), textDelta(0, "hi"), finish("refusal"), stop),
			model.Response{Text: "hi", Finish: model.FinishFilter, Usage: counted},
		}, {
			"all kinds of input count, and nulls and zeros that come late replace nothing",
			raw(event("message_start", `"message":{"usage":{"input_tokens":3,"cache_read_input_tokens":20,"cache_creation_input_tokens":100,"output_tokens":1}}`),
				event("message_delta", `"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":null,"cache_read_input_tokens":0,"output_tokens":7}`),
				event("message_delta", `"delta":{"stop_reason":null},"usage":null`), stop),
			model.Response{Finish: model.FinishStop, Usage: model.Usage{InputTokens: 123, OutputTokens: 7, CachedTokens: 20}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewAnthropicServer(t, c.answer))
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

func TestBadAnswerHasItsKindAndKeepsWhatHadArrived(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	half := start + begin(0, textBlock) + textDelta(0, "half")
	failure := func(kind, message string) string {
		return event("error", `"error":{"type":"`+kind+`","message":"`+message+`"},"request_id":"req_1"`)
	}
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.Kind
		text   string
		says   string
	}{
		{"end without finish", raw(half), model.Server, "half", "cut"},
		{"end without message_stop", raw(half, end(0), finish("end_turn")), model.Server, "half", "cut"},
		{"end inside a line", raw(half, `data: {"type":"mess`), model.Server, "half", "cut"},
		{"nothing at all", raw(), model.Server, "", "cut"},
		{"an event that is no JSON", raw(half, "data: {\"type\":\n\n", stop), model.Garbled, "half", "JSON"},
		{"a large event nested without end", raw(half, `data: {"x":`+strings.Repeat("[", 4<<20), "\n\n"), model.Garbled, "half", "JSON"},
		{"an event of another shape", raw(half, event("content_block_delta", `"index":0,"delta":"none"`), stop), model.Garbled, "half", "JSON"},
		{"a block that never began", raw(half, textDelta(7, "x"), stop), model.Garbled, "half", "never began"},
		{"the end of no message", raw(stop), model.Garbled, "", "no message"},
		{"parts of another protocol", raw("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n"), model.Garbled, "", "JSON"},
		{"no event stream", raw("It works!"), model.Garbled, "", "base URL"},
		{
			"a whole answer where a stream was asked for",
			modeltest.Answer{Raw: &modeltest.Raw{
				Header: http.Header{"Content-Type": {"application/json"}},
				Body:   `{"type":"message","role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn"}`,
			}},
			model.Garbled, "", "not an event stream",
		},
		{
			"a web page",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>"}},
			model.Garbled, "", "base URL",
		},
		{"a call without a name", raw(start, begin(0, toolBlock("a", "")), finish("tool_use"), stop), model.Garbled, "", "naming"},
		{
			"arguments larger than 8 MB",
			raw(start, begin(0, toolBlock("a", "f")), strings.Repeat(argumentsDelta(0, huge), 9), finish("tool_use"), stop),
			model.Garbled, "", "1 MB",
		},
		{
			"thinking larger than 8 MB",
			raw(start, begin(0, thinkingBlock), strings.Repeat(delta(0, `"type":"thinking_delta","thinking":"`+huge+`"`), 9), stop),
			model.Garbled, "", "1 MB",
		},
		{"one line larger than 8 MB", raw(half, textDelta(0, strings.Repeat(huge, 9))), model.Garbled, "half", "8 MB"},
		{"more than 1024 blocks", raw(start, strings.Repeat(begin(0, `"type":"x"`), 1025)), model.Garbled, "", "1024"},
		{"refusal that left nothing", raw(start, finish("refusal"), stop), model.Refused, "", "refused"},
		{
			"refusal that says why",
			raw(start, begin(0, textBlock), end(0), event("message_delta",
				`"delta":{"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"This is against the rules."}}`), stop),
			model.Refused, "", "This is against the rules.",
		},
		{"overloaded inside the stream", raw(half, failure("overloaded_error", "Overloaded")), model.Overloaded, "half", "Overloaded"},
		{"failure inside the stream", raw(half, failure("api_error", "Internal server error")), model.Server, "half", "Internal"},
		{"rate limit inside the stream", raw(half, failure("rate_limit_error", "slow down")), model.RateLimit, "half", "slow down"},
		{"time-out inside the stream", raw(half, failure("timeout_error", "too slow")), model.Timeout, "half", "too slow"},
		{"overlong prompt inside the stream", raw(start, failure("invalid_request_error", "prompt is too long")), model.ContextLength, "", "too long"},
		{"bad request inside the stream", raw(start, failure("invalid_request_error", "odd argument")), model.Invalid, "", "odd argument"},
		{"unknown failure inside the stream", raw(half, failure("meteor_error", "impact")), model.Server, "half", "impact"},
		{"error of another shape", raw(half, "data: {\"error\":\"model crashed\"}\n\n"), model.Server, "half", "model crashed"},
		{"error with a message alone", raw(half, event("error", `"message":"model crashed"`)), model.Server, "half", "model crashed"},
		{"error with no data field", raw(`{"type":"error","error":{"type":"api_error","message":"model crashed"}}`), model.Server, "", "model crashed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewAnthropicServer(t, c.answer))
			var emitted string
			resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %.300v; want kind %s, saying %q", err, c.kind, c.says)
			}
			if resp.Text != c.text || emitted != c.text || resp.Native != nil {
				t.Errorf("kept %.100q, emitted %.100q, native %v; want %q and none", resp.Text, emitted, resp.Native, c.text)
			}
		})
	}
}

func TestLongLineIsReadWhole(t *testing.T) {
	text := strings.Repeat("ü🚀\n", 1<<17)
	m := connect(t, modeltest.NewAnthropicServer(t, modeltest.Stream(text, "end")))
	got, err := m.Chat(t.Context(), hello(), nil)
	if err != nil || got.Text != text+"end" {
		t.Errorf("got %d bytes, %v; want %d", len(got.Text), err, len(text)+3)
	}
}
