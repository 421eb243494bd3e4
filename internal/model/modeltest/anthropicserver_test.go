package modeltest_test

import (
	"cmp"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// postAnthropic sends body as a request for a message, without an adapter between.
func postAnthropic(t *testing.T, s *modeltest.AnthropicServer, body string) (int, string) {
	t.Helper()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// anthropicBody is a request with these messages and other fields.
func anthropicBody(messages, more string) string {
	return `{"model":"m","max_tokens":9,"stream":true,"messages":[` + messages + `]` + more + `}`
}

const anthropicHello = `{"role":"user","content":[{"type":"text","text":"hello"}]}`

func TestAnthropicServerStreamsWhatTheProtocolSays(t *testing.T) {
	s := modeltest.NewAnthropicServer(t, modeltest.Answer{
		Chunks: []string{"a", "b"},
		Calls:  []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":"ü"}`}, {ID: "2", Name: "g", Arguments: `{}`}},
		Usage:  model.Usage{InputTokens: 30, OutputTokens: 20, CachedTokens: 10},
	})
	status, got := postAnthropic(t, s, anthropicBody(anthropicHello, ""))
	if status != http.StatusOK || !strings.HasSuffix(got, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n") {
		t.Errorf("status %d, stream %s", status, got)
	}
	// Calls begin in order; then their arguments alternate.
	last := 0
	for _, want := range []string{
		`event: message_start`, `"cache_read_input_tokens":10`, `"input_tokens":20`, `{"text":"","type":"text"}`, `event: ping`,
		`{"text":"a","type":"text_delta"}`, `"b"`, `"content_block_stop"`, `"name":"f"`, `"name":"g"`, `"partial_json":""`,
		`"partial_json":"{"`, `"partial_json":"{"`, `"index":1`, `"index":2`, `"index":1`, `"content_block_stop"`, `"stop_reason":"tool_use"`,
		`"output_tokens":20`,
	} {
		at := strings.Index(got[last:], want)
		if at < 0 {
			t.Fatalf("%s is missing or out of order in\n%s", want, got)
		}
		last += at + len(want)
	}
}

func TestAnthropicServerIsUnderstoodByTheOfficialClient(t *testing.T) {
	calls := []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":"ü\n"}`}, {ID: "2", Name: "g"}, {ID: "3", Name: "f", Arguments: `{"x":"long enough"}`}}
	s := modeltest.NewAnthropicServer(t, modeltest.Answer{
		Chunks: []string{"a", "b"}, Calls: calls, Usage: model.Usage{InputTokens: 30, OutputTokens: 20, CachedTokens: 10},
	})
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	messages := anthropic.NewMessageService(option.WithBaseURL(s.BaseURL), option.WithHTTPClient(&http.Client{Transport: transport}))
	stream := messages.NewStreaming(t.Context(), anthropic.MessageNewParams{
		Model: "m", MaxTokens: 9, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))},
	})
	defer func() { _ = stream.Close() }()
	var got anthropic.Message
	for stream.Next() {
		if err := got.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil || len(got.Content) != 4 || got.Content[0].Text != "ab" || got.StopReason != anthropic.StopReasonToolUse {
		t.Fatalf("got %s, %v", got.RawJSON(), err)
	}
	for i, c := range calls {
		block := got.Content[i+1]
		if block.ID != c.ID || block.Name != c.Name || string(block.Input) != cmp.Or(c.Arguments, "{}") {
			t.Errorf("call %d is %s; want %+v", i, block.RawJSON(), c)
		}
	}
	if got.Usage.InputTokens != 20 || got.Usage.CacheReadInputTokens != 10 || got.Usage.OutputTokens != 20 {
		t.Errorf("usage %s", got.Usage.RawJSON())
	}
}

