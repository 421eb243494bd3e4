package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/server/user"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
	"sibyl/internal/tool"
	"sibyl/internal/tool/mcpclient"
)

// withOracle is a house whose panel answers as the Oracle.
func withOracle(t *testing.T) *house {
	h := newHouse(t)
	h.panel = h.describe(oracle.Name)
	return h
}

func asked(words string) map[string]any {
	return map[string]any{"question": words, "options": map[string]any{"personas": []string{"ada", "bob"}}}
}

func TestAnswerIsStreamedAndTheFirstEventSaysWhereItGoesOn(t *testing.T) {
	h := withOracle(t).open()
	release := h.holds("bob")
	l := h.stream(question{path: "/api/ask", body: asked("Tea?")})
	first, _ := l.next()
	at := as[api.Synced](t, first)
	if first.Event != "sync" || at.Run == "" || at.Session == "" || at.State != "running" || l.resp.Header.Get("Location") != "/api/runs/"+at.Run {
		t.Errorf("the first event is %+v, the address %s", first, l.resp.Header.Get("Location"))
	}
	release()
	all := l.rest()
	want := append([]string(nil), panelRun[1:]...)
	want[len(want)-1] = "answer heard"
	same(t, "what was told", told(t, all), want)
	if r := as[api.RunEnded](t, all[len(all)-1]).Result; r == nil || r.Answer != "- ada: ADA\n- bob: BOB\n" {
		t.Errorf("the answer is %+v", r)
	}
	next := asked("Milk?")
	next["session"] = at.Session
	again := h.stream(question{path: "/api/ask", body: next})
	first, _ = again.next()
	same(t, "session of the next question", as[api.Synced](t, first).Session, at.Session)
	again.rest()
}

func TestClientThatGoesAwayDoesNotEndItsRunAndGoesOnAtItsAddress(t *testing.T) {
	h := withOracle(t).open()
	release := h.holds("bob")
	l := h.stream(question{path: "/api/ask", body: asked("Tea?")})
	events := l.until("the first answer", func(e sent) bool { return e.ID == "1.1" })
	at := as[api.Synced](t, events[0])
	l.close()
	h.quiet("after the client has gone")
	if h.engine.Live(at.Run) == nil {
		t.Fatal("nobody drives the run any more")
	}
	rest := h.stream(question{path: "/api/runs/" + at.Run + "/events", header: map[string]string{"Last-Event-ID": "1.1"}})
	release()
	same(t, "the rest", told(t, rest.rest()), append([]string{"sync"}, panelRun[4:]...))
}

func TestAnswerComesWholeToWhoWantsJSON(t *testing.T) {
	h := withOracle(t).open()
	var r api.RunWithResult
	a := h.get(question{method: "POST", path: "/api/ask", body: asked("Tea?"), header: map[string]string{"Accept": "application/json"}}, &r)
	if a.status != 200 || r.Status != journal.Done || r.Result == nil || r.Result.Answer != "- ada: ADA\n- bob: BOB\n" || a.header.Get("Location") != "/api/runs/"+r.ID {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	for accept, stream := range map[string]bool{"text/event-stream": true, "*/*": true, "application/json, text/event-stream": true, "application/json; q=0.9": false} {
		a := h.ask(question{method: "POST", path: "/api/ask", body: asked("Tea?"), header: map[string]string{"Accept": accept}})
		if got := a.header.Get("Content-Type") == "text/event-stream"; got != stream || a.status != 200 {
			t.Errorf("Accept: %s gives %d %s", accept, a.status, a.header.Get("Content-Type"))
		}
	}
}

func TestWholeAnswerIsNotGivenToWhoWasRevokedWhileItWasWaitedFor(t *testing.T) {
	h := withOracle(t).open()
	h.mu.Lock()
	h.do["ada"] = func(ctx context.Context, _ run.Job) (any, error) {
		return "ADA", user.New(h.users, time.Now).Revoke(ctx, "ada")
	}
	h.mu.Unlock()
	a := h.refused("the answer", question{method: "POST", path: "/api/ask", body: asked("Tea?"), header: map[string]string{"Accept": "application/json"}},
		http.StatusUnauthorized, "wrong_token")
	if strings.Contains(string(a.body), "ADA") {
		t.Errorf("it is answered with %s", a.body)
	}
}

func TestWholeAnswerOfARunThatNobodyDrivesIsNotWaitedForLong(t *testing.T) {
	h := withOracle(t)
	h.most = 1
	h.config.Limits.Undriven = 20 * time.Millisecond
	h.open()
	release := h.holds("ada")
	first := h.stream(question{path: "/api/ask", body: asked("Tea?")})
	first.until("its beginning", isEvent("step"))
	var b api.Begun
	a := h.get(question{method: "POST", path: "/api/ask", body: asked("Milk?"), header: map[string]string{"Accept": "application/json"}}, &b)
	if a.status != http.StatusAccepted || b.State != "queued" || a.header.Get("Location") != "/api/runs/"+b.Run {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
	queued := h.stream(question{path: "/api/ask", body: asked("Sugar?")})
	at, _ := queued.next()
	same(t, "how a streamed one stands", as[api.Synced](t, at).State, "queued")
	release()
	first.rest()
	if _, err := h.engine.Resume(t.Context(), "ada", as[api.Synced](t, at).Run); err != nil {
		t.Fatal(err)
	}
	rest := told(t, queued.rest())
	same(t, "its end, once it was taken up", rest[len(rest)-1], "answer heard")
}

func TestQuestionIsRefusedBeforeAnythingBegins(t *testing.T) {
	h := withOracle(t)
	h.config.Limits.Streams, h.config.Limits.Runs = 1, 2
	h.open()
	post := func(body any, header map[string]string) question {
		return question{method: "POST", path: "/api/ask", body: body, header: header}
	}
	h.refused("no words", post(asked("  "), nil), 400, "invalid_request")
	h.refused("no question", post(map[string]any{}, nil), 400, "invalid_request")
	h.refused("an unknown property", post(map[string]any{"question": "Tea?", "assistant": "x"}, nil), 400, "invalid_request")
	h.refused("no options", post(map[string]any{"question": "Tea?"}, nil), 400, "invalid_request")
	h.refused("no session", post(map[string]any{"question": "Tea?", "session": "none", "options": map[string]any{"personas": []string{"ada"}}}, nil), 404, "not_found")
	reader := post(asked("Tea?"), nil)
	reader.token = adasReader
	h.refused("who may only read", reader, 403, "scope")
	l := h.stream(question{path: "/api/events"})
	h.refused("with too many streams", post(asked("Tea?"), nil), 429, "too_many_streams")
	l.close()
	h.quiet("after it is closed")
	var runs api.Runs
	h.get(question{path: "/api/runs"}, &runs)
	same(t, "runs", len(runs.Runs), 0)
	for range 3 { // each gives back its place
		h.refused("no words", post(asked(" "), nil), 400, "invalid_request")
	}
}

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
	h.refuses(refusals{
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
	})
	same(t, "response", h.chat(saying("show my tasks", c), "success").Response, "Here is your task:\n1. Apples")
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
