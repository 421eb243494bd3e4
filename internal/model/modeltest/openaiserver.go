package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/model"
)

// OpenAIServer speaks the Chat Completions protocol on a loopback port. Each POST to chat/completions takes the next
// Answer; GET models lists Models.
type OpenAIServer struct {
	// BaseURL is what an adapter is told, ending in /v1.
	BaseURL string

	// Models are the ids that GET models lists. Set it before the first request.
	Models []string

	server  *httptest.Server
	hanging chan struct{}
	ended   chan struct{}
	closing chan struct{}
	close   sync.Once

	mu       sync.Mutex
	answers  []Answer
	rendered *rendered // the answer that repeats
	requests []OpenAIRequest
	overrun  int
}

// OpenAIRequest is a request as the server got it.
type OpenAIRequest struct {
	Path   string      `json:"-"`
	Header http.Header `json:"-"`
	Body   string      `json:"-"`

	Model         string            `json:"model"`
	Messages      []OpenAIMessage   `json:"messages"`
	Tools         []json.RawMessage `json:"tools"`
	Stream        bool              `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// OpenAIMessage is a message on the wire. ToolCalls is as it was sent.
type OpenAIMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

// NewOpenAIServer starts a server that stops with the test. A request for which no answer is left fails the test.
func NewOpenAIServer(tb testing.TB, answers ...Answer) *OpenAIServer {
	tb.Helper()
	s := ServeOpenAI(answers...)
	tb.Cleanup(func() {
		s.Close()
		if s.overrun > 0 {
			tb.Errorf("modeltest: the OpenAI server got %d requests for which it was given no answer", s.overrun)
		}
	})
	return s
}

// ServeOpenAI starts a server that its caller closes.
func ServeOpenAI(answers ...Answer) *OpenAIServer {
	s := &OpenAIServer{
		answers: answers,
		hanging: make(chan struct{}, signals),
		ended:   make(chan struct{}, signals),
		closing: make(chan struct{}),
	}
	s.server = httptest.NewServer(s)
	s.BaseURL = s.server.URL + "/v1"
	return s
}

// signals is how many hanging requests can be noted before anybody looks.
const signals = 1024

// Close ends the requests that hang and stops the server, so that nothing answers at BaseURL. A second Close is none.
func (s *OpenAIServer) Close() {
	s.close.Do(func() {
		close(s.closing)
		s.server.Close()
	})
}

// Add appends to the answers.
func (s *OpenAIServer) Add(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// Requests returns what was asked so far, in the order of arrival.
func (s *OpenAIServer) Requests() []OpenAIRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]OpenAIRequest(nil), s.requests...)
}

// Hanging has a value for each request that was sent all its Answer has and now hangs.
func (s *OpenAIServer) Hanging() <-chan struct{} { return s.hanging }

// Ended has a value for each hanging request that its client ended.
func (s *OpenAIServer) Ended() <-chan struct{} { return s.ended }

func (s *OpenAIServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
		s.list(w)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, `{"error":{"message":"no such path","type":"invalid_request_error"}}`, http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := OpenAIRequest{Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	if err := json.Unmarshal(body, &req); err != nil {
		writeError(w, http.StatusBadRequest, "the body is not valid: "+err.Error(), "invalid_request_error", "")
		return
	}
	a, ok := s.take(req)
	switch {
	case !ok:
		writeError(w, http.StatusInternalServerError, "modeltest: no answer is left", "server_error", "")
	case a.Raw != nil:
		a.Raw.write(w)
	case a.Fail != "":
		a.writeFailure(w, r)
	default:
		s.stream(w, r, a, req.StreamOptions.IncludeUsage)
	}
}

// take records req and returns its answer.
func (s *OpenAIServer) take(req OpenAIRequest) (*rendered, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if s.rendered != nil {
		return s.rendered, true
	}
	if len(s.answers) == 0 {
		s.overrun++
		return nil, false
	}
	a := render(s.answers[0])
	if a.Repeat {
		s.rendered = a
	}
	s.answers = s.answers[1:]
	return a, true
}

func (s *OpenAIServer) list(w http.ResponseWriter) {
	entries := make([]map[string]string, 0, len(s.Models))
	for _, id := range s.Models {
		entries = append(entries, map[string]string{"id": id, "object": "model", "owned_by": "modeltest"})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": entries})
}

func (s *OpenAIServer) stream(w http.ResponseWriter, r *http.Request, a *rendered, withUsage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for _, frame := range a.frames {
		if _, err := w.Write(frame); err != nil {
			return
		}
		_ = out.Flush()
	}
	switch a.Break {
	case Cut:
		_, _ = io.WriteString(w, `data: {"id":"chatcmpl-fake","choices":[{"index":0,"del`)
		_ = out.Flush()
		panic(http.ErrAbortHandler) // net/http's way to end a connection without ending the response
	case Hang:
		_ = out.Flush() // the headers, if there was no frame
		s.hanging <- struct{}{}
		select {
		case <-r.Context().Done():
			s.ended <- struct{}{}
		case <-s.closing:
		}
		return
	case Garbage:
		_, _ = io.WriteString(w, "data: {\"choices\":[{]}\n\n")
		return
	}
	_, _ = w.Write(a.finish)
	if withUsage && a.usage != nil {
		_, _ = w.Write(a.usage)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
	_ = out.Flush() // as real servers do: the end of the response comes after it, by itself
}

// rendered is an Answer with its parts as they go over the wire.
type rendered struct {
	Answer
	frames [][]byte
	finish []byte
	usage  []byte // nil if none is reported
}

func render(a Answer) *rendered {
	out := &rendered{Answer: a}
	for i, chunk := range a.Chunks {
		delta := map[string]any{"content": chunk}
		if i == 0 {
			delta["role"] = "assistant"
		}
		out.frames = append(out.frames, frame(choices(delta, nil), nil))
	}
	for _, delta := range callDeltas(a.Calls) {
		out.frames = append(out.frames, frame(choices(delta, nil), nil))
	}
	out.finish = frame(choices(map[string]any{}, finishReason(a)), nil)
	if a.Usage != (model.Usage{}) {
		out.usage = frame([]any{}, map[string]any{
			"prompt_tokens":         a.Usage.InputTokens,
			"completion_tokens":     a.Usage.OutputTokens,
			"total_tokens":          a.Usage.InputTokens + a.Usage.OutputTokens,
			"prompt_tokens_details": map[string]int{"cached_tokens": a.Usage.CachedTokens},
		})
	}
	return out
}

// callDeltas begins all calls, then sends their arguments piece by piece in turn.
func callDeltas(calls []model.ToolCall) []map[string]any {
	const piece = 5
	var out []map[string]any
	longest := 0
	arguments := make([][]rune, len(calls)) // runes, so that no piece ends inside one
	for i, c := range calls {
		arguments[i] = []rune(c.Arguments)
		longest = max(longest, len(arguments[i]))
		out = append(out, map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]string{"name": c.Name, "arguments": ""},
		}}})
	}
	for from := 0; from < longest; from += piece {
		for i, whole := range arguments {
			if from < len(whole) {
				text := string(whole[from:min(from+piece, len(whole))])
				out = append(out, map[string]any{"tool_calls": []any{map[string]any{
					"index": i, "function": map[string]string{"arguments": text},
				}}})
			}
		}
	}
	return out
}

