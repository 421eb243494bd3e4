package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/mcp"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
)

// The revisions of the Model Context Protocol.
const (
	olderMCP = "2025-11-25"
	newerMCP = "2026-07-28"
)

// offering is a house that offers the tools of tasks.
func offering(t testing.TB) *house { return offeringOf(t, task.New(teststore.Empty(t), time.Now, nil)) }

func offeringOf(t testing.TB, tasks *task.Service) *house {
	h := newHouse(t)
	s := assert.Must(mcp.New(mcp.Config{Tasks: tasks, Key: []byte(strings.Repeat("k", mcp.MinKey))}))(t)
	h.mount(s.HTTP())
	return h
}

func (h *house) mount(m *mcp.HTTP) {
	h.config.MCP = m
	h.Cleanup(m.Close)
}

// bearing adds a token to requests.
type bearing struct {
	token string
	inner *http.Transport
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.inner.RoundTrip(r)
}

// connect connects a client that says yes to every question.
func (h *house) connect(token, revision string) (*sdk.ClientSession, error) {
	inner := &http.Transport{}
	h.Cleanup(inner.CloseIdleConnections)
	c := sdk.NewClient(&sdk.Implementation{Name: "desk", Version: "1"}, &sdk.ClientOptions{
		ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}, nil
		}})
	session, err := c.Connect(h.Context(), &sdk.StreamableClientTransport{Endpoint: h.url + "/mcp",
		HTTPClient: &http.Client{Transport: bearing{token, inner}}, MaxRetries: -1},
		&sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		h.Cleanup(func() { _ = session.Close() })
	}
	return session, err
}

func (h *house) connected(token, revision string) *sdk.ClientSession {
	h.Helper()
	s := assert.Must(h.connect(token, revision))(h)
	return s
}

// calls calls a tool, and gives what its result says.
func (h *house) calls(s *sdk.ClientSession, tool, args string) (code string, data map[string]any) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), deadline)
	defer cancel()
	res, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	assert.NoErrorf(h, err, "%s", tool)
	raw, err := json.Marshal(res.StructuredContent)
	var o struct {
		Code string
		Data map[string]any
	}
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	assert.NoErrorf(h, err, "%s: %s", tool, raw)
	return o.Code, o.Data
}

func TestBothErasServeAtOneAddress(t *testing.T) {
	for _, revision := range []string{olderMCP, newerMCP} {
		t.Run(revision, func(t *testing.T) {
			h := offering(t).open()
			s := h.connected(adasToken, revision)
			got := s.InitializeResult().ProtocolVersion
			assert.Require(t, got == revision, "%s was agreed on", got)
			h.calls(s, "add_task", `{"title":"Buy milk"}`)
			code, _ := h.calls(h.connected(evesToken, revision), "complete_task",
				`{"task_id":1}`)
			assert.That(t, code == "NOT_FOUND", "eve completes ada's task with %q", code)
			code, data := h.calls(s, "delete_task", `{"task_id":1}`)
			assert.That(t, code == "" && data["title"] == "Buy milk", "a confirmed deletion gives %s %v", code, data)
			list, err := s.ListTools(t.Context(), nil)
			assert.That(t, err == nil && len(list.Tools) == 5 && list.CacheScope == "private", "%+v, %v", list, err)
			h.log.waitFor(t, `"route":"POST /mcp"`)
		})
	}
}

func TestTokenThatReadsIsShownWhatReads(t *testing.T) {
	for _, revision := range []string{olderMCP, newerMCP} {
		h := offering(t).open()
		h.calls(h.connected(adasToken, revision), "add_task", `{"title":"Buy milk"}`)
		s := h.connected(adasReader, revision)
		list, err := s.ListTools(t.Context(), nil)
		assert.That(t, err == nil && len(list.Tools) == 1 && list.Tools[0].Name == "list_tasks",
			"%s: %+v, %v", revision, list, err)
		_, data := h.calls(s, "list_tasks", `{}`)
		assert.That(t, fmt.Sprint(data["total"]) == "1", "%s: it lists %v", revision, data)
		code, _ := h.calls(s, "complete_task", `{"task_id":1}`)
		assert.That(t, code == "FORBIDDEN", "%s: it completes with %q", revision, code)
	}
}

// message is a request of JSON-RPC to /mcp.
func message(token, body string, header map[string]string) question {
	all := map[string]string{"Accept": "application/json, text/event-stream"}
	for name, value := range header {
		all[name] = value
	}
	return question{method: "POST", path: "/mcp", token: token, body: body, header: all}
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
)

