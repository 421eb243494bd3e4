package modeltest

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sibyl/internal/model"
)

// OpenAIServer speaks OpenAI's protocols on a loopback port. Each POST to chat/completions, responses, embeddings or
// audio/transcriptions takes the next Answer; GET models lists Models.
type OpenAIServer struct {
	// BaseURL is what an adapter is told, ending in /v1.
	BaseURL string

	// Models are the ids that GET models lists. Set it before the first request.
	Models []string

	server[OpenAIRequest]
}

// OpenAIRequest is a request as the server got it. Form has the fields of one that is a form, and File its file.
type OpenAIRequest struct {
	Request `json:"-"`

	Model         string            `json:"model"`
	Messages      []OpenAIMessage   `json:"messages"`
	Tools         []json.RawMessage `json:"tools"`
	ToolChoice    string            `json:"tool_choice"`
	Stream        bool              `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat *struct {
		Type   string `json:"type"`
		Schema struct {
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Input json.RawMessage `json:"input"` // texts to embed, or the items of a request for a response
	Text  struct {
		Format *struct {
			Type   string          `json:"type"`
			Name   string          `json:"name"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`

	Form url.Values `json:"-"`
	File string     `json:"-"`
}

func (r OpenAIRequest) schema() json.RawMessage {
	switch {
	case r.ResponseFormat != nil:
		return r.ResponseFormat.Schema.Schema
	case r.Text.Format != nil:
		return r.Text.Format.Schema
	}
	return nil
}

// OpenAIMessage is a message on the wire. ToolCalls is as it was sent.
type OpenAIMessage struct {
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	ToolCalls  json.RawMessage `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
}

// NewOpenAIServer starts a server that stops with the test, if there is one.
func NewOpenAIServer(tb testing.TB, answers ...Answer) *OpenAIServer {
	s := &OpenAIServer{}
	s.BaseURL = s.start(tb, protocol[OpenAIRequest]{
		name:     "OpenAI",
		listPath: "/v1/models",
		list: func(url.Values) any {
			entries := make([]map[string]string, 0, len(s.Models))
			for _, id := range s.Models {
				entries = append(entries, map[string]string{"id": id, "object": "model", "owned_by": "modeltest"})
			}
			return map[string]any{"object": "list", "data": entries}
		},
		routes: map[string]route[OpenAIRequest]{
			"/v1/chat/completions": {eventStream, openAIStream,
				`data: {"id":"chatcmpl-fake","choices":[{"index":0,"del`, "data: {\"choices\":[{]}\n\n"},
			"/v1/responses": {eventStream, responseStream,
				"event: response.output_text.delta\ndata: {\"type\":\"response.outp", "data: {\"type\":[}\n\n"},
			"/v1/embeddings":           {wholeJSON, openAIVectors, `{"object":"li`, `{"data":[{]}`},
			"/v1/audio/transcriptions": {wholeJSON, openAITranscript, `{"text":"ha`, `{"text":[}`},
		},
		read: readOpenAI,
		failures: map[model.Kind]failure{
			model.RateLimit: {status: 429, message: "Rate limit reached", kind: "requests", code: "rate_limit_exceeded"},
			model.Auth:      {status: 401, message: "Incorrect API key: ", kind: "invalid_request_error", code: "invalid_api_key"},
			model.ContextLength: {status: 400, message: "This model's maximum context length is 8192 tokens",
				kind: "invalid_request_error", code: "context_length_exceeded"},
			model.Timeout: {status: 408, message: "The request took too long", kind: "timeout"},
			model.Refused: {status: 400, message: "Your request was rejected by the safety system",
				kind: "invalid_request_error", code: "content_policy_violation"},
			model.Invalid:    {status: 404, message: "The model does not exist", kind: "invalid_request_error", code: "model_not_found"},
			model.Server:     {status: 500, message: "The server had an error", kind: "server_error"},
			model.Overloaded: {status: 503, message: "The engine is currently overloaded, please try again later", kind: "server_error"},
			model.Payment: {status: 429, message: "You exceeded your current quota, please check your plan and billing details.",
				kind: "insufficient_quota", code: "insufficient_quota"},
		},
		fail: func(w http.ResponseWriter, f failure) {
			writeFailure(w, f, map[string]any{"error": map[string]any{"message": f.message, "type": f.kind, "param": nil, "code": f.code}})
		},
	}, answers) + "/v1"
	return s
}

