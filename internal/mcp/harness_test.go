package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/mcp"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The revisions of the protocol that clients speak.
const (
	older = "2025-11-25"
	newer = "2026-07-28"
)

// deadline bounds every wait of a test.
const deadline = time.Minute

var key = []byte(strings.Repeat("k", mcp.MinKey))

// house is a server with its tasks, and the time of day there.
type house struct {
	testing.TB
	tasks  *task.Service
	server *mcp.Server

	mu  sync.Mutex
	now time.Time
}

func newHouse(t testing.TB) *house {
	h := &house{TB: t, now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
	h.tasks = task.New(teststore.Empty(t), h.Now, nil)
	h.server = h.process(mcp.Config{Tasks: h.tasks})
	return h
}

// process is a server of another process over the same tasks.
func (h *house) process(c mcp.Config) *mcp.Server {
	h.Helper()
	c.Key, c.Now = key, h.Now
	s := assert.Must(mcp.New(c))(h)
	return s
}

func (h *house) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *house) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

// client is a program that uses the server, and what its person was asked.
type client struct {
	*house
	session *sdk.ClientSession
	asked   []*sdk.ElicitParams
}

// answers is how a person answers a question; nil: the client can't ask.
type answers func(*sdk.ElicitParams) *sdk.ElicitResult

func yes(*sdk.ElicitParams) *sdk.ElicitResult {
	return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"confirm": true}}
}

// connect connects a client of a revision to the tasks of an owner.
func (h *house) connect(owner, revision string, answer answers) *client {
	h.Helper()
	return h.connectTo(h.server.For(owner, ""), revision, answer, nil)
}

func (h *house) connectTo(server *sdk.Server, revision string, answer answers, options *sdk.ClientOptions) *client {
	h.Helper()
	c := &client{house: h}
	if options == nil {
		options = &sdk.ClientOptions{}
	}
	options.Capabilities = &sdk.ClientCapabilities{}
	if answer != nil {
		options.ElicitationHandler = func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			c.asked = append(c.asked, req.Params)
			return answer(req.Params), nil
		}
	}
	here, there := sdk.NewInMemoryTransports()
	serving := assert.Must(server.Connect(h.Context(), there, nil))(h)
	program := sdk.NewClient(&sdk.Implementation{Name: "pen and paper", Version: "1"}, options)
	c.session = assert.Must(program.Connect(h.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: revision}))(h)
	h.Cleanup(func() {
		_ = c.session.Close()
		_ = serving.Wait()
	})
	return c
}

// outcome is a result as programs read it.
type outcome struct {
	Success bool           `json:"success"`
	Data    map[string]any `json:"data"`
	Error   string         `json:"error"`
	Code    mcp.Code       `json:"code"`
	Details map[string]any `json:"details"`

	text string
}

// call calls a tool with arguments as JSON.
func (c *client) call(name, args string, meta ...any) outcome {
	c.Helper()
	p := &sdk.CallToolParams{Name: name, Meta: sdk.Meta{}}
	if args != "" {
		p.Arguments = json.RawMessage(args)
	}
	for i := 0; i < len(meta); i += 2 {
		p.Meta[meta[i].(string)] = meta[i+1]
	}
	ctx, cancel := context.WithTimeout(c.Context(), deadline)
	defer cancel()
	res, err := c.session.CallTool(ctx, p)
	assert.NoErrorf(c, err, "%s %s", name, args)
	err = c.schemaOf(name).Validate(res.StructuredContent)
	assert.That(c, err == nil, "%s %s: its result is not of its schema: %v", name, args, err)
	return read(c, res)
}

// schemaOf is what the server says of the results of a tool.
func (c *client) schemaOf(tool string) *jsonschema.Resolved {
	c.Helper()
	list := assert.Must(c.session.ListTools(c.Context(), nil))(c)
	at := slices.IndexFunc(list.Tools, func(t *sdk.Tool) bool { return t.Name == tool })
	assert.Require(c, at >= 0, "there is no tool %s", tool)
	raw := assert.Must(json.Marshal(list.Tools[at].OutputSchema))(c)
	var schema jsonschema.Schema
	assert.NoError(c, json.Unmarshal(raw, &schema))
	return assert.Must(schema.Resolve(nil))(c)
}

func read(t testing.TB, res *sdk.CallToolResult) (o outcome) {
	t.Helper()
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil {
		err = json.Unmarshal(raw, &o)
	}
	assert.Require(t, err == nil && len(res.Content) == 1, "result %s with %d contents: %v", raw, len(res.Content), err)
	assert.Require(t, o.Success != res.IsError, "success is %v, and isError %v", o.Success, res.IsError)
	o.text = res.Content[0].(*sdk.TextContent).Text
	return o
}

// failed says what a result should have failed with.
func (o outcome) failed(t testing.TB, code mcp.Code, detail, want string) {
	t.Helper()
	assert.That(t, !o.Success && o.Code == code && o.Details != nil && (detail == "" || o.Details[detail] == want),
		"got %+v; want %s with %s %q", o, code, detail, want)
	assert.That(t, o.text != "" && strings.Contains(o.text, o.Error), "a person reads %q of %q", o.text, o.Error)
}

// add puts a task on a list, past the server.
func (h *house) add(owner, title string) task.Task {
	h.Helper()
	t, _, err := h.tasks.Add(h.Context(), task.By{Owner: owner, Actor: "test"}, title, nil)
	assert.NoError(h, err)
	return t
}

// titles are those of a list.
func (h *house) titles(owner string) string {
	h.Helper()
	p := assert.Must(h.tasks.List(h.Context(), owner, task.Query{}))(h)
	var all []string
	for _, t := range p.Tasks {
		all = append(all, t.Title)
	}
	return strings.Join(all, ", ")
}
