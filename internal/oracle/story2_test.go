package oracle_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

func TestStory2Scenario1NeedTurnGoesOnWithoutAToolCall(t *testing.T) {
	h := setUp(t, modeltest.Say("First a plan. "+needTurn("plan the search")), modeltest.Say("Nothing is known. "+partial("all")))
	a := h.ask(auth)
	same(t, "turns", a.Turns, 2)
	same(t, "what the second turn begins with", lastText(h.request(2)), "[control] Go on.")
	holds(t, "the model's own words in the second request", said(h.request(2), model.Assistant), "First a plan.", "plan the search")
	same(t, "reason in the journal", a.Signals[0].Text("reason"), "plan the search")
	same(t, "confidence in the journal", a.Signals[0].Confidence, 0.8)
}

func TestStory2Scenario1NeedTurnBesideToolCallsRunsThemAndGoesOn(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("find the middleware"), "code_search", `{"query":"auth"}`),
		modeltest.Say("Nothing more. "+partial("all")))
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_search"})
	holds(t, "the tool's result in the second request", said(h.request(2), model.ToolRole), "auth/middleware.go:10-30")
	same(t, "signals", len(a.Signals), 2)
	lacks(t, "the second request", whole(h.request(2)), "ended without a valid signal")
}

func TestStory2Scenario2ContextSufficientEndsTheRun(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("read it"), "code_read", lines("auth/middleware.go", 10, 30)),
		modeltest.Say("It checks a token (`auth/middleware.go:12`). "+element("context_sufficient", "0.9", "sources_found", "1", "source_types", `["code"]`)))
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "answer", a.Answer, "It checks a token (`auth/middleware.go:12`).")
	same(t, "sources found", a.Signal.Text("sources_found"), "1")
	same(t, "source types", a.Signal.List("source_types"), []string{"code"})
}

func TestStory2Scenario2CallsBesideContextSufficientAreNotRun(t *testing.T) {
	h := setUp(t, reading(1), modeltest.SayAndCall("It checks a token. "+enough(), "code_search", `{"query":"auth"}`))
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_read"})
	same(t, "answer", a.Answer, "It checks a token.")
	same(t, "tool calls in the answer", len(a.ToolCalls), 1)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

func TestCallsBesideContextSufficientAreRunWhileNothingWasRead(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall("I look at it. "+enough(), "code_read", lines("auth/middleware.go", 10, 30)), modeltest.Say("It checks a token (`auth/middleware.go:12`). "+enough()))
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_read"})
	same(t, "answer", a.Answer, "It checks a token (`auth/middleware.go:12`).")
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

func TestStory2Scenario2DoneWithoutAWordIsAskedForTheAnswerWithToolsWithdrawn(t *testing.T) {
	for kind, want := range map[string]string{enough(): oracle.StopSatisfied, partial("the tests"): oracle.StopPartial} {
		h := setUp(t, reading(1), modeltest.SayAndCall(kind, "code_search", `{"query":"auth"}`), modeltest.Say("It checks a token."))
		a := h.ask(auth)
		same(t, "tools that were reached", h.world.called(), []string{"code_read"})
		same(t, "tools of the third request", offered(h.request(3)), []string{})
		holds(t, "the third request", lastText(h.request(3)), "[control] You have what you need. Write the answer")
		same(t, "answer", a.Answer, "It checks a token.")
		same(t, "stop reason", a.StopReason, want)
		for _, m := range h.request(3).Messages[3:] {
			same(t, "calls that nothing answers", len(m.ToolCalls), 0)
		}
	}
}

// Failing tools do not look like empty sources: it is the model's word that brings in the others.
func TestStory2Scenario3WhenAllToolsFailStuckBringsTheOtherSourcesAndThenThePartialAnswer(t *testing.T) {
	down := fails(tool.Unavailable, "try later", "the index does not answer")
	try := func(name string) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("try "+name), name, `{"query":"auth"}`)
	}
	h := setUp(t, try("code_search"), modeltest.Say(stuck("the code index is down")), try("vault_search"), try("web_search"),
		modeltest.Say(stuck("all of them are down")), modeltest.Say("I could not look it up. "+partial("everything")))
	for _, name := range []string{"code_search", "vault_search", "web_search"} {
		h.world.on(name, down)
	}
	a := h.ask(auth)
	inCode := []string{"code_read", "code_search"}
	all := []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch", "web_search"}
	for i, want := range [][]string{inCode, inCode, all, all, all, {}} {
		same(t, "tools of a request", offered(h.request(i+1)), want)
	}
	holds(t, "what is said after the first stuck", lastText(h.request(3)), "[control] More tools are offered to you from now on.")
	holds(t, "what is said after the last stuck", lastText(h.request(6)), "[control] Tools are withdrawn.", "say plainly what you could not find")
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
	same(t, "is partial", a.Partial(), true)
	same(t, "answer", a.Answer, "I could not look it up.")
	same(t, "blocker of the first stuck", a.Signals[1].Text("blocker"), "the code index is down")
	same(t, "what it had attempted", a.Signals[1].List("attempted"), []string{"search"})
}

