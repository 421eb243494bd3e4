package modeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

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

	// Described are the answers to GET v1/models/NAME, as JSON by the model's id; of others the server says that it has no such model.
	Described map[string]string

	server[AnthropicRequest]
}

// AnthropicRequest is a request as the server got it.
type AnthropicRequest struct {
	Request `json:"-"`

	Model        string             `json:"model"`
	MaxTokens    int                `json:"max_tokens"`
	System       json.RawMessage    `json:"system"`
	Messages     []AnthropicMessage `json:"messages"`
	Tools        []json.RawMessage  `json:"tools"`
	ToolChoice   json.RawMessage    `json:"tool_choice"`
	Stream       bool               `json:"stream"`
	Thinking     json.RawMessage    `json:"thinking"`
	OutputConfig *struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string          `json:"type"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

func (r AnthropicRequest) schema() json.RawMessage {
	if r.OutputConfig == nil || r.OutputConfig.Format == nil {
		return nil
	}
	return r.OutputConfig.Format.Schema
}

// AnthropicMessage is a message on the wire. Its blocks are as they were sent.
type AnthropicMessage struct {
	Role    string            `json:"role"`
	Content []json.RawMessage `json:"content"`
}

// NewAnthropicServer starts a server that stops with the test, if there is one.
func NewAnthropicServer(tb testing.TB, answers ...Answer) *AnthropicServer {
	s := &AnthropicServer{}
	const begun = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\","
	s.BaseURL = s.start(tb, protocol[AnthropicRequest]{
		name:     "Anthropic",
		listPath: "/v1/models",
		list:     s.list,
		looks: func(req Request) *Raw {
			name, ok := strings.CutPrefix(req.Path, "/v1/models/")
			switch told := s.Described[name]; {
			case !ok:
				return nil
			case told != "":
				return &Raw{Body: told}
			}
			return &Raw{Status: http.StatusNotFound, Body: `{"type":"error","error":{"type":"not_found_error","message":"model: ` + name + `"}}`}
		},
		routes: map[string]route[AnthropicRequest]{"/v1/messages": {eventStream, anthropicStream, begun + `"index":0,"del`, begun + "{]}\n\n"}},
		read: func(raw Request) (AnthropicRequest, error) {
			req := AnthropicRequest{Request: raw}
			if err := json.Unmarshal([]byte(raw.Body), &req); err != nil {
				return req, err
			}
			return req, req.check()
		},
		failures: map[model.Kind]failure{
			model.RateLimit:     {status: 429, kind: "rate_limit_error", message: "This request would exceed your rate limit"},
			model.Auth:          {status: 401, kind: "authentication_error", message: "invalid x-api-key: "},
			model.ContextLength: {status: 400, kind: "invalid_request_error", message: "prompt is too long: 210000 tokens > 200000 maximum"},
			model.Timeout:       {status: 504, kind: "timeout_error", message: "The request took too long"},
			model.Refused:       {status: 400, kind: "invalid_request_error", message: "Output blocked by content filtering policy"},
			model.Invalid:       {status: 404, kind: "not_found_error", message: "model: no such model"},
			model.Overloaded:    {status: 529, kind: "overloaded_error", message: "Overloaded"},
			model.Payment:       {status: 400, kind: "invalid_request_error", message: "Your credit balance is too low to access the Anthropic API."},
			model.Server:        {status: 500, kind: "api_error", message: "Internal server error"},
		},
		fail: func(w http.ResponseWriter, f failure) {
			writeFailure(w, f, map[string]any{
				"type": "error", "error": map[string]any{"type": f.kind, "message": f.message}, "request_id": "req_fake",
			})
		},
	}, answers)
	return s
}

// list gives the page of the models after after_id.
func (s *AnthropicServer) list(query url.Values) any {
	limit := 20
	if n, err := strconv.Atoi(query.Get("limit")); err == nil {
		limit = min(n, 1000)
	}
	left := s.Models
	if after := query.Get("after_id"); after != "" {
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
	return out
}

// anthropicStream is a's message. The text is one block, each call another, and the parts of the calls interleave. The first part
// of a call's arguments is empty, as the real one is.
func anthropicStream(a Answer, req AnthropicRequest) (out, end [][]byte) {
	if a.Break == Hang && len(a.Chunks)+len(a.Calls) == 0 { // as silent as the other servers are then
		return nil, nil
	}
	out = append(out, anthropicEvent("message_start", map[string]any{"message": map[string]any{
		"id": "msg_fake", "type": "message", "role": "assistant", "model": req.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens":            a.Usage.InputTokens - a.Usage.CachedTokens,
			"cache_read_input_tokens": a.Usage.CachedTokens, "cache_creation_input_tokens": 0,
			"output_tokens": min(1, a.Usage.OutputTokens), "service_tier": "standard",
		},
	}}))
	first := 0 // of the calls' blocks
	start := func(index int, content map[string]any) {
		out = append(out, anthropicEvent("content_block_start", map[string]any{"index": index, "content_block": content}))
	}
	delta := func(index int, kind, field, text string) {
		out = append(out, anthropicEvent("content_block_delta", map[string]any{"index": index, "delta": map[string]any{"type": kind, field: text}}))
	}
	stop := func(index int) {
		out = append(out, anthropicEvent("content_block_stop", map[string]any{"index": index}))
	}
	if len(a.Chunks) > 0 {
		start(0, map[string]any{"type": "text", "text": ""})
		first = 1
	}
	out = append(out, anthropicEvent("ping", nil))
	for _, chunk := range a.Chunks {
		delta(0, "text_delta", "text", chunk)
	}
	if len(a.Chunks) > 0 && a.Break == "" {
		stop(0)
	}
	for i, c := range a.Calls {
		start(first+i, map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": map[string]any{}})
		delta(first+i, "input_json_delta", "partial_json", "")
	}
	interleaved(a.Calls, func(i int, piece string) { delta(first+i, "input_json_delta", "partial_json", piece) })
	for i := range a.Calls {
		stop(first + i)
	}
	reason := finishWord(a, map[model.Finish]string{model.FinishStop: "end_turn", model.FinishTools: "tool_use",
		model.FinishFilter: "refusal", model.FinishLength: "max_tokens", model.FinishOther: "pause_turn"})
	return out, [][]byte{
		anthropicEvent("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil, "stop_details": nil},
			"usage": map[string]any{"output_tokens": a.Usage.OutputTokens},
		}),
		anthropicEvent("message_stop", nil),
	}
}

