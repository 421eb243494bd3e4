package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/model"
)

// GeminiServer speaks the Gemini API on a loopback port. Each POST to models/NAME:streamGenerateContent takes the next
// Answer; GET models lists Models. Requests has all of them.
//
// As the API does, it rejects a conversation that breaks the rules of the newest models, and then takes no Answer: every
// part says something; calls are answered by the next content, one result each and in order, with the call's id where it
// has one and with none where it has not; and the first call of a turn is signed.
type GeminiServer struct {
	// BaseURL is what an adapter is told, ending in /v1beta.
	BaseURL string

	// Models are what GET models lists, at most PageSize at a time; zero: as many as are asked for. Set them before the
	// first request.
	Models   []GeminiModel
	PageSize int

	server[GeminiRequest]
}

// GeminiModel is an entry of the list of models. Name is with its collection: "models/gemini-fake".
type GeminiModel struct {
	Name    string   `json:"name"`
	Methods []string `json:"supportedGenerationMethods"`
}

// NewGeminiServer starts a server that stops with the test. A request for which no answer is left fails the test.
func NewGeminiServer(tb testing.TB, answers ...Answer) *GeminiServer {
	tb.Helper()
	s := ServeGemini(answers...)
	s.stopWith(tb, "Gemini")
	return s
}

// ServeGemini starts a server that its caller closes.
func ServeGemini(answers ...Answer) *GeminiServer {
	s := &GeminiServer{}
	s.BaseURL = s.start(s, answers) + geminiVersion
	return s
}

const geminiVersion = "/v1beta"

func (s *GeminiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	req := GeminiRequest{Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: string(body)}
	if r.Method == http.MethodGet && r.URL.Path == geminiVersion+"/models" {
		s.record(req)
		s.list(w, r)
		return
	}
	name, method, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, geminiVersion+"/"), ":")
	if r.Method != http.MethodPost || method != "streamGenerateContent" || req.Query.Get("alt") != "sse" {
		s.record(req)
		geminiFailure{Code: http.StatusNotFound, Status: "NOT_FOUND", Message: "Requested entity was not found."}.write(w)
		return
	}
	req.Model = name
	if fault := req.read(); fault != "" {
		s.record(req)
		geminiFailure{Code: http.StatusBadRequest, Status: "INVALID_ARGUMENT", Message: fault}.write(w)
		return
	}
	a, ok := s.take(req)
	switch {
	case !ok:
		geminiFailure{Code: http.StatusInternalServerError, Status: "INTERNAL", Message: "modeltest: no answer is left"}.write(w)
	case a.Raw != nil:
		a.Raw.write(w, eventStream)
	case a.Fail != "":
		geminiFail(w, r, a)
	default:
		s.stream(w, r, a)
	}
}

// list gives a page; its token is the number of the page's first model.
func (s *GeminiServer) list(w http.ResponseWriter, r *http.Request) {
	from, _ := strconv.Atoi(r.URL.Query().Get("pageToken"))
	size, _ := strconv.Atoi(r.URL.Query().Get("pageSize"))
	if size <= 0 {
		size = 50
	}
	if s.PageSize > 0 {
		size = min(size, s.PageSize)
	}
	from = min(from, len(s.Models))
	to := min(from+size, len(s.Models))
	page := map[string]any{"models": s.Models[from:to]}
	if to < len(s.Models) {
		page["nextPageToken"] = strconv.Itoa(to)
	}
	writeJSON(w, http.StatusOK, page)
}

func (s *GeminiServer) stream(w http.ResponseWriter, r *http.Request, a Answer) {
	w.Header().Set("Content-Type", eventStream)
	var events [][]byte
	for _, part := range geminiParts(a) {
		events = append(events, geminiEvent(a, "", part))
	}
	if s.send(w, r, events, breaking{a.Break, `data: {"candidates": [{"content": {"par`, "data: {\"candidates\": [{]}\r\n\r\n"}) {
		_, _ = w.Write(geminiEvent(a, geminiFinish(a), map[string]any{"text": ""}))
	}
}

// GeminiSignature is the thought signature with which a GeminiServer signs a turn's first call. As real ones, it is
// base64 and of no meaning to a client.
const GeminiSignature = "c2lnbmVkL2J5K3RoZS9mYWtlCg=="