func TestStory2Scenario4EverySignalIsActedOn(t *testing.T) {
	final := modeltest.Say("The end. " + partial("the rest"))
	tests := []struct {
		name   string
		signal string
		goesOn bool
		stop   string
	}{
		{"need_turn", needTurn("more to read"), true, oracle.StopPartial},
		{"context_sufficient", enough(), false, oracle.StopSatisfied},
		{"stuck", stuck("no hit"), true, oracle.StopPartial},
		{"need_capability", needCapability("web search"), true, oracle.StopPartial},
		{"partial_answer", partial("the tests"), false, oracle.StopPartial},
		{"delegation_recommended", delegate("the other modules"), false, oracle.StopSatisfied},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			turns := []modeltest.Turn{reading(1), modeltest.Say("It checks a token. " + c.signal)}
			if c.goesOn {
				turns = append(turns, final)
			}
			h := setUp(t, turns...)
			a := h.ask(auth)
			same(t, "stop reason", a.StopReason, c.stop)
			same(t, "type of the signal", string(a.Signals[1].Type), c.name)
			if _, err := signal.Parse(a.Signals[1].RawXML); err != nil {
				t.Errorf("the raw XML is no signal: %v", err)
			}
			lacks(t, "the answer", a.Answer, "<")
			holds(t, "the trace", h.trace(), "signal "+c.name+" (")
		})
	}
}

// The independent test of user story 2.
func TestStory2ToolFailsAndTheRetryThatTheModelAsksForIsGranted(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("search the code"), "code_search", `{"query":"auth"}`),
		modeltest.SayAndCall(needTurn("the search timed out; trying a narrower one"), "code_search", `{"query":"auth","path":"internal"}`),
		modeltest.Say("It is in auth/middleware.go. "+partial("I opened nothing")))
	failed := false
	works := finds(tool.Ref{Source: tool.Code, Path: "auth/middleware.go", Start: 10, End: 30})
	h.world.on("code_search", func(c tool.Call) (tool.Result, error) {
		if !failed {
			failed = true
			return tool.Result{}, tool.Errorf(tool.Timeout, "restrict the call with path", "time ran out")
		}
		return works(c)
	})
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_search", "code_search"})
	answered := h.request(2).Messages[slices.IndexFunc(h.request(2).Messages, func(m model.Message) bool { return m.Role == model.ToolRole })]
	same(t, "the failure as the model hears it", answered.Text, "Failed: time ran out (restrict the call with path)")
	same(t, "it is marked as an error", answered.IsError, true)
	holds(t, "the result of the retry", said(h.request(3), model.ToolRole), "auth/middleware.go:10-30")
	same(t, "error of the first call", a.ToolCalls[0].Error, "time ran out (restrict the call with path)")
	same(t, "error of the second call", a.ToolCalls[1].Error, "")
	same(t, "the model's request for the retry", a.Signals[1].Text("reason"), "the search timed out; trying a narrower one")
	same(t, "tools after a mere failure", offered(h.request(2)), []string{"code_read", "code_search"})
}

func TestTextOfToolTurnsIsKeptInTheConversation(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall("I suspect the middleware. "+needTurn("find it"), "code_search", `{"query":"auth"}`),
		modeltest.Say("Nothing. "+partial("all")))
	h.ask(auth)
	i := slices.IndexFunc(h.request(2).Messages, func(m model.Message) bool { return m.Role == model.Assistant })
	m := h.request(2).Messages[i]
	holds(t, "the turn", m.Text, "I suspect the middleware.", `type="need_turn"`)
	same(t, "its call", m.ToolCalls, []model.ToolCall{{ID: "call_1", Name: "code_search", Arguments: `{"query":"auth"}`}})
	same(t, "the answer to it", h.request(2).Messages[i+1].ToolCallID, "call_1")
}

// signing is a model whose provider gives each turn a form of its own.
type signing struct{ model.Model }

func (s signing) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := s.Model.Chat(ctx, req, emit)
	resp.Native = &model.Native{Provider: "scripted", Turn: json.RawMessage(`{"signed":true}`)}
	return resp, err
}

func TestProvidersOwnFormOfATurnIsSentBackOnlyWithItsCallsAnswered(t *testing.T) {
	h := setUp(t,
		reading(1),
		modeltest.SayAndCall(enough(), "code_read", `{}`), // its call is not run
		modeltest.Say("It checks a token. "+enough()))
	h.model = signing{h.script}
	h.ask(auth)
	var native []bool
	for _, m := range h.request(3).Messages {
		if m.Role == model.Assistant {
			native = append(native, m.Native != nil)
		}
	}
	same(t, "turns in their provider's form", native, []bool{true, false})
}

func TestResultThatWasCutSaysSoToTheModel(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("read"), "code_read", `{}`), modeltest.Say("Nothing. "+partial("all")))
	h.world.on("code_read", func(tool.Call) (tool.Result, error) { return tool.Result{Text: "half", Items: 1, Truncated: true}, nil })
	h.ask(auth)
	same(t, "what the model hears", said(h.request(2), model.ToolRole), "half\n[cut here: ask for less at a time]")
}

func TestToolTimeoutIsAFailureThatTheModelHears(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.Say("Nothing. "+partial("all")))
	h.timeout = 1 // ns
	h.world.on("code_search", func(tool.Call) (tool.Result, error) { return tool.Result{}, errSlow })
	h.ask(auth)
	holds(t, "what the model hears", said(h.request(2), model.ToolRole), "Failed: no result within 1ns (ask for less)")
}

func TestArgumentsThatAreNotJSONNeverReachTheTool(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":`), modeltest.Say("Nothing. "+partial("all")))
	h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{})
	holds(t, "what the model hears", said(h.request(2), model.ToolRole), "Failed: the arguments are not JSON (write one JSON object)")
}

func TestToolThatBreaksDownIsOneFailureAndNotTheEnd(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.Say("Nothing. "+partial("all")))
	h.world.on("code_search", func(tool.Call) (tool.Result, error) { panic("index out of range") })
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	if !strings.Contains(a.ToolCalls[0].Error, "broke down") {
		t.Errorf("the call's error is %q", a.ToolCalls[0].Error)
	}
}