func anthropicEvent(kind string, fields map[string]any) []byte {
	all := map[string]any{"type": kind}
	for name, value := range fields {
		all[name] = value
	}
	return []byte("event: " + kind + "\ndata: " + encode(all) + "\n\n")
}

// anthropicBlock is what the rules look at in a block of content.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  *string         `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

// check says which of the protocol's rules r breaks. Anthropic answers each with status 400.
func (r AnthropicRequest) check() error {
	switch {
	case r.Header.Get("Anthropic-Version") == "":
		return errors.New("anthropic-version: header is required")
	case !utf8.ValidString(r.Body):
		return errors.New("the request body is not valid UTF-8")
	case r.Model == "":
		return errors.New("model: Field required")
	case r.MaxTokens <= 0:
		return errors.New("max_tokens: must be greater than or equal to 1")
	case !r.Stream:
		return errors.New("modeltest: only streams are answered")
	case len(r.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case r.Messages[0].Role != "user":
		return errors.New("messages: first message must use the \"user\" role")
	case r.Messages[len(r.Messages)-1].Role != "user":
		return errors.New("this model does not support assistant message prefill")
	}
	if c := r.OutputConfig; c != nil && c.Format != nil && (c.Format.Type != "json_schema" || !isObject(c.Format.Schema)) {
		return errors.New("output_config.format: a schema is required")
	}
	if err := r.checkTools(); err != nil {
		return err
	}
	var open []string // the calls of the message before
	for i, m := range r.Messages {
		if i > 0 && m.Role == r.Messages[i-1].Role {
			return fmt.Errorf("messages.%d: roles must alternate", i)
		}
		blocks, err := m.blocks()
		if err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if open, err = m.checkBlocks(blocks, open); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		if len(open) > 0 && len(r.Tools) == 0 {
			return errors.New("requests which include tool_use or tool_result blocks must define tools")
		}
	}
	return nil
}

func (r AnthropicRequest) checkTools() error {
	for i, raw := range r.Tools {
		var tool struct {
			Name   string `json:"name"`
			Schema struct {
				Type string `json:"type"`
			} `json:"input_schema"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			return fmt.Errorf("tools.%d: %w", i, err)
		}
		if tool.Name == "" || tool.Schema.Type != "object" {
			return fmt.Errorf("tools.%d: a name and an input_schema of type object are required", i)
		}
	}
	return nil
}

func (m AnthropicMessage) blocks() ([]anthropicBlock, error) {
	if len(m.Content) == 0 {
		return nil, errors.New("content must be non-empty")
	}
	blocks := make([]anthropicBlock, len(m.Content))
	for i, raw := range m.Content {
		if err := json.Unmarshal(raw, &blocks[i]); err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
	}
	return blocks, nil
}

var anthropicID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// checkBlocks checks the blocks of one message, which follows one that made the open calls, and returns its own calls.
func (m AnthropicMessage) checkBlocks(blocks []anthropicBlock, open []string) (calls []string, err error) {
	others := false
	for i, b := range blocks {
		if err := b.check(m.Role); err != nil {
			return nil, fmt.Errorf("content.%d: %w", i, err)
		}
		switch b.Type {
		case "tool_use":
			calls = append(calls, b.ID)
		case "tool_result":
			at := slices.Index(open, b.ToolUseID)
			if at < 0 || others {
				return nil, fmt.Errorf("content.%d: unexpected tool_use_id in a tool_result block: %s", i, b.ToolUseID)
			}
			open = slices.Delete(slices.Clone(open), at, at+1)
		default:
			others = true
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %v", open)
	}
	if last := blocks[len(blocks)-1].Type; last == "thinking" || last == "redacted_thinking" {
		return nil, errors.New("the final block in an assistant message cannot be thinking")
	}
	return calls, nil
}

func (b anthropicBlock) check(role string) error {
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return errors.New("text content blocks must contain non-whitespace text")
		}
		return nil
	case "tool_result":
		var parts []anthropicBlock
		if len(b.Content) > 0 && json.Unmarshal(b.Content, &parts) != nil {
			return errors.New("the content of a tool_result is not a list of blocks")
		}
		for _, part := range parts {
			if err := part.check(role); err != nil {
				return err
			}
		}
		if role != "user" {
			return errors.New("tool_result blocks can only be in user messages")
		}
		return nil
	}
	if role != "assistant" {
		return fmt.Errorf("a block of type %q can only be in assistant messages", b.Type)
	}
	switch b.Type {
	case "tool_use":
		var input map[string]any
		if !anthropicID.MatchString(b.ID) || b.Name == "" || json.Unmarshal(b.Input, &input) != nil || input == nil {
			return errors.New("a tool_use block needs an id of letters, digits, _ and -, a name, and a dictionary as input")
		}
	case "thinking":
		if b.Thinking == nil || b.Signature == "" {
			return errors.New("thinking.signature: Field required")
		}
	case "redacted_thinking":
	default:
		return fmt.Errorf("input tag %q found does not match any of the expected tags", b.Type)
	}
	return nil
}