func geminiParts(a Answer) []map[string]any {
	var parts []map[string]any
	for _, chunk := range a.Chunks {
		parts = append(parts, map[string]any{"text": chunk})
	}
	for i, c := range a.Calls {
		call := map[string]any{"name": c.Name}
		if c.ID != "" {
			call["id"] = c.ID
		}
		if c.Arguments != "" {
			call["args"] = json.RawMessage(c.Arguments)
		}
		part := map[string]any{"functionCall": call}
		if i == 0 {
			part["thoughtSignature"] = GeminiSignature
		}
		parts = append(parts, part)
	}
	return parts
}

// geminiEvent is one event. The usage of the output comes with the finish; a part of it is said to be thoughts.
func geminiEvent(a Answer, finish string, part map[string]any) []byte {
	candidate := map[string]any{"content": map[string]any{"parts": []any{part}, "role": "model"}, "index": 0}
	event := map[string]any{"candidates": []any{candidate}, "modelVersion": "fake", "responseId": "fake"}
	usage := map[string]int{"promptTokenCount": a.Usage.InputTokens, "totalTokenCount": a.Usage.InputTokens}
	if finish != "" {
		candidate["finishReason"] = finish
		usage["totalTokenCount"] += a.Usage.OutputTokens
		usage["thoughtsTokenCount"] = a.Usage.OutputTokens / 3
		usage["candidatesTokenCount"] = a.Usage.OutputTokens - a.Usage.OutputTokens/3
		usage["cachedContentTokenCount"] = a.Usage.CachedTokens
	}
	if a.Usage != (model.Usage{}) {
		event["usageMetadata"] = usage
	}
	return []byte("data: " + encode(event) + "\r\n\r\n")
}

func geminiFinish(a Answer) string {
	switch a.Finish {
	case "", model.FinishStop, model.FinishTools:
		return "STOP"
	case model.FinishLength:
		return "MAX_TOKENS"
	case model.FinishFilter:
		return "SAFETY"
	}
	return "OTHER"
}

// geminiFailure is a google.rpc.Status.
type geminiFailure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Status  string `json:"status"`
	Details []any  `json:"details,omitempty"`
}

func (f geminiFailure) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(f.Code)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(map[string]any{"error": f})
}

// geminiFail fails as the API does. A refusal is no failure there: the stream says that the prompt is blocked.
func geminiFail(w http.ResponseWriter, r *http.Request, a Answer) {
	f := geminiFailure{Code: http.StatusServiceUnavailable, Status: "UNAVAILABLE", Message: "The model is overloaded."}
	switch a.Fail {
	case model.Refused:
		w.Header().Set("Content-Type", eventStream)
		_, _ = io.WriteString(w, `data: {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},`+
			`"usageMetadata": {"promptTokenCount": 4,"totalTokenCount": 4},"modelVersion": "fake"}`+"\r\n\r\n")
		return
	case model.RateLimit:
		f = geminiFailure{
			Code: http.StatusTooManyRequests, Status: "RESOURCE_EXHAUSTED", Message: "You exceeded your current quota.",
		}
	case model.Auth:
		// Some gateways repeat the key that they reject.
		f = geminiFailure{
			Code: http.StatusBadRequest, Status: "INVALID_ARGUMENT",
			Message: "API key not valid: " + r.Header.Get("x-goog-api-key"),
			Details: []any{map[string]any{
				"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com",
			}},
		}
	case model.ContextLength:
		f = geminiFailure{
			Code: http.StatusBadRequest, Status: "INVALID_ARGUMENT",
			Message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
		}
	case model.Timeout:
		f = geminiFailure{Code: http.StatusGatewayTimeout, Status: "DEADLINE_EXCEEDED", Message: "Deadline expired."}
	case model.Invalid:
		f = geminiFailure{
			Code: http.StatusNotFound, Status: "NOT_FOUND", Message: "The model is not found for API version v1beta.",
		}
	}
	if a.RetryAfter > 0 {
		f.Details = append(f.Details, map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", a.RetryAfter.Seconds()),
		})
	}
	f.write(w)
}
