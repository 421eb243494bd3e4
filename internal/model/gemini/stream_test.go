package gemini_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/genai"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// raw is an answer of these events, one line each.
func raw(events ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(events, "\r\n\r\n") + "\r\n\r\n"}}
}

func parts(list ...string) string {
	return `data: {"candidates": [{"content": {"parts": [` + strings.Join(list, ", ") + `],"role": "model"},"index": 0}]}`
}

func text(s string) string { return parts(`{"text": "` + s + `"}`) }

func finish(reason string) string {
	return `data: {"candidates": [{"finishReason": "` + reason + `","index": 0}]}`
}

var stop = finish("STOP")

func TestAnswerIsReadFromItsStream(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Response
	}{
		{
			"finish in the event of the last text",
			raw(text("he"), `data: {"candidates": [{"content": {"parts": [{"text": "llo"}]},"finishReason": "STOP"}]}`),
			model.Response{Text: "hello", Finish: model.FinishStop},
		}, {
			"text after the finish, which old models repeat in every event",
			raw(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`,
				`data: {"candidates":[{"content":{"parts":[{"text":"b"}]},"finishReason":"MAX_TOKENS"}]}`),
			model.Response{Text: "ab", Finish: model.FinishLength},
		}, {
			"LF, no space after data, comments, other fields and no end of the last line",
			modeltest.Answer{Raw: &modeltest.Raw{Body: ": hi\nevent: x\nid: 1\nretry: 3\ndata:{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]}," +
				"\"finishReason\":\"STOP\"}]}"}},
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"thoughts are no text, and cost as output",
			raw(parts(`{"text": "secret","thought": true}`, `{"text": "open"}`), stop,
				`data: {"usageMetadata": {"promptTokenCount": 9,"toolUsePromptTokenCount": 1,"cachedContentTokenCount": 4,"candidatesTokenCount": 2,"thoughtsTokenCount": 30}}`),
			model.Response{Text: "open", Finish: model.FinishStop, Usage: model.Usage{InputTokens: 10, OutputTokens: 32, CachedTokens: 4}},
		}, {
			"usage in every event, the last counts",
			raw(`data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1}}`,
				`data: {"candidates":[{"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`),
			model.Response{Text: "a", Finish: model.FinishStop, Usage: model.Usage{InputTokens: 9, OutputTokens: 2}},
		}, {
			"other candidates are not mixed in",
			raw(`data: {"candidates":[{"index":1,"content":{"parts":[{"text":"other"}]},"finishReason":"MAX_TOKENS"}]}`, text("hi"), stop),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"calls between texts, several in an event, with spacing, null and no arguments",
			raw(text("a"), parts(`{"functionCall": {"id": "1","name": "f","args": {"q": "x y",  "n": 1.0}}}`, `{"functionCall": {"id": "2","name": "g","args": null}}`),
				text("b"), parts(`{"functionCall": {"id": "3","name": "g"}}`), stop),
			model.Response{Text: "ab", Finish: model.FinishTools, ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"q":"x y","n":1.0}`}, {ID: "2", Name: "g", Arguments: "{}"}, {ID: "3", Name: "g", Arguments: "{}"},
			}},
		}, {
			"calls of an answer that was cut by its limit",
			raw(parts(`{"functionCall": {"id": "1","name": "f"}}`), finish("MAX_TOKENS")),
			model.Response{Finish: model.FinishLength, ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}},
		}, {
			"an error that is none", raw(`data: {"candidates": [{"content": {"parts": [{"text": "hi"}]},"finishReason": "STOP"}],"error": null}`),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"a call before the filter",
			raw(parts(`{"functionCall": {"id": "1","name": "f"}}`), finish("SAFETY")),
			model.Response{Finish: model.FinishFilter, ToolCalls: []model.ToolCall{{ID: "1", Name: "f", Arguments: "{}"}}},
		}, {
			"an answer without a word", raw(parts(`{"text": ""}`), stop), model.Response{Finish: model.FinishStop},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewGeminiServer(t, c.answer))
			var emitted string
			got, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if emitted != got.Text {
				t.Errorf("emitted %q, text %q", emitted, got.Text)
			}
			if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(model.Response{}, "Model", "Attempts", "Native")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFinishReasonHasItsMeaning(t *testing.T) {
	for reason, want := range map[string]model.Finish{
		string(genai.FinishReasonStop): model.FinishStop, string(genai.FinishReasonMaxTokens): model.FinishLength,
		string(genai.FinishReasonSafety): model.FinishFilter, string(genai.FinishReasonRecitation): model.FinishFilter,
		string(genai.FinishReasonProhibitedContent): model.FinishFilter, string(genai.FinishReasonBlocklist): model.FinishFilter,
		string(genai.FinishReasonSPII): model.FinishFilter, string(genai.FinishReasonImageSafety): model.FinishFilter,
		string(genai.FinishReasonImageProhibitedContent): model.FinishFilter, string(genai.FinishReasonImageRecitation): model.FinishFilter,
		string(genai.FinishReasonLanguage): model.FinishOther, string(genai.FinishReasonTooManyToolCalls): model.FinishOther,
		"BY_MAGIC": model.FinishOther,
	} {
		got, err := connect(t, modeltest.NewGeminiServer(t, raw(text("hi"), finish(reason)))).Chat(t.Context(), hello(), nil)
		if err != nil || got.Finish != want || got.Text != "hi" {
			t.Errorf("%s: got %q with %q, %v; want %s", reason, got.Text, got.Finish, err, want)
		}
	}
}

func TestAnswerOf256CallsIsAccepted(t *testing.T) {
	events := append(slices.Repeat([]string{parts(`{"functionCall": {"name": "f"}}`)}, 256), stop)
	got, err := connect(t, modeltest.NewGeminiServer(t, raw(events...))).Chat(t.Context(), hello(), nil)
	if err != nil || len(got.ToolCalls) != 256 {
		t.Errorf("got %d calls, %v", len(got.ToolCalls), err)
	}
}

func TestBadAnswerHasItsKindAndKeepsWhatHadArrived(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	var tooMuch, tooManyCalls []string
	for range 9 {
		tooMuch = append(tooMuch, parts(`{"functionCall": {"name": "f","args": {"a": "`+huge+`"}}}`))
	}
	for range 257 {
		tooManyCalls = append(tooManyCalls, parts(`{"functionCall": {"name": "f"}}`))
	}
	overloaded := "{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"The model is overloaded.\",\n    \"status\": \"UNAVAILABLE\"\n  }\n}\n"
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		kind   model.Kind
		text   string
		says   string
	}{
		{"end without finish", raw(text("half")), model.Server, "half", "cut"},
		{"end inside a line", modeltest.Answer{Raw: &modeltest.Raw{Body: text("half") + "\n\ndata: {\"cand"}}, model.Server, "half", "cut"},
		{"nothing at all", modeltest.Answer{Raw: &modeltest.Raw{}}, model.Server, "", "cut"},
		{"an event that is no JSON", raw(text("half"), `data: {"candidates":[`, stop), model.Garbled, "half", "JSON"},
		{"an event nested without end", raw(text("half"), `data: {"x":`+strings.Repeat("[", 4<<20)), model.Garbled, "half", "JSON"},
		{"an event of another shape", raw(text("half"), `data: {"candidates":"none"}`), model.Garbled, "half", "JSON"},
		{"a part of another shape", raw(text("half"), parts(`"x"`)), model.Garbled, "half", "part"},
		{"events of another protocol", raw(`data: {"choices":[{"delta":{"content":"hi"}}]}`), model.Garbled, "", "/v1beta"},
		{"no event stream", raw("It works!"), model.Garbled, "", "/v1beta"},
		{"a web page", raw("<html>\n<body>"), model.Garbled, "", "/v1beta"},
		{"JSON that is no error", raw(`{"status": "ok"}`), model.Garbled, "", "no event"},
		{"much JSON that is no event", raw("[" + strings.Repeat("\n[", 70<<10)), model.Garbled, "", "no event"},
		{"a call without a name", raw(parts(`{"functionCall": {"args": {}}}`), stop), model.Garbled, "", "naming"},
		{"calls larger than 1 MB", raw(append(tooMuch, stop)...), model.Garbled, "", "1 MB"},
		{"one line larger than 8 MB", raw(text("half"), text(strings.Repeat(huge, 9))), model.Garbled, "half", "8 MB"},
		{"more than 256 calls", raw(append(tooManyCalls, stop)...), model.Garbled, "", "256"},
		{"blocked prompt", raw(`data: {"promptFeedback": {"blockReason": "SAFETY","blockReasonMessage": "no weapons"}}`), model.Refused, "", "SAFETY (no weapons)"},
		{"prompt found blocked while answering", raw(text("half"), `data: {"promptFeedback": {"blockReason": "OTHER"}}`), model.Refused, "half", "OTHER"},
		{"filter that left nothing", raw(finish("SAFETY")), model.Refused, "", "SAFETY"},
		{"prohibited content", raw(finish("PROHIBITED_CONTENT")), model.Refused, "", "PROHIBITED_CONTENT"},
		{
			"a call that the provider could not read",
			raw(text("half"), `data: {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL","finishMessage": "print(f())"}]}`),
			model.Garbled, "half", "print(f())",
		},
		{"a call of a tool that is not there", raw(finish("UNEXPECTED_TOOL_CALL")), model.Garbled, "", "UNEXPECTED_TOOL_CALL"},
		{"nothing for too many calls", raw(finish("TOO_MANY_TOOL_CALLS")), model.Garbled, "", "TOO_MANY_TOOL_CALLS"},
		{"error in an event", raw(text("half"), `data: {"error": {"code": 503,"message": "overloaded","status": "UNAVAILABLE"}}`), model.Overloaded, "half", "overloaded"},
		{"error in an event by its code alone", raw(text("half"), `data: {"error": {"code": "429","message": "slow down"}}`), model.RateLimit, "half", "slow down"},
		{"error in an event by its name alone", raw(text("half"), `data: {"error": {"message": "API key not valid","status": "INVALID_ARGUMENT"}}`), model.Auth, "half", "not valid"},
		{"error outside of any event", raw(text("half"), overloaded), model.Overloaded, "half", "overloaded"},
		{"error outside of any event after the finish", raw(text("half"), stop, overloaded), model.Overloaded, "half", "overloaded"},
		{"error in an array", raw(text("half"), "["+overloaded+"]"), model.Overloaded, "half", "overloaded"},
		{"error that is cut", raw(text("half"), stop, overloaded[:40]), model.Server, "half", "cut"},
		{"deadline in the stream", raw(text("half"), `data: {"error": {"code": 504,"message": "late","status": "DEADLINE_EXCEEDED"}}`), model.Timeout, "half", "late"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := connect(t, modeltest.NewGeminiServer(t, c.answer))
			var emitted string
			resp, err := m.Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if err == nil || model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want kind %s, saying %q", err, c.kind, c.says)
			}
			if resp.Text != c.text || emitted != c.text || resp.Native != nil {
				t.Errorf("kept %q, emitted %q, native %v; want %q", resp.Text, emitted, resp.Native, c.text)
			}
		})
	}
}
