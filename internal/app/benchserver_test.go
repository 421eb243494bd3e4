package app

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// The bench plays one run over and over: 3 turns, 2 tool calls with results of 490 and 1,100 bytes, and 2 KB streamed in
// 100 events, each flushed, from a server without delay. It is the whole program, durable on SQLite with
// synchronous=FULL.

// slowModel is how long the server thinks about a question that says “slowly”.
const slowModel = 100 * time.Millisecond

// benchServer starts a model's server and returns its address.
func benchServer(tb testing.TB) string {
	tb.Helper()
	call := func(path string) []string {
		return []string{part(`{"tool_calls":[{"index":0,"id":"call_`+path+
			`","type":"function","function":{"name":"code_read","arguments":"{\"path\":\"`+path+`\"}"}}]}`, ""),
			part("{}", "tool_calls"), closing}
	}
	answer := make([]string, 0, 102)
	for range 99 {
		answer = append(answer, part(`{"content":"`+chunk+`"}`, ""))
	}
	answer = append(answer, part(
		`{"content":"<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"}`, ""),
		part("{}", "stop"), closing)
	events := [][]string{call("a.go"), call("b.go"), answer}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("slowly")) {
			<-time.After(slowModel)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events[min(2, bytes.Count(body, []byte(`"role":"tool"`)))] {
			_, _ = io.WriteString(w, e)
			w.(http.Flusher).Flush()
		}
	}))
	tb.Cleanup(server.Close)
	return server.URL + "/v1"
}

func part(delta, finish string) string {
	end := "null"
	if finish != "" {
		end = `"` + finish + `"`
	}
	return `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + end + "}]}\n\n"
}

// chunk is what the answer repeats; closing are the last events of a stream.
const (
	chunk   = "twenty characters ok"
	closing = `data: {"choices":[],"usage":{"prompt_tokens":3300,"completion_tokens":40}}` + "\n\ndata: [DONE]\n\n"
)
