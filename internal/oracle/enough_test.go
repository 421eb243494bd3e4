package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// Confident and silent models are told once what their answer lacks, and by which tools it can be had. What they then say without it
// is shown, with what it does not rest on.
func TestAnswerThatLacksItsGroundIsToldOnceAndThenPartial(t *testing.T) {
	search := modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":"auth"}`)
	write := modeltest.SayAndCall(needTurn("write"), "vault_write", `{"path":"caching.md"}`)
	claim, silent := modeltest.Say("It uses tokens. "+enough()), modeltest.Say("It uses tokens.")
	for _, c := range []struct {
		name, question string
		before         []modeltest.Turn
		reply          modeltest.Turn
		hint, caveat   string
	}{
		{"a claim with nothing called", auth, nil, claim, hintSource + " Look it up now with code_read, code_search,", nothingLookedUp},
		{"a claim on hits that nobody opened", auth, []modeltest.Turn{search}, claim, hintSource, nothingOpened},
		{"silence with nothing called", auth, nil, silent, hintSource + " Look it up now with code_read, code_search,", nothingLookedUp},
		{"silence on hits that nobody opened", auth, []modeltest.Turn{search}, silent, hintSource, nothingOpened},
		{"a claim about the notes", caching, nil, claim, hintSource + " Look it up now with thread_seek, vault_read, vault_search,", nothingLookedUp},
		{"a claim to have written", save, nil, modeltest.Say("Saved the note. " + enough()), hintWrite + " Make it now with one of vault_write.", nothingWritten},
		{"silence after a claim to have written", save, nil, modeltest.Say("Saved the note."), hintWrite, nothingWritten},
		{"a claim to have written what failed", save, []modeltest.Turn{write}, modeltest.Say("Saved the note. " + enough()),
			"Not all was written: caching.md (it is ignored). If it can be done, do it now with vault_write;", "The note was not written: caching.md (it is ignored)."},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, append(slices.Clone(c.before), c.reply, c.reply)...)
			h.world.on("vault_write", fails(tool.Denied, "", "it is ignored"))
			a := h.ask(c.question)
			last := h.request(len(c.before) + 2)
			holds(t, "what is said after the reply", lastText(last), "[control] "+c.hint)
			same(t, "times it is said", strings.Count(whole(last), c.hint), 1)
			same(t, "stop reason", a.StopReason, oracle.StopPartial)
			same(t, "caveat", a.Caveat, c.caveat)
			holds(t, "answer", c.reply.Text, a.Answer)
		})
	}
}

func TestAnswerThatHasItsGroundIsTakenAsItComes(t *testing.T) {
	write := modeltest.SayAndCall(needTurn("write"), "vault_write", `{"path":"caching.md"}`)
	for _, c := range []struct {
		name, question string
		turns          []modeltest.Turn
	}{
		{"a claim after reading", auth, []modeltest.Turn{reading(1), modeltest.Say("It uses tokens. " + enough())}},
		{"silence after reading", auth, []modeltest.Turn{reading(1), modeltest.Say("It uses tokens.")}},
		{"a claim of small talk", thanks, []modeltest.Turn{modeltest.Say("You are welcome. " + enough())}},
		{"silence of small talk", thanks, []modeltest.Turn{modeltest.Say("You are welcome.")}},
		{"a claim with the receipt of a write", save, []modeltest.Turn{write, modeltest.Say("Saved the note. " + enough())}},
		{"silence with the receipt of a write", save, []modeltest.Turn{write, modeltest.Say("Saved the note.")}},
		{"what was asked for, and read", auth, []modeltest.Turn{modeltest.Say("It uses tokens. " + enough()), reading(1), modeltest.Say("It uses tokens, by its header. " + enough())}},
		{"what was asked for, and written", save, []modeltest.Turn{modeltest.Say("Saved the note."), write, modeltest.Say("Saved the note.")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			a := h.ask(c.question)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "caveat", a.Caveat, "")
			same(t, "told", told(a), []string(nil))
			holds(t, "the last reply", c.turns[len(c.turns)-1].Text, a.Answer)
		})
	}
}

