package oracle_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

func TestRunOnWhichTheModelDoesNotAnswerForNowIsSuspendedAndGoesOnWhenResumed(t *testing.T) {
	for _, kind := range []model.Kind{model.RateLimit, model.Overloaded, model.Payment, model.Timeout, model.Server} {
		t.Run(string(kind), func(t *testing.T) {
			h := setUp(t, reading(1), modeltest.Turn{Text: "It checks",
				Err: &model.Error{Kind: kind, Message: "not for now"}}, modeltest.Say("It checks a token. "+enough()))
			a := h.finish(h.start(auth))
			same(t, "stop reason", a.StopReason, oracle.StopSuspended)
			same(t, "kind of the error", a.Error.Kind, string(kind))
			wantParts(t, "the error", a.Error.Reason, "not for now")
			same(t, "answer: what had come", a.Answer, "It checks")
			r := assert.Must(h.store.Run(t.Context(), owner, a.RunID))(t)
			same(t, "status of the run", r.Status, journal.Running)
			live := assert.Must(h.engine.Resume(t.Context(), owner, a.RunID))(t)
			a = h.finish(live)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "answer", a.Answer, "It checks a token.")
			same(t, "tools that were called", h.world.called(), []string{"code_read"})
		})
	}
}

func TestTimeOfARunThatIsSuspendedHoldsThatOfTheTurnThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setUp(t, modeltest.Func(func(model.Request) modeltest.Turn {
			time.Sleep(3 * time.Second)
			return modeltest.Fail(model.Server)
		}))
		a := h.ask(auth)
		same(t, "stop reason", a.StopReason, oracle.StopSuspended)
		same(t, "time", a.TookMS, int64(3000))
	})
}

func TestRetryIsCountedAndItsFirstTextWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cut := &model.Error{Kind: model.Server, Lost: true, Message: "cut"}
		h := setUp(t,
			modeltest.Turn{Text: "It checks a cook", Usage: model.Usage{OutputTokens: 4}, Err: cut},
			modeltest.Turn{Text: `It checks a tok<signal type="need_tu`, Err: cut},
			modeltest.Turn{Text: "It checks a token. " + partial("more"), Usage: model.Usage{OutputTokens: 9}})
		h.model = model.Retry(h.script, model.RetryPolicy{})
		a := h.ask(auth)
		same(t, "attempts in the receipt", h.receipts()[0].Attempts, 3)
		same(t, "usage of all attempts", a.Usage.OutputTokens, 13)
		same(t, "answer", a.Answer, "It checks a token.")
		same(t, "what stays shown", h.shown, "It checks a token. \n")
		same(t, "turns", a.Turns, 1)
		same(t, "problems with signals", len(a.Problems), 0)
	})
}

func TestModelThatCannotBeOpenedEndsTheRunWithTheReason(t *testing.T) {
	h := setUp(t)
	assistant := assert.Must(oracle.New(oracle.Deps{
		Model: func(context.Context, oracle.Env) (model.Model, error) { return nil, errors.New("no such model here") },
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			return h.world.registry(), func() {}, nil
		}}))(t)
	engine, err := run.NewEngine(run.Config{Store: h.store, Assistants: []*run.Assistant{assistant}, Holder: "test"})
	assert.NoError(t, err)
	spec := assert.Must(h.begin(t.Context(), h.store, h.question(auth)))(t)
	_, err = engine.Start(t.Context(), spec)
	assert.That(t, err != nil && err.Error() == "no such model here", "starting gives %v", err)
	all := h.endedAnswers(h.session)
	same(t, "exchanges", len(all), 1)
	same(t, "question", all[0].Question, auth)
	same(t, "stop reason", all[0].StopReason, oracle.StopError)
	same(t, "reason", all[0].Error.Reason, "no such model here")
	same(t, "the model that was asked for", all[0].Model, "scripted:test")
}

// endless is a tool that waits until its call is withdrawn.
type endless struct {
	fake
	begun chan struct{}
}

func (e *endless) Call(ctx context.Context, _ tool.Call) (tool.Result, error) {
	close(e.begun)
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

func TestCancelWithdrawsAReadThatIsUnderWay(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall("I look. "+needTurn("read it"), "code_read",
		lines("auth/middleware.go", 10, 30)))
	slow := &endless{fake: fake{world: h.world, spec: h.world.tools["code_read"].Spec()}, begun: make(chan struct{})}
	h.world.addTool(slow)
	live := h.start(auth)
	<-slow.begun
	live.Cancel("enough of it")
	a := h.finish(live)
	same(t, "stop reason", a.StopReason, oracle.StopCancelled)
	same(t, "calls", len(a.ToolCalls), 1)
	same(t, "error of the call", a.ToolCalls[0].Error, "withdrawn")
	same(t, "sources", a.Sources, []agent.Source{})
	same(t, "notices", shownNotices(a), []string(nil))
}

func TestCancelShowsTheWriteThatWasUnderWay(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`))
	begun, goOn := make(chan struct{}), make(chan struct{})
	h.world.replaceTool("vault_write", func(tool.Call) (tool.Result, error) {
		close(begun)
		<-goOn
		return wrote, nil
	})
	live := h.start(save)
	<-begun
	live.Cancel("enough of it")
	for u := range live.Watch(t.Context(), 0) { // until the request is recorded: the write ends after it
		if u.Record != nil && u.Record.Kind == run.KindCancel {
			close(goOn)
		}
	}
	a := h.finish(live)
	same(t, "stop reason", a.StopReason, oracle.StopCancelled)
	assert.That(t, len(a.ToolCalls) == 1 && a.ToolCalls[0].Name == "vault_write" && a.ToolCalls[0].Error == "",
		"the write that was done is not in the answer: %+v", a.ToolCalls)
	same(t, "notices", shownNotices(a), []string(nil))
}

func TestCancelTellsOfAWriteThatDidNotEndInTime(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`))
	h.grace = 1
	begun, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	h.world.replaceTool("vault_write", func(tool.Call) (tool.Result, error) {
		close(begun)
		<-goOn
		return wrote, nil
	})
	live := h.start(save)
	<-begun
	live.Cancel("enough of it")
	a := h.finish(live)
	same(t, "calls in the answer", len(a.ToolCalls), 1)
	same(t, "arguments of the write", a.ToolCalls[0].Arguments, `{"path":"a.md"}`)
	wantParts(t, "the notices", joined(shownNotices(a)), "Not sure to be done: vault_write", "still under way")
}
