package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// post sends body as a chat request, without an adapter between.
func post(t *testing.T, s *modeltest.OpenAIServer, body string) (int, string) {
	t.Helper()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	resp, err := http.Post(s.BaseURL+"/chat/completions", "application/json", strings.NewReader(body))
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

const plainRequest = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`

func TestServerStreamsWhatTheProtocolSays(t *testing.T) {
	s := modeltest.NewOpenAIServer(t)
	s.Add(modeltest.Answer{
		Chunks: []string{"a", "b"},
		Calls:  []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"x":"ü"}`}, {ID: "2", Name: "g", Arguments: `{}`}},
		Usage:  model.Usage{InputTokens: 3, OutputTokens: 2},
		Repeat: true,
	})
	counted := strings.Replace(plainRequest, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, 1)
	status, with := post(t, s, counted)
	_, without := post(t, s, plainRequest)
	if status != http.StatusOK || !strings.HasSuffix(with, "\n\ndata: [DONE]\n\n") {
		t.Errorf("status %d, stream %s", status, with)
	}
	// Calls begin in order; then their arguments alternate.
	last := 0
	for _, want := range []string{
		`"a"`, `"b"`, `"name":"f"`, `"name":"g"`, `"arguments":"{"},"index":0`, `"arguments":"{"},"index":1`, `"\"x\""`, `"}"`, `":\"ü\"}"`, `"finish_reason":"tool_calls"`, `"prompt_tokens":3`,
	} {
		at := strings.Index(with, want)
		if at < last {
			t.Errorf("%s is missing or out of order in\n%s", want, with)
		}
		last = at
	}
	if strings.Contains(without, "prompt_tokens") {
		t.Errorf("usage came without being asked for:\n%s", without)
	}
}

func TestServerRecordsRequests(t *testing.T) {
	s := modeltest.NewOpenAIServer(t, modeltest.Stream("a"))
	post(t, s, plainRequest)
	got := s.Requests()
	want := []modeltest.OpenAIMessage{{Role: "user", Content: "hello"}}
	if len(got) != 1 || got[0].Model != "m" || !got[0].Stream || got[0].Body != plainRequest {
		t.Fatalf("recorded %+v", got)
	}
	if diff := cmp.Diff(want, got[0].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestServerRejectsWhatIsNoRequest(t *testing.T) {
	s := modeltest.NewOpenAIServer(t)
	if status, body := post(t, s, `{"model":`); status != http.StatusBadRequest || !strings.Contains(body, "not valid") {
		t.Errorf("got %d, %s", status, body)
	}
}

func TestRequestWithoutAnAnswerFailsTheTest(t *testing.T) {
	var tb recorder
	s := modeltest.NewOpenAIServer(&tb)
	if status, _ := post(t, s, plainRequest); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", status)
	}
	tb.finish()
	if !strings.Contains(tb.failure, "1 requests") {
		t.Errorf("the test was failed with %q", tb.failure)
	}
}