func TestFollowUpStandsOnTheAnswersBeforeIt(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("It uses tokens. "+enough()), modeltest.Say("Yes, it does. "+enough()))
	h.finish(h.start(auth))
	a := h.ask("And in the tests?")
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "turns", a.Turns, 1)
}

func TestAnnouncementIsToldOnceToBeCarriedOut(t *testing.T) {
	announced := modeltest.Say("Let me look into the middleware.")
	for _, c := range []struct {
		name  string
		turns []modeltest.Turn
		stop  string
	}{
		{"for ever", []modeltest.Turn{announced, announced}, oracle.StopPartial},
		{"for ever, with a wish for another turn", []modeltest.Turn{modeltest.Say(announced.Text + needTurn("look")), modeltest.Say(announced.Text + needTurn("look on"))}, oracle.StopPartial},
		{"and then done", []modeltest.Turn{announced, reading(1), modeltest.Say("It uses tokens.")}, oracle.StopSatisfied},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			a := h.ask(auth)
			holds(t, "what is said after it", lastText(h.request(2)), "[control] "+hintAnnounced)
			same(t, "stop reason", a.StopReason, c.stop)
			holds(t, "the last reply", c.turns[len(c.turns)-1].Text, a.Answer)
		})
	}
}

func TestEmptyReplyIsToldOnceAndThenTheAnswerIsAskedFor(t *testing.T) {
	h := setUp(t, modeltest.Say(" "), modeltest.Say("\n"), modeltest.Say("I have nothing."))
	a := h.ask(auth)
	holds(t, "what is said after the first", lastText(h.request(2)), "[control] "+hintEmpty)
	holds(t, "what is said after the second", lastText(h.request(3)), "[control] "+hintWithdrawn)
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
}

func TestWhatBlockedTheModelAndWhatWouldHelpAreTold(t *testing.T) {
	lost := element("stuck", "0.8", "attempted", `["search"]`, "blocker", "the index is on a disk that is not mounted", "suggestions", `["mount the disk","name the file"]`)
	for name, then := range map[string]string{"with an answer": "I could not look it up.", "without one": ""} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.Say(lost), modeltest.Say(then))
			h.onlyCode()
			h.world.on("code_search", finds())
			a := h.ask(auth)
			same(t, "stop reason", a.StopReason, oracle.StopStuck)
			same(t, "blocker", a.Blocker, "the index is on a disk that is not mounted")
			same(t, "suggestions", a.Suggestions, []string{"mount the disk", "name the file"})
			if then == "" {
				holds(t, "the summary", a.Answer, "What blocked it: the index is on a disk that is not mounted.")
			}
		})
	}
}

// Whatever the model said last, its best text is the answer.
func TestBestTextIsTheAnswer(t *testing.T) {
	const first = "The middleware takes the token of the header, checks its signature with the key of the tenant, and passes the request on."
	for _, c := range []struct {
		name, then string
		replaces   bool
	}{
		{"it points up", "My answer above is complete.", false},
		{"it was given", "Already given above.", false},
		{"it is sorry", "Sorry, here is the signal.", false},
		{"it is done", "Done.", false},
		{"it says a part of it again", "The middleware checks its signature.", false},
		{"it announces", "Let me check the signature once more.", false},
		{"it says nothing", "", false},
		{"it is longer", first + " A request without one is refused.", true},
		{"it cites", "By `one.go:3`.", true},
		{"it says otherwise of the same", "The middleware takes the token of a cookie, not of the header: what was said is wrong.", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, opening("one"), modeltest.Say(first+needTurn("be sure")), modeltest.Say(c.then+enough()))
			a := h.ask(auth)
			want := first
			if c.replaces {
				want = c.then
			}
			same(t, "answer", a.Answer, want)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "the signal is that of the last reply", string(a.Signal.Type), "context_sufficient")
		})
	}
}

