package taskchat_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/model"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
	"sibyl/prompts"
	"sibyl/trees"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(teststore.Main(m)) }

const (
	ada journal.Owner = "ada"
	eve journal.Owner = "eve"
)

// house is what outlives processes: the journal and the tasks.
type house struct {
	*testing.T
	journal journal.Store
	tasks   *task.Service
	served  mcp.Tasks   // what the tools reach; nil: tasks
	model   model.Model // nil: rules alone
	now     func() time.Time

	remembered func() // is called once when the next message has read what its conversation knows
}

func newHouse(t *testing.T) *house {
	t.Helper()
	kept := teststore.Empty(t)
	h := &house{T: t, journal: kept, now: time.Now}
	h.tasks = task.New(kept, func() time.Time { return h.now() }, nil)
	return h
}

// process is one that serves the assistant, through a real MCP client and server.
func (h *house) process(holder string) *process {
	h.Helper()
	now := func() time.Time { return h.now() }
	var served mcp.Tasks = h.tasks
	if h.served != nil {
		served = h.served
	}
	server := assert.Must(mcp.New(mcp.Config{Tasks: served, Undo: true, Key: []byte(strings.Repeat("k", mcp.MinKey)),
		Now: now}))(h)
	read := func(name string) ([]byte, error) { return prompts.FS.ReadFile("tasks/" + name + ".md") }
	d := taskchat.Deps{Store: watched{h.journal, h}, Prompt: read, Now: now,
		Choose: func(context.Context, string) (string, error) {
			if h.model != nil {
				return h.model.ID(), nil
			}
			return "offline:rules", nil
		},
		Model: func(context.Context, string) (model.Model, error) { return h.model, nil },
		Tools: func(ctx context.Context, owner, actor string) (*tool.Set, func(), error) {
			s, err := mcpclient.Connect(ctx, mcpclient.InProcess(server.For(owner, actor)),
				mcpclient.Config{Name: "tasks", Source: tool.Task, Own: true})
			if err != nil {
				return nil, nil, err
			}
			return tool.NewSet(s.Tools()...), s.Close, nil
		}}
	a := assert.Must(taskchat.New(d))(h)
	p := &process{house: h}
	p.engine = assert.Must(run.NewEngine(run.Config{Store: h.journal, Assistants: []*run.Assistant{a}, Build: "test",
		Holder: holder, Redact: redact.New().Bytes, Dead: func(holder string) bool {
			return holder == "dead"
		}}))(h)
	set := assert.Must(trees.Open(""))(h)
	p.service = assert.Must(service.New(service.Config{Store: h.journal, Engine: p.engine, Redact: redact.New().String,
		Now:        now,
		Assistants: describe(a, d), Tree: func(name string) (string, []byte, error) {
			t, err := set.Get(name)
			return t.File, t.Text, err
		}}))(h)
	return p
}

// watched is the journal as the assistant reads it.
type watched struct {
	journal.Store
	*house
}

func (w watched) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error) {
	all, err := w.Store.Runs(ctx, owner, f)
	if did := w.remembered; did != nil && f.Summaries {
		w.remembered = nil
		did()
	}
	return all, err
}

// has adds tasks; those with a ✓ are completed.
func (h *house) has(owner journal.Owner, titles ...string) (ids []int64) {
	h.Helper()
	for _, title := range titles {
		title, done := strings.CutSuffix(title, " ✓")
		by := task.By{Owner: string(owner), Actor: "test"}
		t, _, err := h.tasks.Add(h.Context(), by, title, nil)
		assert.NoError(h, err)
		if done {
			_, _, err = h.tasks.Complete(h.Context(), by, t.ID, 0)
			assert.NoError(h, err)
		}
		ids = append(ids, t.ID)
	}
	return ids
}

// list are the titles of an owner's tasks; of completed ones with a ✓.
func (h *house) list(owner journal.Owner) (titles []string) {
	h.Helper()
	p := assert.Must(h.tasks.List(h.Context(), string(owner), task.Query{}))(h)
	for _, t := range p.Tasks {
		if t.Status == task.Completed {
			t.Title += " ✓"
		}
		titles = append(titles, t.Title)
	}
	return titles
}

func (h *house) wants(owner journal.Owner, titles ...string) {
	h.Helper()
	assert.NoDiff(h, cmp.Diff(titles, h.list(owner)), "tasks (-want +got)")
}

type process struct {
	*house
	engine  *run.Engine
	service *service.Service
}

// talk is a conversation of an owner.
type talk struct {
	*process
	owner journal.Owner
	id    string
}

func (p *process) talk(owner journal.Owner) *talk { return &talk{process: p, owner: owner} }

// send says something, and gives the response.
func (c *talk) send(words string) (r taskchat.AgentResponse, err error) {
	live, err := c.service.Start(c.Context(), c.owner, service.Request{Assistant: taskchat.Name, Session: c.id,
		Words: words, Options: taskchat.Options{}})
	if err != nil {
		return r, err
	}
	res, err := live.Wait(c.Context())
	if err != nil {
		return r, err
	}
	c.id = live.Session
	return r, json.Unmarshal(res.Outcome, &r)
}

// say says something that is answered with a status.
func (c *talk) say(words string, want taskchat.Status) taskchat.AgentResponse {
	c.Helper()
	r, err := c.send(words)
	assert.NoErrorf(c, err, "“%s”", words)
	assert.That(c, r.Status == want,
		"“%s” is answered with %s, want %s: %s\n%s", words, r.Status, want, r.Response, r.ReasoningTrace)
	if r.ConversationID != c.id || r.Response == "" || r.ToolCalls == nil ||
		(r.Clarification != nil) != (r.Status == taskchat.StatusClarification ||
			r.Status == taskchat.StatusConfirmation) {
		c.Errorf("response %+v of conversation %s", r, c.id)
	}
	return r
}

// metadata is what the conversation remembers.
func (c *talk) metadata() taskchat.Metadata {
	c.Helper()
	runs := assert.Must(c.journal.Runs(c.Context(), c.owner, journal.Filter{Session: c.id, Limit: 1, Summaries: true}))(c)
	var turn taskchat.Turn
	assert.NoError(c, json.Unmarshal(runs[0].Summary, &turn))
	assert.NoError(c, turn.Metadata.Validate())
	return turn.Metadata
}

// called are the tools that a response has called.
func called(r taskchat.AgentResponse) (names []string) {
	for _, call := range r.ToolCalls {
		names = append(names, call.ToolName)
	}
	return names
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	assert.Contains(t, "it", text, parts...)
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}

// parameters are those of the last call of a tool.
func parameters(t *testing.T, r taskchat.AgentResponse, name string) (p map[string]any) {
	t.Helper()
	for _, call := range slices.Backward(r.ToolCalls) {
		if call.ToolName == name {
			assert.Nil(t, json.Unmarshal(call.Parameters, &p))
			return p
		}
	}
	t.Errorf("%s was not called: %v", name, called(r))
	return nil
}

func isNotFound(err error) bool { return errors.Is(err, journal.ErrNotFound) }

func (h *house) deleted(owner journal.Owner, id int64) {
	h.Helper()
	_, _, err := h.tasks.Delete(h.Context(), task.By{Owner: string(owner), Actor: "test"}, id, 0)
	assert.NoError(h, err)
}

func (h *house) renamed(owner journal.Owner, id int64, title string) {
	h.Helper()
	_, _, err := h.tasks.Update(h.Context(), task.By{Owner: string(owner), Actor: "test"}, id, 0,
		task.Edit{Title: &title})
	assert.NoError(h, err)
}
