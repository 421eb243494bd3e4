package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

	// Described are the answers to GET models/NAME, as JSON by the name with its collection; of others the server says that it has none.
	Described map[string]string

	server[GeminiRequest]
}

// GeminiModel is an entry of the list of models. Name is with its collection: "models/gemini-fake".
type GeminiModel struct {
	Name    string   `json:"name"`
	Methods []string `json:"supportedGenerationMethods"`
}

const geminiVersion = "/v1beta"

// NewGeminiServer starts a server that stops with the test, if there is one. A refusal is no failure there: the stream says that the prompt is blocked.
func NewGeminiServer(tb testing.TB, answers ...Answer) *GeminiServer {
	s := &GeminiServer{}
	s.BaseURL = s.start(tb, protocol[GeminiRequest]{
		name:     "Gemini",
		listPath: geminiVersion + "/models",
		list:     s.list,
		looks: func(req Request) *Raw {
			name, ok := strings.CutPrefix(req.Path, geminiVersion+"/")
			switch told := s.Described[name]; {
			case !ok || req.Body != "" || strings.Contains(name, ":"):
				return nil
			case told != "":
				return &Raw{Body: told}
			}
			return &Raw{Status: http.StatusNotFound, Body: `{"error": {"code": 404,"message": "` + name + ` is not found","status": "NOT_FOUND"}}`}
		},
		routes: map[string]route[GeminiRequest]{":streamGenerateContent": {eventStream, geminiStream,
			`data: {"candidates": [{"content": {"par`, "data: {\"candidates\": [{]}\r\n\r\n"}},
		read: func(raw Request) (GeminiRequest, error) {
			path, _ := url.PathUnescape(raw.Path)
			name, _, _ := strings.Cut(strings.TrimPrefix(path, geminiVersion+"/"), ":")
			req := GeminiRequest{Request: raw, Model: name}
			if raw.Query.Get("alt") != "sse" {
				return req, errNoSuchPath
			}
			if fault := req.read(); fault != "" {
				return req, errors.New(fault)
			}
			return req, nil
		},
		failures: map[model.Kind]failure{
			model.RateLimit:     {status: 429, kind: "RESOURCE_EXHAUSTED", message: "You exceeded your current quota."},
			model.Auth:          {status: 400, kind: "INVALID_ARGUMENT", code: "API_KEY_INVALID", message: "API key not valid: "},
			model.ContextLength: {status: 400, kind: "INVALID_ARGUMENT", message: "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."},
			model.Timeout:       {status: 504, kind: "DEADLINE_EXCEEDED", message: "Deadline expired."},
			model.Invalid:       {status: 404, kind: "NOT_FOUND", message: "The model is not found for API version v1beta."},
			model.Overloaded:    {status: 503, kind: "UNAVAILABLE", message: "The service is currently busy."},
			model.Payment:       {status: 429, kind: "RESOURCE_EXHAUSTED", message: "Your prepayment credits are depleted. Please manage your billing."},
			model.Server:        {status: 500, kind: "INTERNAL", message: "An internal error has occurred."},
			model.Refused: {stream: `data: {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},` +
				`"usageMetadata": {"promptTokenCount": 4,"totalTokenCount": 4},"modelVersion": "fake"}` + "\r\n\r\n"},
		},
		fail: geminiFail,
	}, answers) + geminiVersion
	return s
}

// list gives a page; its token is the number of the page's first model.
func (s *GeminiServer) list(query url.Values) any {
	from, _ := strconv.Atoi(query.Get("pageToken"))
	size, _ := strconv.Atoi(query.Get("pageSize"))
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
	return page
}

