package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

func TestEdgeOfSeveralSignalsTheFirstIsActedOnAndTheOthersAreKept(t *testing.T) {
	h := setUp(t,
		modeltest.Say("I go on. "+needTurn("more to read")+"\n"+enough()+"\n"+partial("the tests")),
		reading(1), modeltest.Say("It checks a token. "+enough()))
	a := h.ask(auth)
	same(t, "turns", a.Turns, 3)
	holds(t, "what the person is told", strings.Join(told(a), "\n"), "Turn 1 had several signals: only the first counts.")
	holds(t, "the second request", lastText(h.request(2)), "[control] Go on.")
	var kinds []string
	for _, s := range a.Signals {
		kinds = append(kinds, string(s.Type))
	}
	same(t, "signals in the answer", kinds, []string{"need_turn", "context_sufficient", "partial_answer", "need_turn", "context_sufficient"})
	r := h.receipts()[0]
	same(t, "the one acted on", string(r.Report.Signal.Type), "need_turn")
	same(t, "how many others", len(r.Report.Extra), 2)
	holds(t, "the trace", h.trace(), "signal need_turn (0.80); 2 more ignored")
	lacks(t, "what was shown", h.shown, "<")
	lacks(t, "what the model sees of its own turn", said(h.request(2), model.Assistant), "context_sufficient")
}

func TestEdgeMalformedSignalCountsAsNoneAndIsLoggedAndStripped(t *testing.T) {
	for name, c := range map[string]struct{ markup, reason string }{
		"a required field is missing":   {element("context_sufficient", "0.9"), "sources_found"},
		"an unknown type":               {element("done", "0.9"), `no signal type "done"`},
		"no confidence":                 {`<signal type="need_turn"><reason>more</reason></signal>`, "no confidence"},
		"a confidence in words":         {element("need_turn", "high", "reason", "more"), `confidence "high" is not a number`},
		"a confidence in percent":       {element("need_turn", "85%", "reason", "more"), "85%"},
		"a confidence that is no value": {element("need_turn", "NaN", "reason", "more"), "NaN"},
		"a confidence over 1":           {element("need_turn", "1.5", "reason", "more"), "1.5 is not between 0 and 1"},
		"no end":                        {`<signal type="need_turn"><reason>more</reason>`, "ends inside the signal"},
		"an end inside a tag":           {`<signal type="need_turn`, "first tag"},
		"elements in the wrong order":   {`<signal type="need_turn"><reason>more</signal></reason>`, "not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say("It checks a token. "+c.markup), modeltest.Say("It checks a token, I think. "+partial("a proof")))
			a := h.ask(auth)
			holds(t, "what is said after it", lastText(h.request(2)), "[control] No source was opened for this answer")
			if len(a.Problems) == 0 || !strings.Contains(a.Problems[0].Reason, c.reason) {
				t.Errorf("the problems are %+v; want one that says %q", a.Problems, c.reason)
			}
			same(t, "signals", len(a.Signals), 1)
			lacks(t, "what was shown", h.shown, "signal", "more", "0.9")
			holds(t, "the trace", h.trace(), "a malformed signal, ignored: ")
			if problems := h.receipts()[0].Report.Problems; len(problems) == 0 || problems[0].Raw == "" {
				t.Errorf("the journal keeps %+v of the malformed signal", problems)
			}
		})
	}
}

func TestEdgeWellFormedSignalAfterAMalformedOneCounts(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("It checks a token. "+element("done", "0.9")+enough()))
	a := h.ask(auth)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "problems", len(a.Problems), 1)
	same(t, "answer", a.Answer, "It checks a token.")
	same(t, "notices", told(a), []string(nil))
}

func TestEdgeUnknownCapabilityIsLoggedAndToldAndTheRunGoesOn(t *testing.T) {
	h := setUp(t,
		modeltest.Say("I would mail them. "+needCapability("sending an email")),
		modeltest.SayAndCall(needTurn("search instead"), "code_search", `{"query":"auth"}`),
		modeltest.Say("Found in the code. "+partial("what they would say")))
	a := h.ask(auth)
	same(t, "gaps", a.Gaps, []string{"sending an email"})
	same(t, "notices", told(a), []string{"The model requested a capability that is not available here: sending an email"})
	same(t, "tools offered after it", offered(h.request(2)), []string{"code_read", "code_search"})
	holds(t, "what is said after it", lastText(h.request(2)), "[control] That capability does not exist here. Go on without it")
	same(t, "tools that were reached", h.world.called(), []string{"code_search"})
	holds(t, "the trace", h.trace(), "capability gap: sending an email")
}

