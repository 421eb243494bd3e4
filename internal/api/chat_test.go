package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/model"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
)

// withTasks is a house in which the task assistant stands beside the panel.
func withTasks(t *testing.T) *house {
	t.Helper()
	h := newHouse(t)
	server, err := mcp.New(mcp.Config{Tasks: task.New(teststore.Empty(t), time.Now), Key: []byte(strings.Repeat("k", mcp.MinKey))})
	if err != nil {
		t.Fatal(err)
	}
	d := taskchat.Deps{Store: h.store, Now: time.Now, Prompt: func() ([]byte, error) { return []byte("Read it."), nil },
		Choose: func(_ context.Context, asked string) (string, error) {
			if asked != "" && asked != "offline:rules" {
				return "", errors.New("there is no such model")
			}
			return "offline:rules", nil
		},
		Model: func(context.Context, string) (model.Model, error) { return nil, errors.New("none is asked") },
		Tools: func(ctx context.Context, owner, actor string) (*tool.Set, func(), error) {
			s, err := mcpclient.Connect(ctx, mcpclient.InProcess(server.For(owner, actor)), mcpclient.Config{Name: "tasks", Source: tool.Task, Own: true})
			if err != nil {
				return nil, nil, err
			}
			set, err := tool.NewSet(s.Tools()...)
			return set, s.Close, err
		}}
	a, err := taskchat.New(d)
	if err != nil {
		t.Fatal(err)
	}
	h.shadow = taskchat.Describe(a, d)
	return h
}

func saying(words, conversation string) question {
	return question{method: http.MethodPost, path: "/api/chat", body: map[string]any{"message": words, "conversation_id": conversation}}
}

// chat says something in a conversation; empty: it begins with it.
func (h *house) chat(q question, want string) (r taskchat.AgentResponse) {
	h.Helper()
	if a := h.get(q, &r); a.status != http.StatusOK || string(r.Status) != want || r.ConversationID == "" || r.RunID == "" || a.header.Get("Location") != "/api/runs/"+r.RunID {
		h.Errorf("%d %v %+v", a.status, a.header, r)
	}
	return r
}

func TestMessageIsAnsweredWithAResponseAlsoWhereItFails(t *testing.T) {
	h := withTasks(t).open()
	h.chat(saying("complete zebra", ""), "error") // there is no task at all
	r := h.chat(saying("add Apples", ""), "success")
	if r.Message != "add Apples" || len(r.ToolCalls) != 1 || r.ToolCalls[0].ToolName != "add_task" || r.Clarification != nil {
		t.Errorf("%+v", r)
	}
	asked := h.chat(saying("delete apples", r.ConversationID), "confirmation_required")
	if asked.Clarification == nil || asked.ConversationID != r.ConversationID {
		t.Errorf("%+v", asked)
	}
	same(t, "response", h.chat(saying("yes", r.ConversationID), "success").Response, "I've deleted 'Apples'.")
}

func TestMessageThatCannotBeTakenIsRefused(t *testing.T) {
	h := withTasks(t).open()
	c := h.chat(saying("add Apples", ""), "success").ConversationID
	with := func(q question, change func(*question)) question { change(&q); return q }
	for about, one := range map[string]struct {
		question
		status int
		kind   string
	}{
		"no message":         {saying("", ""), 400, "invalid_request"},
		"spaces":             {saying(" \t\n", ""), 400, "invalid_request"},
		"too many words":     {saying(strings.Repeat("a", taskchat.MaxMessage+1), ""), 400, "invalid_request"},
		"an unknown model":   {with(saying("add Milk", ""), func(q *question) { q.body.(map[string]any)["model"] = "nosuch:model" }), 400, "invalid_request"},
		"an unknown field":   {with(saying("add Milk", ""), func(q *question) { q.body.(map[string]any)["user"] = "eve" }), 400, "invalid_request"},
		"a panel's session":  {saying("add Milk", h.begin(adasToken, "Tea?").Session), 400, "invalid_request"},
		"no token":           {with(saying("add Milk", ""), func(q *question) { q.token = "-" }), 401, "no_token"},
		"a wrong token":      {with(saying("add Milk", ""), func(q *question) { q.token = nobodys }), 401, "wrong_token"},
		"a reader":           {with(saying("show my tasks", ""), func(q *question) { q.token = adasReader }), 403, "scope"},
		"another's":          {with(saying("yes", c), func(q *question) { q.token = evesToken }), 404, "not_found"},
		"an unknown one":     {saying("yes", "unknown"), 404, "not_found"},
		"a body that is not": {question{method: http.MethodPost, path: "/api/chat", body: "add Milk"}, 400, "invalid_request"},
	} {
		h.refused(about, one.question, one.status, one.kind)
	}
	same(t, "response", h.chat(saying("show my tasks", c), "success").Response, "Here is your task:\n1. Apples")
}

func TestMessageThatIsSentAgainUnderItsKeyIsTakenOnce(t *testing.T) {
	h := withTasks(t).open()
	q := saying("add Apples", "")
	q.header = map[string]string{"Idempotency-Key": "one"}
	first := h.chat(q, "success")
	again := h.chat(q, "success")
	same(t, "run", again.RunID, first.RunID)
	same(t, "response", h.chat(saying("show my tasks", first.ConversationID), "success").Response, "Here is your task:\n1. Apples")
	if s, err := h.store.Session(t.Context(), journal.Owner("ada"), first.ConversationID); err != nil || s.Assistant != taskchat.Name {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMessageThatWaitsForRoomHasTheAddressOfItsRun(t *testing.T) {
	h := withTasks(t)
	h.most = 1
	h.config.Limits.Undriven = 50 * time.Millisecond
	h.open()
	release := h.holds("bob")
	h.begin(adasToken, "Tea?")
	a := h.ask(saying("add Apples", ""))
	run := a.header.Get("Location")
	if a.status != http.StatusAccepted || !strings.HasPrefix(run, "/api/runs/") {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	release()
}
