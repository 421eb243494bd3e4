package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"sibyl/internal/model"
)

// AnthropicServer speaks the Messages protocol on a loopback port. Each POST to v1/messages that keeps the protocol's
// rules takes the next Answer, another is rejected as Anthropic rejects it; Requests has both. GET v1/models lists Models,
// page by page.
type AnthropicServer struct {
	// BaseURL is what an adapter is told, without the version.
	BaseURL string

	// Models are the ids that GET v1/models lists. Set it before the first request.
	Models []string

	server[AnthropicRequest]
}

// AnthropicRequest is a request as the server got it.
type AnthropicRequest struct {
	Path   string      `json:"-"`
	Header http.Header `json:"-"`
	Body   string      `json:"-"`

	Model      string             `json:"model"`
	MaxTokens  int                `json:"max_tokens"`
	System     json.RawMessage    `json:"system"`
	Messages   []AnthropicMessage `json:"messages"`
	Tools      []json.RawMessage  `json:"tools"`
	ToolChoice json.RawMessage    `json:"tool_choice"`
	Stream     bool               `json:"stream"`
}

// AnthropicMessage is a message on the wire. Its blocks are as they were sent.
type AnthropicMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// NewAnthropicServer starts a server that stops with the test. A request for which no answer is left fails the test.
func NewAnthropicServer(tb testing.TB, answers ...Answer) *AnthropicServer {
	tb.Helper()
	s := ServeAnthropic(answers...)
	s.stopWith(tb, "Anthropic")
	return s
}

// ServeAnthropic starts a server that its caller closes.
func ServeAnthropic(answers ...Answer) *AnthropicServer {
	s := &AnthropicServer{}
	s.BaseURL = s.start(s, answers)
	return s
}

func (s *AnthropicServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
		s.list(w, r)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
		writeAnthropicError(w, http.StatusNotFound, "not_found_error", "Not Found")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := AnthropicRequest{Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body)}
	err = json.Unmarshal(body, &req)
	if err == nil {
		err = req.check()
	}
	if err != nil {
		s.record(req)
		writeAnthropicError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	a, ok := s.take(req)
	switch {
	case !ok:
		writeAnthropicError(w, http.StatusInternalServerError, "api_error", "modeltest: no answer is left")
	case a.Raw != nil:
		a.Raw.write(w, eventStream)
	case a.Fail != "":
		a.writeAnthropicFailure(w, r)
	default:
		s.stream(w, r, a, req.Model)
	}
}

// list gives the page of the models after after_id.
func (s *AnthropicServer) list(w http.ResponseWriter, r *http.Request) {
	limit := 20
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil {
		limit = min(n, 1000)
	}
	left := s.Models
	if after := r.URL.Query().Get("after_id"); after != "" {
		left = left[slices.Index(left, after)+1:]
	}
	page := left[:min(limit, len(left))]
	entries := make([]map[string]string, 0, len(page))
	for _, id := range page {
		entries = append(entries, map[string]string{"type": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"})
	}
	out := map[string]any{"data": entries, "has_more": len(page) < len(left), "first_id": nil, "last_id": nil}
	if len(page) > 0 {
		out["first_id"], out["last_id"] = page[0], page[len(page)-1]
	}
	writeJSON(w, http.StatusOK, out)
}

func (s *AnthropicServer) stream(w http.ResponseWriter, r *http.Request, a Answer, name string) {
	w.Header().Set("Content-Type", eventStream+"; charset=utf-8")
	const begun = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
	if !s.send(w, r, anthropicEvents(a, name), breaking{a.Break, begun + `"index":0,"del`, begun + "{]}\n\n"}) {
		return
	}
	for _, event := range anthropicEnd(a) {
		_, _ = w.Write(event)
	}
	_ = http.NewResponseController(w).Flush() // as real servers do: the end of the response comes after it, by itself
}

// anthropicEvents is a's message up to the end of its blocks. The text is one block, each call another, and the parts of
// the calls interleave.
func anthropicEvents(a Answer, name string) [][]byte {
	out := [][]byte{anthropicEvent("message_start", map[string]any{"message": map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": name, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens":            a.Usage.InputTokens - a.Usage.CachedTokens,
			"cache_read_input_tokens": a.Usage.CachedTokens, "cache_creation_input_tokens": 0,
			"output_tokens": min(1, a.Usage.OutputTokens), "service_tier": "standard",
		},
	}})}
	block := 0
	start := func(content map[string]any) {
		out = append(out, anthropicEvent("content_block_start", map[string]any{"index": block, "content_block": content}))
		block++
	}
	if len(a.Chunks) > 0 {
		start(map[string]any{"type": "text", "text": ""})
	}
	out = append(out, anthropicEvent("ping", nil))
	for _, chunk := range a.Chunks {
		out = append(out, anthropicDelta(0, "text_delta", "text", chunk))
	}
	if len(a.Chunks) > 0 && a.Break == "" {
		out = append(out, anthropicEvent("content_block_stop", map[string]any{"index": 0}))
	}
	first := block
	for _, c := range a.Calls {
		start(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}})
	}
	out = append(out, anthropicArguments(a.Calls, first)...)
	for i := range a.Calls {
		out = append(out, anthropicEvent("content_block_stop", map[string]any{"index": first + i}))
	}
	return out
}

