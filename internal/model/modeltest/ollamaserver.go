package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"sibyl/internal/model"
)

// OllamaServer speaks Ollama's own protocol on a loopback port. Each POST to api/chat takes the next Answer; GET
// api/tags lists Models. The protocol has no cached tokens and no finish for tool calls: both are left out.
type OllamaServer struct {
	// BaseURL is what an adapter is told: the server without a path.
	BaseURL string

	// Models are the names that GET api/tags lists. Set it before the first request.
	Models []OllamaModel

	server[OllamaRequest]
}

// OllamaModel is a model that the server has. RemoteHost is where it runs, if not there.
type OllamaModel struct {
	Name       string
	RemoteHost string
}

// OllamaRequest is a request as the server got it.
type OllamaRequest struct {
	Path   string      `json:"-"`
	Header http.Header `json:"-"`
	Body   string      `json:"-"`

	Model    string            `json:"model"`
	Messages []OllamaMessage   `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Stream   *bool             `json:"stream"` // left out: true
	Truncate *bool             `json:"truncate"`
	Shift    *bool             `json:"shift"`
	Options  map[string]any    `json:"options"`
}

// OllamaMessage is a message on the wire. ToolCalls is as it was sent.
type OllamaMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Thinking   string          `json:"thinking"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
}

// NewOllamaServer starts a server that stops with the test. A request for which no answer is left fails the test.
func NewOllamaServer(tb testing.TB, answers ...Answer) *OllamaServer {
	tb.Helper()
	s := ServeOllama(answers...)
	s.stopWith(tb, "Ollama")
	return s
}

// ServeOllama starts a server that its caller closes.
func ServeOllama(answers ...Answer) *OllamaServer {
	s := &OllamaServer{}
	s.BaseURL = s.start(s, answers)
	return s
}

func (s *OllamaServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/api/tags" {
		s.list(w)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/api/chat" {
		http.Error(w, "404 page not found", http.StatusNotFound) // which real servers do not say in JSON
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := OllamaRequest{Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	if err := json.Unmarshal(body, &req); err != nil {
		writeOllamaError(w, http.StatusBadRequest, err.Error())
		return
	}
	a, ok := s.take(req)
	switch {
	case !ok:
		writeOllamaError(w, http.StatusInternalServerError, "modeltest: no answer is left")
	case a.Raw != nil:
		a.Raw.write(w, jsonLines)
	case a.Fail != "":
		a.writeOllamaFailure(w, r, req.Model)
	default:
		s.stream(w, r, a, req.Model)
	}
}

func (s *OllamaServer) list(w http.ResponseWriter) {
	entries := make([]map[string]any, 0, len(s.Models))
	for _, m := range s.Models {
		entry := map[string]any{
			"name": m.Name, "model": m.Name, "modified_at": ollamaTime, "size": 4_900_000_000, "digest": "46e0c10c039e",
			"details": map[string]any{"format": "gguf", "family": "llama", "families": []string{"llama"}},
		}
		if m.RemoteHost != "" {
			entry["remote_host"], entry["remote_model"] = m.RemoteHost, m.Name
		}
		entries = append(entries, entry)
	}
	writeJSON(w, http.StatusOK, map[string]any{"models": entries})
}

func (s *OllamaServer) stream(w http.ResponseWriter, r *http.Request, a Answer, name string) {
	w.Header().Set("Content-Type", jsonLines)
	var lines [][]byte
	for _, message := range ollamaMessages(a) {
		lines = append(lines, ollamaLine(name, message, nil))
	}
	if !s.send(w, r, lines, breaking{a.Break, `{"model":"fake","message":{"role":"assis`, "{\"message\":{]}\n"}) {
		return
	}
	_, _ = w.Write(ollamaLine(name, map[string]any{"content": ""}, map[string]any{
		"done_reason": ollamaFinish(a), "total_duration": 2_000_000_000, "load_duration": 1_000_000_000,
		"prompt_eval_count": a.Usage.InputTokens, "prompt_eval_duration": 5_000_000,
		"eval_count": a.Usage.OutputTokens, "eval_duration": 9_000_000,
	}))
}

// ollamaMessages are the messages of a stream: a chunk of text each, then a call each, as the protocol sends no part of
// a call.
func ollamaMessages(a Answer) []map[string]any {
	var out []map[string]any
	for _, chunk := range a.Chunks {
		out = append(out, map[string]any{"content": chunk})
	}
	for i, c := range a.Calls {
		call := map[string]any{"function": map[string]any{"index": i, "name": c.Name, "arguments": ollamaArguments(c.Arguments)}}
		if c.ID != "" {
			call["id"] = c.ID
		}
		out = append(out, map[string]any{"content": "", "tool_calls": []any{call}})
	}
	return out
}

// ollamaArguments is the object in arguments; what is none goes over the wire as the text it is.
func ollamaArguments(arguments string) any {
	switch {
	case arguments == "":
		return map[string]any{}
	case json.Valid([]byte(arguments)):
		return json.RawMessage(arguments)
	}
	return arguments
}

// ollamaTime stands in every line that has a time.
const ollamaTime = "2026-01-02T03:04:05.678901Z"

// ollamaLine is one line of a stream, the last one if it has an end.
func ollamaLine(name string, message, end map[string]any) []byte {
	message["role"] = "assistant"
	line := map[string]any{"model": name, "created_at": ollamaTime, "message": message, "done": end != nil}
	for field, value := range end {
		line[field] = value
	}
	return []byte(encode(line) + "\n")
}

// ollamaFinish is the reason to be done. "content_filter" is a word that only gateways pass on.
func ollamaFinish(a Answer) string {
	switch a.Finish {
	case model.FinishFilter:
		return "content_filter"
	case model.FinishTools, "":
		return "stop"
	}
	return string(a.Finish)
}

// writeOllamaFailure answers as Ollama does, or, with what it never says by itself, as a proxy before it or the cloud
// behind it.
func (a Answer) writeOllamaFailure(w http.ResponseWriter, r *http.Request, name string) {
	a.askToWait(w)
	switch a.Fail {
	case model.RateLimit:
		writeOllamaError(w, http.StatusTooManyRequests, "rate limit exceeded")
	case model.Auth:
		// Some proxies repeat the key that they reject.
		writeOllamaError(w, http.StatusUnauthorized, "unauthorized: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	case model.ContextLength:
		writeOllamaError(w, http.StatusBadRequest, "the input length exceeds the context length")
	case model.Timeout:
		writeOllamaError(w, http.StatusRequestTimeout, "the request took too long")
	case model.Refused:
		writeOllamaError(w, http.StatusBadRequest, "the request was rejected by the content policy")
	case model.Invalid:
		writeOllamaError(w, http.StatusNotFound, fmt.Sprintf("model '%s' not found", name))
	default:
		writeOllamaError(w, http.StatusInternalServerError, "model runner has unexpectedly stopped")
	}
}

func writeOllamaError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]string{"error": message})
}