func TestEdgeTheSameGapTwiceEndsTheSearch(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("sending an email")),
		modeltest.SayAndCall(needCapability("sending an email"), "code_search", `{}`),
		modeltest.Say("I cannot ask them. "+partial("their word")))
	a := h.ask(auth)
	same(t, "turns", a.Turns, 3)
	same(t, "tools of the third request", offered(h.request(3)), []string{})
	holds(t, "what is said before it", lastText(h.request(3)), "[control] Tools are withdrawn.")
	same(t, "gaps", a.Gaps, []string{"sending an email"})
	same(t, "tools that were reached", h.world.called(), []string{"code_search"})
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
}

func TestEdgeTwoDifferentGapsAreBothTold(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("sending an email")), modeltest.Say(needCapability("image generation")), modeltest.Say("No. "+partial("all")))
	a := h.ask(auth)
	same(t, "gaps", a.Gaps, []string{"sending an email", "image generation"})
	same(t, "notices", len(told(a)), 2)
}

func TestEdgeCapabilityThatExistsAndReadsIsOfferedInTheNextTurn(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needCapability("web search"), "web_search", `{"query":"auth"}`),
		modeltest.SayAndCall(needTurn("search the web"), "web_search", `{"query":"auth"}`),
		modeltest.Say("The web says so. "+partial("the page")))
	a := h.ask(auth)
	same(t, "tools of the first request", offered(h.request(1)), []string{"code_read", "code_search"})
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search", "web_fetch", "web_search"})
	holds(t, "what is said after it", lastText(h.request(2)), "[control] The tool you need is offered to you from now on.")
	same(t, "gaps", a.Gaps, []string(nil))
	same(t, "calls of it that were performed: none before it was offered", h.world.called(), []string{"web_search"})
}

// A capability is granted by the source that it names, search and reader together, and not by a word that several sources share.
func TestEdgeCapabilityIsFoundByWhatItNames(t *testing.T) {
	web, vault := []string{"web_fetch", "web_search"}, []string{"thread_seek", "vault_read", "vault_search"}
	for _, c := range []struct {
		capability string
		without    []string
		want       []string // nil: a gap
	}{
		{capability: "web search", want: web},
		{capability: "web_search", want: web},
		{capability: "Search the web for current prices", want: web},
		{capability: "internet access", want: web},
		{capability: "looking something up online", want: web},
		{capability: "web", want: web},
		{capability: "vault search", want: vault},
		{capability: "thread search", want: vault},
		{capability: "searching the notes", want: vault},
		{capability: "the vault", want: vault},
		{capability: "web search", without: web},
		{capability: "calendar search"},
		{capability: "read the person's mail"},
		{capability: "code execution"},
		{capability: "running the tests of the code"},
		{capability: "opening lines of places by words in a database"},
		{capability: "vault write"},
		{capability: "vault_write"},
		{capability: "write a note into the vault"},
		{capability: "…"},
	} {
		t.Run(c.capability, func(t *testing.T) {
			h := setUp(t, modeltest.Say(needCapability(c.capability)), modeltest.Say("So it is. "+partial("the rest")))
			h.world.without(c.without...)
			a := h.ask(auth)
			want := append([]string{"code_read", "code_search"}, c.want...)
			slices.Sort(want)
			same(t, "tools of the second request", offered(h.request(2)), want)
			same(t, "is a gap", len(a.Gaps) == 1, c.want == nil)
		})
	}
}

func TestEdgeCapabilityThatIsOfferedAlreadyIsNoGap(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("code search")), modeltest.Say("So it is. "+partial("the rest")))
	a := h.ask(auth)
	same(t, "gaps", a.Gaps, []string(nil))
	same(t, "notices", told(a), []string(nil))
	holds(t, "what is said after it", lastText(h.request(2)), "is offered to you")
}

func TestEdgeEmptySourcesAreWidenedOneByOneUntilThePartialAnswer(t *testing.T) {
	look := func(name string) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look with "+name), name, `{"query":"auth"}`)
	}
	h := setUp(t, look("code_search"), look("vault_search"), look("web_search"), modeltest.Say(stuck("nothing anywhere")),
		modeltest.Say("I found nothing about it. "+partial("everything")))
	for _, name := range []string{"code_search", "vault_search", "web_search"} {
		h.world.on(name, finds())
	}
	a := h.ask(auth)
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search"})
	holds(t, "what is said after the first empty search", lastText(h.request(2)), "[control] Your searches found nothing. More tools are offered to you from now on.")
	same(t, "tools of the third request", offered(h.request(3)),
		[]string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch", "web_search"})
	lacks(t, "the fourth request's last message", lastText(h.request(4)), "[control]")
	holds(t, "what is said after stuck", lastText(h.request(5)), "[control] Tools are withdrawn.")
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
	same(t, "decisions", consulted(a), []string{"4: stuck, force_answer by rules"})
	same(t, "why", a.Fallbacks[0].Because, "every source has been searched")
	same(t, "sources tried", a.Tried, []agent.Tried{{Source: "code", Calls: 1, Empty: 1}, {Source: "vault", Calls: 1, Empty: 1}, {Source: "web", Calls: 1, Empty: 1}})
}