// readOpenAI reads a request, and says which of the protocol's rules it breaks.
func readOpenAI(raw Request) (OpenAIRequest, error) {
	req := OpenAIRequest{Request: raw}
	kind, parameters, _ := mime.ParseMediaType(raw.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		var err error
		req.Form, req.File, err = readForm(raw.Body, parameters["boundary"])
		if req.Model = req.Form.Get("model"); err == nil && req.Model == "" {
			err = errors.New("you must provide a model parameter")
		}
		return req, err
	}
	if err := json.Unmarshal([]byte(raw.Body), &req); err != nil {
		return req, errors.New("the body is not valid: " + err.Error())
	}
	if f := req.ResponseFormat; f != nil && (f.Type != "json_schema" || f.Schema.Name == "" || !isObject(f.Schema.Schema)) {
		return req, errors.New("Invalid value: 'response_format.json_schema' wants a name and a schema")
	}
	if strings.HasSuffix(raw.Path, "/responses") {
		return req, checkItems(req)
	}
	return req, nil
}

// readForm reads a form with one file.
func readForm(body, boundary string) (fields url.Values, content string, err error) {
	form, err := multipart.NewReader(strings.NewReader(body), boundary).ReadForm(1 << 20)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = form.RemoveAll() }()
	if len(form.File["file"]) != 1 {
		return nil, "", errors.New("no 'file' field in the request")
	}
	file, err := form.File["file"][0].Open()
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	return form.Value, string(text), err
}

// isObject says whether raw is a JSON object, such as a schema has to be.
func isObject(raw json.RawMessage) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(raw, &fields) == nil && fields != nil
}

func openAIStream(a Answer, req OpenAIRequest) (parts, end [][]byte) {
	part := func(delta map[string]any) {
		parts = append(parts, openAIChunk(openAIChoices(delta, nil), nil))
	}
	for i, chunk := range a.Chunks {
		delta := map[string]any{"content": chunk}
		if i == 0 {
			delta["role"] = "assistant"
		}
		part(delta)
	}
	for i, c := range a.Calls {
		part(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]string{"name": c.Name, "arguments": ""},
		}}})
	}
	interleaved(a.Calls, func(i int, piece string) {
		part(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]string{"arguments": piece}}}})
	})
	finish := finishWord(a, map[model.Finish]string{model.FinishFilter: "content_filter", model.FinishTools: "tool_calls"})
	end = append(end, openAIChunk(openAIChoices(map[string]any{}, finish), nil))
	if req.StreamOptions.IncludeUsage && a.Usage != (model.Usage{}) {
		end = append(end, openAIChunk([]any{}, map[string]any{
			"prompt_tokens":         a.Usage.InputTokens,
			"completion_tokens":     a.Usage.OutputTokens,
			"total_tokens":          a.Usage.InputTokens + a.Usage.OutputTokens,
			"prompt_tokens_details": map[string]int{"cached_tokens": a.Usage.CachedTokens},
		}))
	}
	return parts, append(end, []byte("data: [DONE]\n\n"))
}

func openAIChoices(delta map[string]any, finish any) []any {
	return []any{map[string]any{"index": 0, "delta": delta, "logprobs": nil, "finish_reason": finish}}
}

func openAIChunk(choices []any, usage any) []byte {
	return []byte("data: " + encode(map[string]any{
		"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1700000000, "model": "fake",
		"system_fingerprint": "fp_fake", "choices": choices, "usage": usage,
	}) + "\n\n")
}

// openAIVectors gives the vectors last first: their index says whose they are.
func openAIVectors(a Answer, _ OpenAIRequest) (parts, end [][]byte) {
	entries := make([]any, 0, len(a.Vectors))
	for i := len(a.Vectors) - 1; i >= 0; i-- {
		entries = append(entries, map[string]any{"object": "embedding", "index": i, "embedding": a.Vectors[i]})
	}
	return broken(a, map[string]any{"object": "list", "data": entries, "model": "fake",
		"usage": map[string]int{"prompt_tokens": a.Usage.InputTokens, "total_tokens": a.Usage.InputTokens}})
}

// openAITranscript has the details of a transcript only where they were asked for.
func openAITranscript(a Answer, req OpenAIRequest) (parts, end [][]byte) {
	return transcript(a, req.Form.Get("response_format") == "verbose_json")
}

// transcript is an answer to audio in OpenAI's form.
func transcript(a Answer, details bool) (parts, end [][]byte) {
	body := map[string]any{"text": a.Transcript.Text}
	if details {
		segments := make([]any, 0, len(a.Transcript.Segments))
		for i, s := range a.Transcript.Segments {
			one := map[string]any{"id": i, "start": s.Start, "end": s.End, "text": s.Text, "no_speech_prob": s.NoSpeech}
			if s.Confidence > 0 {
				one["avg_logprob"] = math.Log(s.Confidence)
			}
			segments = append(segments, one)
		}
		body["language"], body["duration"], body["segments"] = a.Transcript.Language, a.Transcript.Seconds, segments
	}
	return broken(a, body)
}

// broken is a whole JSON answer, of which nothing comes if it is to break.
func broken(a Answer, body any) (parts, end [][]byte) {
	if a.Break != "" {
		return nil, nil
	}
	return nil, [][]byte{[]byte(encode(body))}
}
