package ollama_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/ollama/ollama/api"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// raw is an answer of these lines.
func raw(lines ...string) modeltest.Answer {
	return modeltest.Answer{Raw: &modeltest.Raw{Body: strings.Join(lines, "\n") + "\n"}}
}

func chunk(text string) string {
	return `{"model":"m","message":{"role":"assistant","content":"` + text + `"},"done":false}`
}

func calls(parts string) string {
	return `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[` + parts + `]},"done":false}`
}

const done = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`

func TestDifferencesOfServersAreAccepted(t *testing.T) {
	search := model.ToolCall{ID: "a", Name: "search", Arguments: `{"q":"x"}`}
	list := func(id string) model.ToolCall { return model.ToolCall{ID: id, Name: "list", Arguments: "{}"} }
	for _, c := range []struct {
		name   string
		answer modeltest.Answer
		want   model.Response
	}{
		{
			"a text in parts",
			raw(chunk("h"), chunk("i"), `{"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}`),
			model.Response{Text: "hi", Finish: model.FinishStop, Usage: model.Usage{InputTokens: 3, OutputTokens: 2}},
		}, {
			"one whole answer with its text in the last part, no line end, no reason",
			modeltest.Answer{Raw: &modeltest.Raw{
				Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"message":{"content":"hi"},"done":true}`,
			}},
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"blank lines and CRLF",
			modeltest.Answer{Raw: &modeltest.Raw{Body: "\r\n" + chunk("hi") + "\r\n\r\n" + done + "\r\n"}},
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"what follows the end is not read",
			raw(chunk("hi"), done, chunk("no"), "garbage"),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"an error that is null",
			raw(`{"message":{"content":"hi"},"error":null}`, done),
			model.Response{Text: "hi", Finish: model.FinishStop},
		}, {
			"an unknown reason",
			raw(`{"message":{"content":"hi"},"done":true,"done_reason":"unload"}`),
			model.Response{Text: "hi", Finish: model.FinishOther},
		}, {
			"thinking is no text",
			raw(`{"message":{"content":"","thinking":"hm"}}`, `{"message":{"content":"h","thinking":"m"}}`, chunk("i"), done),
			model.Response{
				Text: "hi", Finish: model.FinishStop,
				Native: &model.Native{Provider: "ollama", Turn: json.RawMessage(`{"thinking":"hmm"}`)},
			},
		}, {
			"several calls in one part, and one in the last",
			raw(calls(`{"id":"a","function":{"index":0,"name":"search","arguments":{"q":"x"}}},{"id":"b","function":{"name":"list","arguments":{}}}`),
				`{"message":{"tool_calls":[{"id":"c","function":{"name":"list","arguments":{}}}]},"done":true,"done_reason":"stop"}`),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, list("b"), list("c")}},
		}, {
			"a call in an answer cut by its length",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":{"q":"x"}}}`), `{"done":true,"done_reason":"length"}`),
			model.Response{Finish: model.FinishLength, ToolCalls: []model.ToolCall{search}},
		}, {
			"arguments as null, as an empty text and not at all",
			raw(calls(`{"id":"a","function":{"name":"list","arguments":null}}`), calls(`{"id":"b","function":{"name":"list","arguments":" "}}`),
				calls(`{"id":"c","function":{"name":"list"}}`), done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{list("a"), list("b"), list("c")}},
		}, {
			"arguments as the text that the model wrote",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":"{\"q\":\"x\"}"}},{"id":"b","function":{"name":"search","arguments":"{q: x"}}`), done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{search, {ID: "b", Name: "search", Arguments: "{q: x"}}},
		}, {
			"arguments keep order and numbers, and are easy to read",
			raw(calls(`{"id":"a","function":{"name":"search","arguments":{"z":9007199254740993,"a":"\u003cb\u003E \u0026 \\u003c \u00fc"}}}`), done),
			model.Response{Finish: model.FinishTools, ToolCalls: []model.ToolCall{
				{ID: "a", Name: "search", Arguments: `{"z":9007199254740993,"a":"<b> & \\u003c \u00fc"}`},
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var emitted string
			got, err := connect(t, modeltest.NewOllamaServer(t, c.answer)).
				Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
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
	var tooMuch, tooManyThoughts, tooManyCalls []string
	for range 9 {
		tooManyThoughts = append(tooManyThoughts, `{"message":{"thinking":"`+huge+`"}}`)
		tooMuch = append(tooMuch, calls(`{"function":{"name":"f","arguments":{"x":"`+huge+`"}}}`))
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
		{"end without done", raw(chunk("half")), model.Server, "half", "cut"},
		{"end inside a line", modeltest.Answer{Raw: &modeltest.Raw{Body: chunk("half") + "\n{\"mess"}}, model.Server, "half", "cut"},
		{"nothing at all", modeltest.Answer{Raw: &modeltest.Raw{}}, model.Server, "", "cut"},
		{"a line that is no JSON", raw(chunk("half"), "It works!", done), model.Garbled, "half", "JSON"},
		{"a line nested without end", raw(chunk("half"), `{"x":`+strings.Repeat("[", 4<<20)), model.Garbled, "half", "JSON"},
		{"a line of another shape", raw(chunk("half"), `{"message":"none"}`, done), model.Garbled, "half", "JSON"},
		{"a line of another protocol", raw(`{"id":"x","choices":[{"delta":{"content":"hi"}}]}`), model.Garbled, "", "neither"},
		{"events of another protocol", raw(`data: {"choices":[]}`), model.Garbled, "", "no /v1"},
		{
			"a web page",
			modeltest.Answer{Raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>"}},
			model.Garbled, "", "web page",
		},
		{"a call without a name", raw(calls(`{"function":{"arguments":{}}}`), done), model.Garbled, "", "naming"},
		{"arguments larger than 1 MB", raw(append(tooMuch, done)...), model.Garbled, "", "1 MB"},
		{"thinking larger than 1 MB", raw(append(tooManyThoughts, done)...), model.Garbled, "", "1 MB"},
		{"one line larger than 8 MB", raw(chunk("half"), chunk(strings.Repeat(huge, 9))), model.Garbled, "half", "8 MB"},
		{"more than 256 calls", raw(append(tooManyCalls, done)...), model.Garbled, "", "256"},
		{"filter that left nothing", raw(`{"done":true,"done_reason":"content_filter"}`), model.Refused, "", "filter"},
		{
			"error inside the stream", raw(chunk("half"), `{"error":"an error was encountered while running the model"}`),
			model.Server, "half", "inside the stream: an error was encountered",
		},
		{"error in an object", raw(chunk("half"), `{"error":{"message":"out of luck","code":7}}`), model.Server, "half", "out of luck"},
		{"error of another form", raw(chunk("half"), `{"error":[1]}`), model.Server, "half", "[1]"},
		{"full window inside the stream", raw(chunk("half"), `{"error":"the input length exceeds the context length"}`), model.ContextLength, "half", "window"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var emitted string
			resp, err := connect(t, modeltest.NewOllamaServer(t, c.answer)).
				Chat(t.Context(), hello(), func(d model.Delta) error { emitted += d.Text; return nil })
			if model.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v; want kind %s, saying %q", err, c.kind, c.says)
			}
			if resp.Text != c.text || emitted != c.text || resp.Attempts != 1 {
				t.Errorf("kept %q, emitted %q in %d attempts; want %q in 1", resp.Text, emitted, resp.Attempts, c.text)
			}
			if c.kind == model.Server && resp.Finish != "" {
				t.Errorf("an answer without an end has the finish %q", resp.Finish)
			}
		})
	}
}

func TestThinkingOfACutAnswerIsKept(t *testing.T) {
	answer := raw(`{"message":{"content":"","thinking":"hmm"}}`)
	resp, err := connect(t, modeltest.NewOllamaServer(t, answer)).Chat(t.Context(), hello(), nil)
	if model.KindOf(err) != model.Server || resp.Native == nil || string(resp.Native.Turn) != `{"thinking":"hmm"}` || resp.Text != "" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// The fake is worth something only if it speaks as Ollama does.
func TestFakeServerSpeaksOllamasOwnTypes(t *testing.T) {
	server := modeltest.NewOllamaServer(t, modeltest.Answer{
		Chunks: []string{"hi"}, Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"q":"x"}`}},
		Finish: model.FinishLength, Usage: model.Usage{InputTokens: 3, OutputTokens: 2},
	})
	server.Models = []modeltest.OllamaModel{{Name: "llama3.1:8b", RemoteHost: "https://ollama.com:443"}}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Post(server.BaseURL+"/api/chat", "application/json", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := json.NewDecoder(resp.Body)
	lines.DisallowUnknownFields()
	var got []api.ChatResponse
	for lines.More() {
		var line api.ChatResponse
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if len(got) != 3 || got[0].Message.Content != "hi" || got[1].Message.ToolCalls[0].Function.Arguments.String() != `{"q":"x"}` {
		t.Fatalf("read as %+v", got)
	}
	if last := got[2]; !last.Done || last.DoneReason != "length" || last.PromptEvalCount != 3 || last.EvalCount != 2 || got[1].Done {
		t.Errorf("the end was read as %+v", last)
	}
	tags, err := client.Get(server.BaseURL + "/api/tags")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tags.Body.Close() }()
	var body bytes.Buffer
	if _, err := body.ReadFrom(tags.Body); err != nil {
		t.Fatal(err)
	}
	list := json.NewDecoder(&body)
	list.DisallowUnknownFields()
	var models api.ListResponse
	if err := list.Decode(&models); err != nil || len(models.Models) != 1 || models.Models[0].RemoteHost == "" {
		t.Errorf("read as %+v, %v", models, err)
	}
}
