package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
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
func withOracle(t testing.TB) *house {
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
	assert.That(t, first.Event == "sync" && at.Run != "" && at.Session != "" && at.State == "running" &&
		l.resp.Header.Get("Location") == "/api/runs/"+at.Run,
		"the first event is %+v, the address %s", first, l.resp.Header.Get("Location"))
	release()
	all := l.rest()
	want := append([]string(nil), panelRun[1:]...)
	want[len(want)-1] = "answer heard"
	same(t, "what was told", told(t, all), want)
	r := as[api.RunEnded](t, all[len(all)-1]).Result
	assert.That(t, r != nil && r.Answer == "- ada: ADA\n- bob: BOB\n", "the answer is %+v", r)
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
	assert.Require(t, h.engine.Live(at.Run) != nil, "nobody drives the run any more")
	rest := h.stream(question{path: "/api/runs/" + at.Run + "/events",
		header: map[string]string{"Last-Event-ID": "1.1"}})
	release()
	same(t, "the rest", told(t, rest.rest()), append([]string{"sync"}, panelRun[4:]...))
}

func TestWholeAnswerIsNotGivenToWhoWasRevokedWhileItWasWaitedFor(t *testing.T) {
	h := withOracle(t).open()
	h.mu.Lock()
	h.do["ada"] = func(ctx context.Context, _ run.Job) (any, error) {
		return "ADA", user.New(h.users, time.Now).Revoke(ctx, "ada")
	}
	h.mu.Unlock()
	a := h.refused("the answer", question{method: "POST", path: "/api/ask", body: asked("Tea?"),
		header: map[string]string{"Accept": "application/json"}},
		http.StatusUnauthorized, "wrong_token")
	assert.That(t, !strings.Contains(string(a.body), "ADA"), "it is answered with %s", a.body)
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
	a := h.get(question{method: "POST", path: "/api/ask", body: asked("Milk?"),
		header: map[string]string{"Accept": "application/json"}}, &b)
	assert.That(t, a.status == http.StatusAccepted && b.Cause == "queued" &&
		a.header.Get("Location") == "/api/runs/"+b.Run, "%d %v %s", a.status, a.header, a.body)
	queued := h.stream(question{path: "/api/ask", body: asked("Sugar?")})
	at, _ := queued.next()
	same(t, "how a streamed one stands", as[api.Synced](t, at).State, "running")
	release()
	first.rest()
	assert.Must(h.engine.Resume(t.Context(), "ada", as[api.Synced](t, at).Run))(t)
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
	h.refused("an unknown property", post(map[string]any{"question": "Tea?", "assistant": "x"}, nil), 400,
		"invalid_request")
	h.refused("no options", post(map[string]any{"question": "Tea?"}, nil), 400, "invalid_request")
	h.refused("no session", post(map[string]any{"question": "Tea?", "session": "none",
		"options": map[string]any{"personas": []string{"ada"}}}, nil), 404, "not_found")
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
func withTasks(t testing.TB) *house {
	t.Helper()
	h := newHouse(t)
	server := assert.Must(mcp.New(mcp.Config{Tasks: task.New(teststore.Empty(t), time.Now, nil),
		Key: []byte(strings.Repeat("k", mcp.MinKey))}))(t)
	d := taskchat.Deps{Store: h.store, Now: time.Now, Prompt: func(string) ([]byte, error) { return []byte("Read it."), nil },
		Choose: func(_ context.Context, asked string) (string, error) {
			if asked != "" && asked != "offline:rules" {
				return "", errors.New("there is no such model")
			}
			return "offline:rules", nil
		},
		Model: func(context.Context, string) (model.Model, error) { return nil, errors.New("none is asked") },
		Tools: func(ctx context.Context, owner, actor string) (*tool.Set, func(), error) {
			s, err := mcpclient.Connect(ctx, mcpclient.InProcess(server.For(owner, actor)),
				mcpclient.Config{Name: "tasks", Source: tool.Task, Own: true})
			if err != nil {
				return nil, nil, err
			}
			return tool.NewSet(s.Tools()...), s.Close, nil
		}}
	a := assert.Must(taskchat.New(d))(t)
	h.shadow = taskchat.Describe(a, d)
	return h
}

// whole is a question whose answer is wanted as JSON.
func whole(words string) question {
	return question{method: http.MethodPost, path: "/api/ask", body: asked(words),
		header: map[string]string{"Accept": "application/json"}}
}

func TestAnswersAsJSONNeedNoPlaceOfAStream(t *testing.T) {
	h := withTasks(t)
	h.config.Limits.Streams = 2
	h.open()
	for range 2 {
		defer h.stream(question{path: "/api/events"}).close()
	}
	h.refused("a third stream", question{path: "/api/events"}, 429, "too_many_streams")
	a := h.ask(question{method: http.MethodPost, path: "/api/chat", body: map[string]any{"message": "add Apples"}})
	same(t, "the status of a message", a.status, http.StatusOK)
}

func TestAnswersThatAreWaitedForAreBoundedBesideStreams(t *testing.T) {
	h := withOracle(t)
	h.config.Limits.Streams = 1
	h.open()
	release := h.holds("ada")
	all := h.stream(question{path: "/api/events"})
	first := make(chan answer)
	go func() { first <- h.ask(whole("Tea?")) }()
	all.until("its beginning", isEvent("step"))
	h.refused("a second answer", whole("Milk?"), 429, "too_many_at_once")
	all.close()
	release()
	same(t, "the status of the first", (<-first).status, http.StatusOK)
}

func TestDeclineLeavesAConversationThatWaitsForNoYes(t *testing.T) {
	h := withTasks(t).open()
	chat := func(words, conversation string) (r taskchat.AgentResponse) {
		h.get(question{method: http.MethodPost, path: "/api/chat",
			body: map[string]any{"message": words, "conversation_id": conversation}}, &r)
		return r
	}
	first := chat("add Apples", "")
	h.get(question{method: http.MethodPost, path: "/api/runs/" + first.RunID + "/decline"}, nil)
	var waiting api.Runs
	h.get(question{path: "/api/runs?waiting=true"}, &waiting)
	same(t, "runs that wait", len(waiting.Runs), 0)
	second := chat("show my tasks", first.ConversationID)
	assert.That(t, strings.Contains(second.Response, "Apples"), "the next message is answered with %+v", second)
	assert.NoError(t, h.store.Void(t.Context(), "ada", second.RunID))
	h.refused("a message whose conversation is gone", question{method: http.MethodPost, path: "/api/chat",
		body: map[string]any{"message": "show my tasks", "conversation_id": first.ConversationID}}, 409, "consumed")
}