// anthropicArguments sends the calls' arguments piece by piece in turn. The first piece is empty, as the real one is.
func anthropicArguments(calls []model.ToolCall, first int) [][]byte {
	var out [][]byte
	left := make([][]rune, len(calls)) // runes, so that no piece ends inside one
	for i, c := range calls {
		left[i] = []rune(c.Arguments)
		out = append(out, anthropicDelta(first+i, "input_json_delta", "partial_json", ""))
	}
	for size, more := 1, true; more; size = size%7 + 2 {
		more = false
		for i, text := range left {
			if len(text) == 0 {
				continue
			}
			n := min(size, len(text))
			out = append(out, anthropicDelta(first+i, "input_json_delta", "partial_json", string(text[:n])))
			left[i], more = text[n:], true
		}
	}
	return out
}

// anthropicEnd is the end of a's message.
func anthropicEnd(a Answer) [][]byte {
	return [][]byte{
		anthropicEvent("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": anthropicStopReason(a), "stop_sequence": nil, "stop_details": nil},
			"usage": map[string]any{"output_tokens": a.Usage.OutputTokens},
		}),
		anthropicEvent("message_stop", nil),
	}
}

func anthropicDelta(index int, kind, field, text string) []byte {
	return anthropicEvent("content_block_delta", map[string]any{
		"index": index, "delta": map[string]any{"type": kind, field: text},
	})
}

func anthropicEvent(kind string, fields map[string]any) []byte {
	all := map[string]any{"type": kind}
	for name, value := range fields {
		all[name] = value
	}
	return []byte("event: " + kind + "\ndata: " + encode(all) + "\n\n")
}

func anthropicStopReason(a Answer) string {
	switch {
	case a.Finish == model.FinishFilter:
		return "refusal"
	case a.Finish == model.FinishLength:
		return "max_tokens"
	case a.Finish == model.FinishOther:
		return "pause_turn"
	case a.Finish == model.FinishTools, a.Finish == "" && len(a.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (a Answer) writeAnthropicFailure(w http.ResponseWriter, req *http.Request) {
	a.askToWait(w)
	switch a.Fail {
	case model.RateLimit:
		writeAnthropicError(w, http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your rate limit")
	case model.Auth:
		// Some endpoints repeat the key that they reject.
		writeAnthropicError(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key: "+req.Header.Get("X-Api-Key"))
	case model.ContextLength:
		writeAnthropicError(w, http.StatusBadRequest, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
	case model.Timeout:
		writeAnthropicError(w, http.StatusGatewayTimeout, "timeout_error", "The request took too long")
	case model.Refused:
		writeAnthropicError(w, http.StatusBadRequest, "invalid_request_error", "Output blocked by content filtering policy")
	case model.Invalid:
		writeAnthropicError(w, http.StatusNotFound, "not_found_error", "model: no such model")
	default:
		writeAnthropicError(w, http.StatusInternalServerError, "api_error", "Internal server error")
	}
}

func writeAnthropicError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_fake",
	})
}
