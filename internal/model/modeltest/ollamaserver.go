package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"sibyl/internal/model"
)

// OllamaServer speaks Ollama's own protocol on a loopback port. Each POST to api/chat or api/embed takes the next Answer; GET
// api/tags lists Models. The protocol has no cached tokens and no finish for tool calls: both are left out.
type OllamaServer struct {
	// BaseURL is what an adapter is told: the server without a path.
	BaseURL string

	// Models are the names that GET api/tags lists. Set it before the first request.
	Models []OllamaModel

	// Show are the answers to POST api/show, as JSON by the model's name; of others the server says that it has no such model. Loaded is
	// the answer to GET api/ps; empty: no model is loaded. Set them before the first request.
	Show   map[string]string
	Loaded string

	server[OllamaRequest]
}

// OllamaModel is a model that the server has. RemoteHost is where it runs, if not there.
type OllamaModel struct {
	Name       string
	RemoteHost string
}

// OllamaRequest is a request as the server got it.
type OllamaRequest struct {
	Request `json:"-"`

	Model    string            `json:"model"`
	Think    any               `json:"think"`
	Messages []OllamaMessage   `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
	Format   json.RawMessage   `json:"format"`
	Input    []string          `json:"input"`
	Stream   *bool             `json:"stream"` // left out: true
	Truncate *bool             `json:"truncate"`
	Shift    *bool             `json:"shift"`
	Options  map[string]any    `json:"options"`
}

func (r OllamaRequest) schema() json.RawMessage { return r.Format }

// OllamaMessage is a message on the wire. ToolCalls is as it was sent.
type OllamaMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Thinking   string          `json:"thinking"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolName   string          `json:"tool_name"`
	ToolCallID string          `json:"tool_call_id"`
}

// NewOllamaServer starts a server that stops with the test, if there is one. It fails as Ollama does, or, with what it never says by itself, as a proxy
// before it or the cloud behind it.
func NewOllamaServer(tb testing.TB, answers ...Answer) *OllamaServer {
	s := &OllamaServer{}
	s.BaseURL = s.start(tb, protocol[OllamaRequest]{
		name:     "Ollama",
		listPath: "/api/tags",
		list:     s.list,
		looks:    s.look,
		routes: map[string]route[OllamaRequest]{
			"/api/chat":  {jsonLines, ollamaStream, `{"model":"fake","message":{"role":"assis`, "{\"message\":{]}\n"},
			"/api/embed": {wholeJSON, ollamaVectors, `{"model":"fa`, `{"embeddings":[{]}`},
		},
		read: func(raw Request) (OllamaRequest, error) {
			req := OllamaRequest{Request: raw}
			err := json.Unmarshal([]byte(raw.Body), &req)
			if err == nil && req.Format != nil && !isObject(req.Format) {
				err = errors.New("invalid format: expected an object")
			}
			return req, err
		},
		failures: map[model.Kind]failure{
			model.RateLimit:     {status: 429, message: "rate limit exceeded"},
			model.Auth:          {status: 401, message: "unauthorized: "},
			model.ContextLength: {status: 400, message: "the input length exceeds the context length"},
			model.Timeout:       {status: 408, message: "the request took too long"},
			model.Refused:       {status: 400, message: "the request was rejected by the content policy"},
			model.Invalid:       {status: 404, message: "model 'fake' not found"},
			model.Overloaded:    {status: 503, message: "the server is loading another model"},
			model.Payment:       {status: 402, message: "this model needs a subscription"},
			model.Server:        {status: 500, message: "model runner has unexpectedly stopped"},
		},
		fail: func(w http.ResponseWriter, f failure) { writeFailure(w, f, map[string]string{"error": f.message}) },
	}, answers)
	return s
}

func (s *OllamaServer) look(req Request) *Raw {
	switch req.Path {
	case "/api/ps":
		return &Raw{Body: cmp.Or(s.Loaded, `{"models":[]}`)}
	case "/api/show":
		var of struct {
			Model string `json:"model"`
		}
		_ = json.Unmarshal([]byte(req.Body), &of) // another form names no model
		if told, ok := s.Show[of.Model]; ok {
			return &Raw{Body: told}
		}
		return &Raw{Status: http.StatusNotFound, Body: encode(map[string]string{"error": "model '" + of.Model + "' not found"})}
	}
	return nil
}

func (s *OllamaServer) list(url.Values) any {
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
	return map[string]any{"models": entries}
}

// ollamaStream is a line for each chunk of text, then one for each call, as the protocol sends no part of a call.
func ollamaStream(a Answer, req OllamaRequest) (lines, end [][]byte) {
	for _, chunk := range a.Chunks {
		lines = append(lines, ollamaLine(req.Model, map[string]any{"content": chunk}, nil))
	}
	for i, c := range a.Calls {
		call := map[string]any{"function": map[string]any{"index": i, "name": c.Name, "arguments": ollamaArguments(c.Arguments)}}
		if c.ID != "" {
			call["id"] = c.ID
		}
		lines = append(lines, ollamaLine(req.Model, map[string]any{"content": "", "tool_calls": []any{call}}, nil))
	}
	// "content_filter" is a word that only gateways pass on.
	reason := finishWord(a, map[model.Finish]string{model.FinishFilter: "content_filter", model.FinishTools: "stop"})
	return lines, [][]byte{ollamaLine(req.Model, map[string]any{"content": ""}, map[string]any{
		"done_reason": reason, "total_duration": 2_000_000_000, "load_duration": 1_000_000_000,
		"prompt_eval_count": a.Usage.InputTokens, "prompt_eval_duration": 5_000_000,
		"eval_count": a.Usage.OutputTokens, "eval_duration": 9_000_000,
	})}
}

func ollamaVectors(a Answer, _ OllamaRequest) (parts, end [][]byte) {
	return broken(a, map[string]any{"model": "fake", "embeddings": a.Vectors, "prompt_eval_count": a.Usage.InputTokens})
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