func TestRunnerUpOfTheClassificationIsOfferedBesideIt(t *testing.T) {
	h := setUp(t, modeltest.Say("Nothing. "+partial("all")))
	a := h.ask("how does grpc deadline propagation work")
	if p := a.Class.Probabilities; p[classify.Code] < 0.1 || p[classify.Research] < 0.1 {
		t.Errorf("code or research is hardly likely: %v", p)
	}
	same(t, "tools of the first request", offered(h.request(1)), []string{"code_read", "code_search", "web_fetch", "web_search"})
}

func TestEdgeOneHitAmongEmptySearchesWidensNothing(t *testing.T) {
	h := setUp(t, modeltest.Say(needTurn("search")).AndCall("vault_search", `{}`).AndCall("thread_seek", `{}`), modeltest.Say("So. "+partial("the rest")))
	h.world.on("thread_seek", finds())
	h.ask(caching)
	same(t, "tools of the second request", offered(h.request(2)), []string{"thread_seek", "vault_read", "vault_search"})
}

func TestWriteThatListsNothingIsNoEmptySearch(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write"), "vault_write", `{"path":"a.md"}`), modeltest.Say("Saved. "+enough()))
	h.world.on("vault_write", func(tool.Call) (tool.Result, error) { return tool.Result{Text: "written"}, nil })
	h.ask(save)
	lacks(t, "the second request", said(h.request(2), model.User), "[control]")
	same(t, "tools of the second request", offered(h.request(2)), []string{"thread_seek", "vault_read", "vault_search", "vault_write"})
}

func TestEdgeTopicShiftIsAssessedAnewAndDropsAllOldExchangesButTheLast(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("It checks a TOKEN. "+enough()), modeltest.Say("By its SIGNATURE. "+enough()), modeltest.Say("It rains. "+partial("the source")),
		modeltest.Say("You're welcome!"))
	h.finish(h.start(auth))
	h.finish(h.start("How does the auth middleware check the token?"))
	a := h.finish(h.start(weather))
	same(t, "topic shift", a.TopicShift, true)
	same(t, "query type", a.QueryType, "research")
	same(t, "tools offered", offered(h.request(4)), []string{"web_fetch", "web_search"})
	lacks(t, "the request after the shift", whole(h.request(4)), "TOKEN")
	holds(t, "the request after the shift", whole(h.request(4)), "SIGNATURE")
	holds(t, "the trace", h.trace(), "a topic shift")
	h.ask(thanks)
	lacks(t, "a later request: what was left stays left", whole(h.request(5)), "TOKEN", "SIGNATURE")
	holds(t, "a later request", whole(h.request(5)), "It rains.")
}

func TestFollowUpKeepsAllExchangesOfItsTopic(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("It checks a TOKEN. "+enough()), modeltest.Say("By its SIGNATURE. "+enough()), modeltest.Say("Likewise. "+enough()))
	h.finish(h.start(auth))
	h.finish(h.start("How does the auth middleware check the token?"))
	a := h.ask("And in the tests?")
	same(t, "topic shift", a.TopicShift, false)
	same(t, "query type", a.QueryType, "code")
	holds(t, "the last request", whole(h.request(4)), "TOKEN", "SIGNATURE")
}

func TestEdgeDelegationIsLoggedAndShownAndStartsNothing(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall("The pump module is fine. "+delegate("all other modules"), "code_search", `{}`))
	a := h.ask(auth)
	same(t, "answer", a.Answer, "The pump module is fine.")
	same(t, "notices", told(a), []string{"The model recommends delegating: all other modules (it is too large)"})
	same(t, "caveat", a.Caveat, "Nothing was looked up for this answer: it relies on what the model knows.")
	same(t, "tools that were reached", h.world.called(), []string{})
	same(t, "last signal", string(a.Signal.Type), "delegation_recommended")
}

func TestDelegationWithoutAWordGoesOn(t *testing.T) {
	h := setUp(t, modeltest.Say(delegate("all other modules")), reading(1), modeltest.Say("The pump module is fine. "+enough()))
	a := h.ask(auth)
	same(t, "what is said after it", lastText(h.request(2)), "[control] Go on.")
	same(t, "answer", a.Answer, "The pump module is fine.")
	same(t, "notices", len(told(a)), 1)
}

func TestPartialAnswerShowsItsCaveat(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("Mostly. "+element("partial_answer", "0.7", "missing", "the tests", "caveat", "Only a draft says so.")))
	a := h.ask(auth)
	same(t, "caveat", a.Caveat, "Only a draft says so. Missing: the tests")
	h = setUp(t, reading(1), modeltest.Say("Mostly. "+partial("the tests")))
	a = h.ask(auth)
	same(t, "caveat", a.Caveat, "Missing: the tests")
}