func TestAnthropicServerRejectsWhatBreaksTheRules(t *testing.T) {
	const (
		call   = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
		result = `{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"found"}]}`
		tools  = `,"tools":[{"name":"f","input_schema":{"type":"object"}}]`
		more   = `{"type":"text","text":"more"}`
	)
	user := func(blocks string) string { return `{"role":"user","content":[` + blocks + `]}` }
	assistant := func(blocks string) string { return `{"role":"assistant","content":[` + blocks + `]}` }
	thinking := `{"type":"thinking","thinking":"","signature":"s"}`
	for _, c := range []struct{ name, messages, fields, says string }{
		{"a whole tool loop", anthropicHello + "," + call + "," + user(result+","+more), tools, ""},
		{"thinking before a text", anthropicHello + "," + assistant(thinking+","+more) + "," + anthropicHello, "", ""},
		{"no messages", "", "", "at least one"},
		{"the assistant first", assistant(more) + "," + anthropicHello, "", "first message"},
		{"the assistant last", anthropicHello + "," + assistant(more), "", "prefill"},
		{"one role twice", anthropicHello + "," + anthropicHello, "", "alternate"},
		{"a message without content", user(""), "", "non-empty"},
		{"a blank text", user(`{"type":"text","text":" "}`), "", "non-whitespace"},
		{"a blank result", anthropicHello + "," + call + "," + user(strings.Replace(result, "found", "", 1)), tools, "non-whitespace"},
		{"a call without a result", anthropicHello + "," + call + "," + anthropicHello, tools, "immediately after"},
		{"a result without a call", user(result), tools, "unexpected tool_use_id"},
		{"a result after a text", anthropicHello + "," + call + "," + user(more+","+result), tools, "unexpected tool_use_id"},
		{"calls without tools", anthropicHello + "," + call + "," + user(result), "", "must define tools"},
		{"a foreign id", anthropicHello + "," + strings.Replace(call, "c1", "c.1", 1) + "," + anthropicHello, tools, "an id of"},
		{"input that is no object", anthropicHello + "," + strings.Replace(call, "{}", "[]", 1) + "," + anthropicHello, tools, "dictionary"},
		{"a call by the user", user(`{"type":"tool_use","id":"c1","name":"f","input":{}}`), tools, "assistant messages"},
		{"a result by the assistant", anthropicHello + "," + call + "," + assistant(result), tools, "prefill"},
		{"thinking without a signature", anthropicHello + "," + assistant(`{"type":"thinking","thinking":"x"},`+more) + "," + anthropicHello, "", "signature"},
		{"thinking last", anthropicHello + "," + assistant(thinking) + "," + anthropicHello, "", "cannot be thinking"},
		{"an unknown block", anthropicHello + "," + assistant(`{"type":"weather"},`+more) + "," + anthropicHello, "", "expected tags"},
		{"a schema that is no object's", anthropicHello, `,"tools":[{"name":"f","input_schema":{"type":"string"}}]`, "input_schema"},
		{"no limit", anthropicHello, `,"max_tokens":0`, "max_tokens"},
		{"bytes that are no text", strings.Replace(anthropicHello, "hello", "\xff", 1), "", "UTF-8"},
		{"no JSON", "{", "", "invalid character"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := modeltest.NewAnthropicServer(nil, modeltest.Stream("ok"))
			t.Cleanup(s.Close)
			status, body := postAnthropic(t, s, anthropicBody(c.messages, c.fields))
			if c.says == "" && status != http.StatusOK {
				t.Errorf("rejected with %d, %s", status, body)
			}
			if c.says != "" && (status != http.StatusBadRequest || !strings.Contains(body, c.says)) {
				t.Errorf("got %d, %s; want a rejection that says %q", status, body, c.says)
			}
		})
	}
}

func TestAnthropicRequestWithoutAnAnswerFailsTheTest(t *testing.T) {
	var tb recorder
	s := modeltest.NewAnthropicServer(&tb)
	if status, _ := postAnthropic(t, s, anthropicBody(anthropicHello, "")); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", status)
	}
	tb.finish()
	if !strings.Contains(tb.failure, "1 requests") {
		t.Errorf("the test was failed with %q", tb.failure)
	}
}