func TestRequestThatIsTooLongForTheModelGoesOnShorter(t *testing.T) {
	tooLong := modeltest.Fail(model.ContextLength)
	for _, c := range []struct {
		name  string
		turns []modeltest.Turn
		notes []int // requests for them
	}{
		{"from notes", []modeltest.Turn{opening("one"), opening("two"), opening("three"), tooLong, modeltest.Say("NOTES."), modeltest.Say("It uses tokens. " + enough())}, []int{5}},
		{"with shorter results where there is nothing to take notes of", []modeltest.Turn{opening("one"), tooLong, modeltest.Say("It uses tokens. " + enough())}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			h.openLong(6_000)
			a := h.ask(auth)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "answer", a.Answer, "It uses tokens.")
			same(t, "requests for notes", h.ofNotes(), c.notes)
			failed, again := len(whole(h.request(len(c.turns)-1-len(c.notes)))), len(whole(h.request(len(c.turns))))
			if again > failed*3/4 {
				t.Errorf("the request that was too long has %d characters, the next %d", failed, again)
			}
		})
	}
}

func TestModelReportsByATool(t *testing.T) {
	report := func(text, arguments string) modeltest.Turn {
		return modeltest.SayAndCall(text, oracle.ReportTool, arguments)
	}
	h := setUp(t, report("", `{"type":"stuck","confidence":0.8,"attempted":["search"],"blocker":"no <hit> & no way"}`).AndCall("code_search", `{}`),
		report("Only a part. ", `{"type":"partial_answer","confidence":0.7,"missing":"the tests"}`))
	h.env.ReportTool = true
	a := h.ask(auth)
	if !slices.Contains(offered(h.request(1)), oracle.ReportTool) {
		t.Errorf("the tools are %v", offered(h.request(1)))
	}
	same(t, "decisions", consulted(a), []string{"1: stuck, other_strategy by rules"})
	same(t, "blocker", a.Signals[0].Text("blocker"), "no <hit> & no way")
	same(t, "tools that were reached", h.world.called(), []string{"code_search"})
	same(t, "calls in the answer", len(a.ToolCalls), 1)
	asked, answered := map[string]bool{}, map[string]bool{}
	for _, m := range h.request(2).Messages {
		for _, c := range m.ToolCalls {
			asked[c.ID] = true
		}
		if m.Role == model.ToolRole {
			answered[m.ToolCallID] = true
		}
	}
	same(t, "calls that have an answer", answered, asked)
	same(t, "calls in the second request", len(asked), 2)
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "answer", a.Answer, "Only a part.")
	holds(t, "caveat", a.Caveat, "Missing: the tests")
}

func TestCallsAreShownInTheOrderInWhichTheModelMadeThem(t *testing.T) {
	h := setUp(t, modeltest.Call("code_read", lines("auth/middleware.go", 10, 30)).AndCall(oracle.ReportTool, `{"type":"need_turn","confidence":0.8,"reason":"reading"}`),
		modeltest.Say("It checks a token (`auth/middleware.go:12`)."))
	h.env.ReportTool = true
	h.ask(auth)
	var names []string
	for _, m := range h.request(2).Messages {
		for _, c := range m.ToolCalls {
			names = append(names, c.Name)
		}
	}
	same(t, "calls", names, []string{"code_read", oracle.ReportTool})
}

func TestReportThatIsNoneIsTreatedAsAMalformedSignal(t *testing.T) {
	h := setUp(t, reading(1), modeltest.SayAndCall("It uses tokens. ", oracle.ReportTool, `{"type":"done","confidence":0.9}`))
	h.env.ReportTool = true
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"2: malformed, force_answer by rules"})
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "told", told(a), []string(nil))
	same(t, "problems", len(a.Problems), 1)
	same(t, "severity of the notice", notices(a, oracle.NoticeMalformed)[0].Severity, agent.Info)
}

func TestTreeWithValuesThatNoLeafTakesIsRefused(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`type="need_turn"`, `type="need_trun"`, "did you mean need_turn?"},
		{`stop_reason="partial"`, `stop_reason="banana"`, "one of satisfied, partial, budget, stuck, loop, needs_user"},
		{`unsure_below="0.3"`, `unsure_below="7"`, "at most 1"},
		{`silent_turns="3"`, `silent_turns="0"`, "at least 1"},
	} {
		t.Run(c.to, func(t *testing.T) {
			h := setUp(t)
			h.tree.Text = []byte(strings.Replace(string(h.tree.Text), c.from, c.to, 1))
			spec, err := oracle.NewRun(t.Context(), h.store, h.question(auth))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.newEngine(h.store, "test", nil).Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("starting gives %v; want %q", err, c.want)
			}
		})
	}
}