// session begins a session by hand.
func (h *house) session(token string) (id string) {
	h.Helper()
	a := h.ask(message(token, initialize, nil))
	id = a.header.Get("Mcp-Session-Id")
	assert.Require(h, a.status == 200 && id != "", "initialize: %d %s", a.status, a.body)
	return id
}

func TestSessionsOfAnOwnerAreBounded(t *testing.T) {
	h := newHouse(t)
	h.mount(mcp.NewHTTP(mcp.HTTPConfig{Sessions: 2, Server: func(_ string, id func() string) *sdk.Server {
		return sdk.NewServer(&sdk.Implementation{Name: "x"}, &sdk.ServerOptions{GetSessionID: id})
	}}))
	h.open()
	first := h.session(adasToken)
	h.session(adasToken)
	a := h.ask(message(adasToken, initialize, nil))
	assert.That(t, a.status == 429 && a.header.Get("Retry-After") != "", "a third session: %d %s", a.status, a.body)
	h.session(evesToken)
	h.ask(question{method: "DELETE", path: "/mcp", header: map[string]string{"Mcp-Session-Id": first}})
	h.session(adasToken)
}

// waiting is a house whose only tool says that it was called, and waits until its call is withdrawn.
func waiting(t *testing.T) (h *house, called, over <-chan struct{}) {
	h = newHouse(t)
	began, ended := make(chan struct{}, 8), make(chan struct{}, 8)
	h.mount(mcp.NewHTTP(mcp.HTTPConfig{Server: func(_ string, id func() string) *sdk.Server {
		s := sdk.NewServer(&sdk.Implementation{Name: "x"}, &sdk.ServerOptions{GetSessionID: id})
		s.AddTool(&sdk.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				began <- struct{}{}
				<-ctx.Done()
				ended <- struct{}{}
				return nil, ctx.Err()
			})
		return s
	}}))
	return h, began, ended
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(deadline):
		t.Fatalf("%s took longer than %s", what, deadline)
	}
}

func TestCallEndsWithItsTokenAndWithTheServer(t *testing.T) {
	for what, end := range map[string]func(*house, chan struct{}){
		"the token": func(h *house, _ chan struct{}) {
			assert.Nil(h, h.users.RevokeUser(h.Context(), "ada", time.Now()))
		},
		"the server": func(_ *house, leaving chan struct{}) { close(leaving) },
	} {
		t.Run(what, func(t *testing.T) {
			h, called, over := waiting(t)
			leaving := make(chan struct{})
			h.config.Leaving, h.config.Limits.Beat = leaving, 5*time.Millisecond
			h.open()
			s := h.connected(adasToken, newerMCP)
			go func() { _, _ = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "wait"}) }()
			within(t, "the call", called)
			end(h, leaving)
			within(t, "the end of the call", over)
		})
	}
}

func TestEndOfASessionWithdrawsItsCalls(t *testing.T) {
	for what, end := range map[string]func(h *house, id string){
		"by its client": func(h *house, id string) {
			a := h.ask(question{method: "DELETE", path: "/mcp",
				header: map[string]string{"Mcp-Session-Id": id}})
			assert.That(h, a.status == 204, "the end: %d %s", a.status, a.body)
		},
		"by the server": func(h *house, _ string) { h.config.MCP.Close() },
	} {
		t.Run(what, func(t *testing.T) {
			h, called, over := waiting(t)
			h.open()
			s := h.connected(adasToken, olderMCP)
			returned := make(chan struct{})
			go func() {
				defer close(returned)
				_, _ = s.CallTool(t.Context(), &sdk.CallToolParams{Name: "wait"})
			}()
			within(t, "the call", called)
			end(h, s.ID())
			within(t, "the end of the call", over)
			within(t, "the answer", returned)
		})
	}
}

func TestCallsAreStreamsOfTheirUser(t *testing.T) {
	h, called, over := waiting(t)
	h.config.Limits.Streams = 1
	h.open()
	s := h.connected(adasToken, newerMCP)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // the request before it counts until the server has let go of it, which a client does not see
		for ctx.Err() == nil {
			_, _ = s.CallTool(ctx, &sdk.CallToolParams{Name: "wait"})
		}
	}()
	within(t, "the call", called)
	h.refused("a second at once", message(adasToken, initialize, nil), 429, "too_many_streams")
	cancel()
	within(t, "the end of the call", over)
}

func TestRunOfAToolIsOneOfItsUsers(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Runs = 1
	release := h.holds("ada")
	defer release()
	h.open()
	h.begin(adasToken, "one")
	err := h.server.Begin(t.Context(), "ada", func() error { return errors.New("it began") })
	var f *mcp.Fault
	assert.That(t, errors.As(err, &f) && f.Code == mcp.Unavailable, "a second run: %v", err)
}
