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

// postOllama sends body as a chat request, without an adapter between.
func postOllama(t *testing.T, s *modeltest.OllamaServer, body string) (int, string) {
	t.Helper()
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	resp, err := http.Post(s.BaseURL+"/api/chat", "application/json", strings.NewReader(body))
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

func TestOllamaServerStreamsALineForEachChunkAndCall(t *testing.T) {
	s := modeltest.NewOllamaServer(t, modeltest.Answer{
		Chunks: []string{"a", "ü"},
		Calls:  []model.ToolCall{{ID: "1", Name: "f", Arguments: `{"z":1,"a":2}`}, {Name: "g", Arguments: `{oops`}},
		Usage:  model.Usage{InputTokens: 3, OutputTokens: 2},
		Repeat: true,
	})
	status, first := postOllama(t, s, `{"model":"m"}`)
	lines := strings.Split(strings.TrimSuffix(first, "\n"), "\n")
	if status != http.StatusOK || len(lines) != 5 {
		t.Fatalf("status %d, stream %s", status, first)
	}
	for i, want := range []string{
		`"content":"a"`, `"content":"ü"`, `"arguments":{"z":1,"a":2},"index":0,"name":"f"},"id":"1"`, `"arguments":"{oops"`,
		`"done":true,"done_reason":"stop"`,
	} {
		if !strings.Contains(lines[i], want) || strings.Contains(lines[i], `"done":true`) != (i == 4) {
			t.Errorf("line %d is %s; want it to hold %s", i, lines[i], want)
		}
	}
	if _, second := postOllama(t, s, `{"model":"m"}`); second != first {
		t.Errorf("the answer that repeats became\n%s", second)
	}
}

func TestOllamaServerRecordsRequests(t *testing.T) {
	s := modeltest.NewOllamaServer(t, modeltest.Stream("a"))
	const body = `{"model":"m","truncate":false,"messages":[{"role":"tool","content":"x","tool_name":"f","tool_call_id":"1"}]}`
	postOllama(t, s, body)
	got := s.Requests()
	want := []modeltest.OllamaMessage{{Role: "tool", Content: "x", ToolName: "f", ToolCallID: "1"}}
	if len(got) != 1 || got[0].Model != "m" || got[0].Stream != nil || *got[0].Truncate || got[0].Body != body {
		t.Fatalf("recorded %+v", got)
	}
	if diff := cmp.Diff(want, got[0].Messages); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestOllamaServerRejectsWhatIsNoRequest(t *testing.T) {
	s := modeltest.NewOllamaServer(t)
	if status, body := postOllama(t, s, `{"model":`); status != http.StatusBadRequest || !strings.Contains(body, `"error"`) {
		t.Errorf("got %d, %s", status, body)
	}
}

func TestOllamaRequestWithoutAnAnswerFailsTheTest(t *testing.T) {
	var tb recorder
	s := modeltest.NewOllamaServer(&tb)
	if status, _ := postOllama(t, s, `{"model":"m"}`); status != http.StatusInternalServerError {
		t.Errorf("status %d; want 500", status)
	}
	tb.finish()
	if !strings.Contains(tb.failure, "1 requests") {
		t.Errorf("the test was failed with %q", tb.failure)
	}
}
