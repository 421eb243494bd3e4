package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
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

	server[OpenAIRequest]

	once      sync.Once
	repeating *rendered // the answer that repeats
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
	s.stopWith(tb, "OpenAI")
	return s
}

// ServeOpenAI starts a server that its caller closes.
func ServeOpenAI(answers ...Answer) *OpenAIServer {
	s := &OpenAIServer{}
	s.BaseURL = s.start(s, answers) + "/v1"
	return s
}

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
		a.Raw.write(w, eventStream)
	case a.Fail != "":
		a.writeFailure(w, r)
	default:
		s.stream(w, r, s.rendered(a), req.StreamOptions.IncludeUsage)
	}
}

// rendered renders a, once if it repeats: a benchmark is to measure its client.
func (s *OpenAIServer) rendered(a Answer) *rendered {
	if !a.Repeat {
		return render(a)
	}
	s.once.Do(func() { s.repeating = render(a) })
	return s.repeating
}

func (s *OpenAIServer) list(w http.ResponseWriter) {
	entries := make([]map[string]string, 0, len(s.Models))
	for _, id := range s.Models {
		entries = append(entries, map[string]string{"id": id, "object": "model", "owned_by": "modeltest"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": entries})
}

func (s *OpenAIServer) stream(w http.ResponseWriter, r *http.Request, a *rendered, withUsage bool) {
	w.Header().Set("Content-Type", eventStream)
	if !s.send(w, r, a.frames, breaking{a.Break, `data: {"id":"chatcmpl-fake","choices":[{"index":0,"del`, "data: {\"choices\":[{]}\n\n"}) {
		return
	}
	_, _ = w.Write(a.finish)
	if withUsage && a.usage != nil {
		_, _ = w.Write(a.usage)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
	_ = http.NewResponseController(w).Flush() // as real servers do: the end of the response comes after it, by itself
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
	return []byte("data: " + encode(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"system_fingerprint": "fp_fake", "choices": choices, "usage": usage,
	}) + "\n\n")
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

func (a Answer) writeFailure(w http.ResponseWriter, req *http.Request) {
	a.askToWait(w)
	switch a.Fail {
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
	writeJSON(w, status, map[string]any{
		"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code},
	})
}
