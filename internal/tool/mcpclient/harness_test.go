package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// shelf is a server as ours is: its one thing has a version, and is removed only when the client confirms that.
type shelf struct {
	eras []string // protocols that it speaks; nil: all

	mu        sync.Mutex
	version   int64
	removed   int
	byKey     map[string]*mcp.CallToolResult
	metas     []map[string]any // of the calls
	answers   []string         // to its questions
	began     chan struct{}    // gets one when wait begins
	cancelled chan struct{}    // gets one when wait is cancelled
	extra     *mcp.Tool        // listed as well
}

func newShelf() *shelf {
	return &shelf{version: 3, byKey: map[string]*mcp.CallToolResult{}, began: make(chan struct{}, 9),
		cancelled: make(chan struct{}, 9)}
}

func (s *shelf) withLock(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func yes() *bool { b := true; return &b }
func no() *bool  { return new(bool) }

const anyObject = `{"type":"object"}`

// server makes an SDK server on the shelf.
func (s *shelf) server() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "shelf", Version: "1"},
		&mcp.ServerOptions{SupportedProtocolVersions: s.eras, Capabilities: &mcp.ServerCapabilities{}})
	add := func(name string, a *mcp.ToolAnnotations, h mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, Title: "The " + name, Description: "does " + name,
			InputSchema: json.RawMessage(anyObject), Annotations: a},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				s.withLock(func() { s.metas = append(s.metas, req.Params.Meta) })
				return h(ctx, req)
			})
	}
	add("look", &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: no()}, s.handleLook)
	add("remove", &mcp.ToolAnnotations{DestructiveHint: yes(), IdempotentHint: true}, s.handleRemove)
	add("put", &mcp.ToolAnnotations{DestructiveHint: no()}, s.handleLook)
	add("wait", nil, s.handleWait)
	add("refuse", &mcp.ToolAnnotations{ReadOnlyHint: true}, s.handleRefuse)
	if s.extra != nil {
		server.AddTool(s.extra, s.handleLook)
	}
	return server
}

func textResult(text string, data any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: data}
}

func (s *shelf) handleLook(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return textResult("seen "+string(req.Params.Arguments), map[string]any{"success": true}), nil
}

func (s *shelf) handleWait(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.began <- struct{}{}
	<-ctx.Done()
	s.cancelled <- struct{}{}
	return nil, ctx.Err()
}

func refusalResult(code, message string) *mcp.CallToolResult {
	r := textResult(code, map[string]any{"success": false, "code": code, "error": message,
		"details": map[string]any{"field": "x"}})
	r.IsError = true
	return r
}

func (s *shelf) handleRefuse(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var args struct{ Code string }
	if err := json.Unmarshal(req.Params.Arguments, &args); err != nil {
		return nil, err
	}
	return refusalResult(args.Code, "no, "+args.Code), nil
}

// handleRemove asks as our own server does, and is performed once for each key.
func (s *shelf) handleRemove(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, _ := req.Params.Meta[tool.MetaKey].(string)
	if was := s.byKey[key]; was != nil {
		return was, nil
	}
	if look, _ := req.Params.Meta[tool.MetaLook].(bool); look {
		return refusalResult("NOT_FOUND", "nothing was done"), nil
	}
	if want, ok := req.Params.Meta[tool.MetaVersion].(float64); ok && int64(want) != s.version {
		return refusalResult("CONFLICT", "it has changed"), nil
	}
	answer, answered := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
	if !answered {
		digest, err := tool.ConfirmationDigest("remove", req.Params.Arguments, s.version)
		if err != nil {
			return nil, err
		}
		ask := &mcp.ElicitParams{Message: "Remove it?", Meta: mcp.Meta{tool.MetaConfirms: digest},
			RequestedSchema: json.RawMessage(
				`{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}`)}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"confirm": ask}, RequestState: "state"}, nil
	}
	s.answers = append(s.answers, answer.Action)
	if answer.Action != "accept" || answer.Content["confirm"] != true {
		return refusalResult("CONFIRMATION_REQUIRED", "nobody confirmed it"), nil
	}
	s.removed++
	s.byKey[key] = textResult(fmt.Sprintf("removed %d", s.removed), map[string]any{"success": true})
	return s.byKey[key], nil
}

func connect(t *testing.T, transport mcp.Transport, cfg Config) *Session {
	t.Helper()
	if cfg.Name == "" {
		cfg.Name = "shelf"
	}
	session := assert.Must(Connect(t.Context(), transport, cfg))(t)
	t.Cleanup(func() { session.Close() })
	return session
}

// toolNamed finds a tool.
func toolNamed(t *testing.T, s *Session, name string) tool.Tool {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Spec().Name == name {
			return one
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

func kindOfError(err error) tool.Kind {
	var known *tool.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return ""
}