func choices(delta map[string]any, finish any) []any {
	return []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}
}

func frame(choices []any, usage any) []byte {
	text, err := json.Marshal(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"system_fingerprint": "fp_fake", "choices": choices, "usage": usage,
	})
	if err != nil {
		panic(fmt.Sprintf("modeltest: a part cannot be encoded: %v", err))
	}
	return []byte("data: " + string(text) + "\n\n")
}

func finishReason(a Answer) string {
	switch {
	case a.Finish == model.FinishFilter:
		return "content_filter"
	case a.Finish == model.FinishTools, a.Finish == "" && len(a.Calls) > 0:
		return "tool_calls"
	case a.Finish == "":
		return "stop"
	}
	return string(a.Finish)
}

func (r *Raw) write(w http.ResponseWriter) {
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	_, _ = io.WriteString(w, r.Body)
}

func (r *rendered) writeFailure(w http.ResponseWriter, req *http.Request) {
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.RetryAfter.Seconds())))
	}
	switch r.Fail {
	case model.RateLimit:
		writeError(w, http.StatusTooManyRequests, "Rate limit reached", "requests", "rate_limit_exceeded")
	case model.Auth:
		// Some endpoints repeat the key that they reject.
		key := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		writeError(w, http.StatusUnauthorized, "Incorrect API key: "+key, "invalid_request_error", "invalid_api_key")
	case model.ContextLength:
		writeError(w, http.StatusBadRequest, "This model's maximum context length is 8192 tokens",
			"invalid_request_error", "context_length_exceeded")
	case model.Timeout:
		writeError(w, http.StatusRequestTimeout, "The request took too long", "timeout", "")
	case model.Refused:
		writeError(w, http.StatusBadRequest, "Your request was rejected by the safety system",
			"invalid_request_error", "content_policy_violation")
	case model.Invalid:
		writeError(w, http.StatusNotFound, "The model does not exist", "invalid_request_error", "model_not_found")
	default:
		writeError(w, http.StatusInternalServerError, "The server had an error", "server_error", "")
	}
}

func writeError(w http.ResponseWriter, status int, message, kind, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code},
	})
}