func geminiStream(a Answer, _ GeminiRequest) (events, end [][]byte) {
	for _, part := range geminiParts(a) {
		events = append(events, geminiEvent(a, "", part))
	}
	reason := finishWord(a, map[model.Finish]string{model.FinishStop: "STOP", model.FinishTools: "STOP",
		model.FinishLength: "MAX_TOKENS", model.FinishFilter: "SAFETY", model.FinishOther: "OTHER"})
	return events, [][]byte{geminiEvent(a, reason, map[string]any{"text": ""})}
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

// geminiFail fails with a google.rpc.Status.
func geminiFail(w http.ResponseWriter, f failure) {
	var details []any
	if f.code != "" {
		details = append(details, map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": f.code, "domain": "googleapis.com"})
	}
	if f.retryAfter > 0 {
		details = append(details, map[string]any{
			"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%gs", f.retryAfter),
		})
	}
	writeJSON(w, f.status, map[string]any{"error": map[string]any{"code": f.status, "message": f.message, "status": f.kind, "details": details}})
}

// GeminiRequest is a request as the server got it.
type GeminiRequest struct {
	Request `json:"-"`

	Model string `json:"-"` // with its collection

	SystemInstruction GeminiContent   `json:"systemInstruction"`
	Contents          []GeminiContent `json:"contents"`
	GenerationConfig  struct {
		MIMEType string          `json:"responseMimeType"`
		Schema   json.RawMessage `json:"responseJsonSchema"`
		Thinking json.RawMessage `json:"thinkingConfig"`
		Output   int             `json:"maxOutputTokens"`
	} `json:"generationConfig"`
	ToolConfig json.RawMessage `json:"toolConfig"`
}

func (r GeminiRequest) schema() json.RawMessage { return r.GenerationConfig.Schema }

// GeminiContent is a turn on the wire. Its parts are as they were sent.
type GeminiContent struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// geminiPart is what a part is checked by.
type geminiPart struct {
	Text         *string     `json:"text"`
	FunctionCall *geminiName `json:"functionCall"`
	Response     *geminiName `json:"functionResponse"`
	Code         any         `json:"executableCode"`
	Signature    string      `json:"thoughtSignature"`
}

type geminiName struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// read parses the body and says what the API would not accept of it; empty if nothing.
func (r *GeminiRequest) read() (fault string) {
	if err := json.Unmarshal([]byte(r.Body), r); err != nil {
		return "Invalid JSON payload received: " + err.Error()
	}
	return r.fault()
}

// fault says what the API would not accept of the conversation; empty if nothing.
func (r *GeminiRequest) fault() string {
	if g := r.GenerationConfig; g.Schema != nil && (g.MIMEType != "application/json" || !isObject(g.Schema)) {
		return "responseJsonSchema: an object, and the responseMimeType application/json, are required"
	}
	if len(r.Contents) == 0 {
		return "contents is not specified"
	}
	var open []geminiName
	for i, c := range r.Contents {
		if c.Role != "user" && c.Role != "model" {
			return fmt.Sprintf("contents[%d]: please use a valid role: user, model", i)
		}
		calls, results, fault := c.check()
		if fault != "" {
			return fmt.Sprintf("contents[%d]: %s", i, fault)
		}
		if len(results) != len(open) {
			return fmt.Sprintf("contents[%d]: the number of function response parts (%d) is not that of the function call parts (%d)",
				i, len(results), len(open))
		}
		for j := range open {
			if results[j] != open[j] {
				return fmt.Sprintf("contents[%d]: the function response %v answers the function call %v", i, results[j], open[j])
			}
		}
		open = calls
	}
	if len(open) > 0 {
		return "the last function calls have no function responses"
	}
	return ""
}

// check returns the calls and results in c.
func (c GeminiContent) check() (calls, results []geminiName, fault string) {
	if len(c.Parts) == 0 {
		return nil, nil, "parts must not be empty"
	}
	for i, raw := range c.Parts {
		var p geminiPart
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, nil, fmt.Sprintf("parts[%d]: %v", i, err)
		}
		switch {
		case p.FunctionCall != nil && c.Role == "model":
			if len(calls) == 0 && p.Signature == "" {
				return nil, nil, fmt.Sprintf("parts[%d]: the function call is missing a thought_signature", i)
			}
			calls = append(calls, *p.FunctionCall)
		case p.Response != nil && c.Role == "user":
			results = append(results, *p.Response)
		case p.Text != nil && (*p.Text != "" || p.Signature != ""), p.Code != nil:
		default:
			return nil, nil, fmt.Sprintf("parts[%d]: required oneof field 'data' must have one initialized field", i)
		}
	}
	return calls, results, ""
}
