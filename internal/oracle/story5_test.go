package oracle_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// silently is the nth of turns that call a tool without a signal.
func silently(n int) modeltest.Turn {
	return modeltest.Call("code_read", lines(spelled[n]+".go", 1, 9))
}

func TestStory5Scenario1ThreeTurnsWithoutSignalGoToTheFallbackOnce(t *testing.T) {
	for name, bare := range map[string]bool{"a model that can write beside a call is reminded, once": false, "one that can't is not": true} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, silently(0), silently(1), silently(2), silently(3), silently(4), silently(5), theEnd)
			h.env.BareCalls = bare
			a := h.ask(auth)
			same(t, "decisions", a.Fallbacks, []oracle.Consult{{Turn: 3, Cause: oracle.CauseSilent, Verdict: oracle.GoOn, By: "rules", Because: "it calls tools"}})
			same(t, "calls performed", len(h.world.called()), 6)
			lacks(t, "what is said before the third turn is over", said(h.request(3), model.User), "[control]")
			if bare {
				lacks(t, "what is said in all", said(h.request(7), model.User), "[control]")
				return
			}
			holds(t, "what is said after the third", lastText(h.request(4)), "[control] "+hintRemind)
			same(t, "times it is said", strings.Count(whole(h.request(7)), hintRemind), 1)
		})
	}
}

func TestStory5Scenario1TwoSilentTurnsAreNotDoubtedAndASignalEndsTheRow(t *testing.T) {
	h := setUp(t, silently(0), silently(1), thinking(1), silently(2), silently(3), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string(nil))
}

func TestStory5Scenario1SilentWordsAfterReadingAreTheAnswer(t *testing.T) {
	h := setUp(t, modeltest.Call("code_read", lines("one.go", 1, 9)), modeltest.Call("code_search", `{}`), modeltest.Say("It checks a token (`one.go:3`)."))
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: silent, force_answer by rules"})
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "answer", a.Answer, "It checks a token (`one.go:3`).")
	same(t, "it is told", told(a), []string(nil))
}

// The independent test of user story 5.
func TestStory5ReplyWithoutSignalHasADefaultByTheFallback(t *testing.T) {
	h := setUp(t, modeltest.Say("It is so. "+malformed), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"1: malformed, go_on by rules"})
	same(t, "it is told to those who watch", notices(a, oracle.NoticeFallback), []agent.Notice{{Type: "fallback.consulted", Severity: agent.Info, Turn: 1,
		Text:    "The fallback was consulted (malformed) and decided: go_on, since what is missing is requested as for any other reply.",
		Payload: map[string]string{"cause": "malformed", "verdict": "go_on", "by": "rules"}}})
}

func TestStory5Scenario2ConfidenceBelowThreeTenthsIsDoubtedAndThreeTenthsIsNot(t *testing.T) {
	fields := map[string][]string{
		"need_turn":              {"reason", "more to read"},
		"context_sufficient":     {"sources_found", "1"},
		"need_capability":        {"capability", "sending an email", "reason", "to ask"},
		"partial_answer":         {"missing", "the tests"},
		"delegation_recommended": {"reason", "too large", "scope", "all"},
	}
	verdicts := map[string]string{"need_turn": "retry", "context_sufficient": "go_on", "need_capability": "go_on", "partial_answer": "go_on",
		"delegation_recommended": "go_on"}
	for kind, f := range fields {
		for confidence, doubted := range map[string]bool{"0": true, "0.2": true, "0.2999999": true, "0.3": false, "0.30": false, "0.9": false} {
			t.Run(kind+" "+confidence, func(t *testing.T) {
				h := setUp(t, modeltest.Say("It is so. "+element(kind, confidence, f...)), theEnd)
				a := h.play(auth)
				want := []string(nil)
				if doubted {
					want = []string{"1: unsure, " + verdicts[kind] + " by rules"}
				}
				same(t, "decisions", consulted(a), want)
			})
		}
	}
}

func TestStory5Scenario2StuckOfAnyConfidenceIsStuck(t *testing.T) {
	for _, confidence := range []string{"0.1", "0.3", "1"} {
		h := setUp(t, modeltest.Say(element("stuck", confidence, "attempted", `["search"]`, "blocker", "no hit")), theEnd)
		a := h.ask(auth)
		same(t, "decisions with a confidence of "+confidence, consulted(a), []string{"1: stuck, other_strategy by rules"})
	}
}

func TestUnsureSignalsAreJudgedByWhatSupportsThem(t *testing.T) {
	unsure := func(kind string, fields ...string) string { return element(kind, "0.2", fields...) }
	sure := unsure("context_sufficient", "sources_found", "1")
	more := unsure("need_turn", "reason", "more")
	for _, c := range []struct {
		name  string
		turns []modeltest.Turn
		want  []string
		stop  string
		asked int // times
	}{
		{"done after reading", []modeltest.Turn{reading(1), modeltest.Say("So it is. " + sure)}, []string{"2: unsure, go_on by rules"}, oracle.StopSatisfied, 2},
		{"done with nothing read, twice", []modeltest.Turn{modeltest.Say("So it is. " + sure), modeltest.Say("It is. " + sure)},
			[]string{"1: unsure, go_on by rules", "2: unsure, go_on by rules"}, oracle.StopPartial, 2},
		{"done without a word", []modeltest.Turn{reading(1), modeltest.Say(sure), theEnd}, []string{"2: unsure, go_on by rules"}, oracle.StopPartial, 3},
		{"more beside a call", []modeltest.Turn{modeltest.SayAndCall(more, "code_search", `{}`), theEnd}, []string{"1: unsure, go_on by rules"}, oracle.StopPartial, 2},
		{"a question to the person", []modeltest.Turn{modeltest.Say("Which of them do you mean? " + more)}, []string{"1: unsure, ask_user by rules"}, oracle.StopNeedsUser, 1},
		{"more without a call, three times", []modeltest.Turn{modeltest.Say(more), modeltest.Say(unsure("need_turn", "reason", "some")), modeltest.Say(unsure("need_turn", "reason", "other")), theEnd},
			[]string{"1: unsure, retry by rules", "2: unsure, other_strategy by rules", "3: unsure, other_strategy by rules"}, oracle.StopPartial, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			a := h.ask(auth)
			same(t, "decisions", consulted(a), c.want)
			same(t, "stop reason", a.StopReason, c.stop)
			same(t, "turns", a.Turns, c.asked)
		})
	}
}

func TestUnsureReplyIsAskedForTheOneThingThatWouldMakeItSure(t *testing.T) {
	h := setUp(t, modeltest.Say("Perhaps. "+element("need_turn", "0.2", "reason", "more")), theEnd)
	h.ask(auth)
	holds(t, "what is said after it", lastText(h.request(2)), "[control] "+hintUnsure)
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search"})
}

func TestStory5Scenario3StuckWithOtherSourcesIsOfferedThem(t *testing.T) {
	h := setUp(t, modeltest.Say(stuck("nothing in the code")), theEnd)
	a := h.ask(auth)
	same(t, "tools of the second request", offered(h.request(2)), []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch", "web_search"})
	holds(t, "what is said after it", lastText(h.request(2)), "[control] "+hintWidened)
	same(t, "why", a.Fallbacks[0].Because, "there is a source that was not offered")
}

func TestStory5Scenario3StuckWithHitsAndNoOtherSourceIsAskedForOtherWordsOnce(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":"auth"}`), modeltest.Say(stuck("not the right hit")),
		modeltest.Say(stuck("still not the right hit")), theEnd)
	h.onlyCode()
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"2: stuck, other_strategy by rules", "3: stuck, force_answer by rules"})
	holds(t, "what is said after the first", lastText(h.request(3)), hintOther)
	same(t, "tools of the third request", offered(h.request(3)), []string{"code_read", "code_search"})
	holds(t, "what is said after the second", lastText(h.request(4)), hintWithdrawn)
	same(t, "tools of the fourth request", offered(h.request(4)), []string{})
}

func TestStory5Scenario3StuckWithNothingLeftAcknowledgesTheLimit(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.Say(stuck("nothing at all")), modeltest.Say("I could not find it."))
	h.onlyCode()
	h.world.on("code_search", finds())
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"2: stuck, force_answer by rules"})
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
	same(t, "is partial", a.Partial(), true)
	same(t, "answer", a.Answer, "I could not find it.")
}

func TestCallsBesideStuckAreRun(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(stuck("one last try"), "code_search", `{}`), theEnd)
	h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_search"})
}

func TestReplyThatEndsWithAQuestionIsForThePersonToAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		cause oracle.Cause
	}{
		"stuck":     {"Which of the two do you mean?\n" + stuck("two are called so"), oracle.CauseStuck},
		"malformed": {"**Which of the two do you mean?**\n" + malformed, oracle.CauseMalformed},
		"unsure":    {"Which of the two do you mean? " + element("need_turn", "0.1", "reason", "to know which"), oracle.CauseUnsure},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say(c.reply), modeltest.Say("The server's. "+partial("the rest")))
			a := h.play(auth)
			same(t, "decisions", consulted(a), []string{"1: " + string(c.cause) + ", ask_user by rules"})
			same(t, "stop reason", a.StopReason, oracle.StopNeedsUser)
			holds(t, "answer", a.Answer, "Which of the two do you mean?")
			r, err := h.store.Run(t.Context(), owner, a.RunID)
			if err != nil {
				t.Fatal(err)
			}
			same(t, "status of the run", r.Status, journal.NeedsUser)
			h.ask("The one of the server")
			holds(t, "the conversation that goes on", said(h.request(2), model.Assistant), "Which of the two do you mean?")
		})
	}
}

func TestSilentQuestionInTheThirdTurnIsForThePersonToAnswer(t *testing.T) {
	h := setUp(t, modeltest.Call("code_search", `{"query":"a"}`), modeltest.Call("code_search", `{"query":"b"}`), modeltest.Say("Which of the two do you mean?"))
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: silent, ask_user by rules"})
	same(t, "stop reason", a.StopReason, oracle.StopNeedsUser)
}

func TestMalformedSignalGoesToTheFallbackAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []modeltest.Turn
		want  []string
		stop  string
	}{
		{"beside calls, which are run", []modeltest.Turn{modeltest.SayAndCall(malformed, "code_search", `{}`), theEnd}, []string{"1: malformed, go_on by rules"}, oracle.StopPartial},
		{"with words after reading", []modeltest.Turn{reading(1), modeltest.Say("It is so. " + malformed)}, []string{"2: malformed, force_answer by rules"}, oracle.StopSatisfied},
		{"without words after reading", []modeltest.Turn{reading(1), modeltest.Say(malformed), theEnd}, []string{"2: malformed, go_on by rules"}, oracle.StopPartial},
		{"twice, with nothing read", []modeltest.Turn{modeltest.Say("So. " + malformed), modeltest.Say("So. " + malformed)},
			[]string{"1: malformed, go_on by rules", "2: malformed, go_on by rules"}, oracle.StopPartial},
		{"twice without a word", []modeltest.Turn{modeltest.Say(malformed), modeltest.Say(malformed), modeltest.Say("I have nothing.")},
			[]string{"1: malformed, go_on by rules", "2: malformed, go_on by rules"}, oracle.StopStuck},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			a := h.ask(auth)
			same(t, "decisions", consulted(a), c.want)
			same(t, "stop reason", a.StopReason, c.stop)
		})
	}
}

// Scenario 4 of user story 5, and SC-006: what fails and what was never there come to the same, but for the notice.
func TestStory5Scenario4WithoutAClassifierTheRulesDecide(t *testing.T) {
	unsure := element("context_sufficient", "0.2", "sources_found", "1")
	look := modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":"auth"}`)
	for name, turns := range map[string][]modeltest.Turn{
		"silent":                     {modeltest.Call("code_search", `{"query":"a"}`), modeltest.Call("code_search", `{"query":"b"}`), modeltest.Say("So."), theEnd},
		"silent calls":               {modeltest.Call("code_search", `{"query":"a"}`), modeltest.Call("code_search", `{"query":"b"}`), silently(0), theEnd},
		"malformed":                  {modeltest.Say("So. " + malformed), modeltest.Say("So. " + malformed)},
		"malformed after reading":    {reading(1), modeltest.Say("So. " + malformed)},
		"malformed question":         {modeltest.Say("Which one? " + malformed)},
		"stuck to the end":           {look, modeltest.Say(stuck("a")), modeltest.Say(stuck("b")), modeltest.Say(stuck("c")), theEnd},
		"the same reason":            {modeltest.Say(needTurn("look")), modeltest.Say(needTurn("look")), modeltest.Say(needTurn("look")), modeltest.Say(needTurn("look")), theEnd},
		"unsure of the answer":       {modeltest.Say("So. " + unsure), modeltest.Say("So. " + unsure)},
		"unsure, and read thereupon": {modeltest.Say("So. " + unsure), reading(1), modeltest.Say("So. " + unsure)},
	} {
		t.Run(name, func(t *testing.T) {
			none := setUp(t, turns...)
			want := none.ask(auth)
			failing := setUp(t, turns...)
			failing.classifier = (&classifier{err: errors.New("the model can't be loaded")}).ask
			got := failing.ask(auth)
			same(t, "notices of the failing one", notices(got, oracle.NoticeClassifier), []agent.Notice{{Type: "classifier.unavailable", Severity: agent.Warning,
				Turn: want.Fallbacks[0].Turn, Text: "The classifier is not available, so rules decide: the model can't be loaded",
				Payload: map[string]string{"reason": "the model can't be loaded"}}})
			got.Notices = slices.DeleteFunc(got.Notices, func(n agent.Notice) bool { return n.Type == oracle.NoticeClassifier })
			got.SessionID, want.SessionID = "", ""
			same(t, "answer", timeless(got), timeless(want))
			for i := range want.Turns {
				same(t, fmt.Sprintf("request %d", i+1), whole(failing.request(i+1)), whole(none.request(i+1)))
			}
			same(t, "is asked once a doubt", len(failing.completions(oracle.EffectClassify)), len(want.Fallbacks))
			same(t, "none is never asked", len(none.completions(oracle.EffectClassify)), 0)
		})
	}
}

func TestStory3Scenario3SameReasonThreeTimesIsTreatedAsStuck(t *testing.T) {
	again := modeltest.Say(needTurn("Look  for it "))
	h := setUp(t, again, again, modeltest.Say(needTurn("look for IT")), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, other_strategy by rules"})
	holds(t, "what is said after the third", lastText(h.request(4)), hintWidened)
	same(t, "tools of the fourth request", offered(h.request(4)), []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "web_fetch", "web_search"})
	same(t, "loops found", h.strikes(), []string(nil))
	same(t, "consecutive same reasons, as the signals say", len(a.Signals), 4)
}

func TestStory3Scenario3SameReasonThatGoesOnIsEscalatedAfterTheFallback(t *testing.T) {
	search := func(words string) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look for it"), "code_search", `{"query":"`+words+`"}`)
	}
	h := setUp(t, search("one"), search("two"), search("three"), search("four"), search("five"), modeltest.Say("Nothing."))
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, other_strategy by rules", "4: same_reason, other_strategy by rules", "5: same_reason, force_answer by rules"})
	same(t, "loops found", h.strikes(), []string{"the same reason, 2"})
	lacks(t, "what is said after the third", lastText(h.request(4)), hintNudge, hintTakenAway, hintWithdrawn)
	holds(t, "what is said after the fourth", lastText(h.request(5)), hintTakenAway)
	lacks(t, "the tools of the fifth request", joined(offered(h.request(5))), "code_search")
	same(t, "tools of the last request", offered(h.request(6)), []string{})
	same(t, "stop reason", a.StopReason, oracle.StopLoop)
}

func TestStory3Scenario3SameReasonWithoutAnyCallIsForcedToAnswerAfterTheFallback(t *testing.T) {
	again := modeltest.Say(needTurn("look for it"))
	h := setUp(t, again, again, again, again, modeltest.Say("Nothing."))
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, other_strategy by rules", "4: same_reason, force_answer by rules"})
	same(t, "loops found", h.strikes(), []string(nil))
	same(t, "tools of the last request", offered(h.request(5)), []string{})
	same(t, "stop reason", a.StopReason, oracle.StopLoop)
}

func TestStory3Scenario3SameReasonWhileNewThingsAreReadIsNoLoop(t *testing.T) {
	var turns []modeltest.Turn
	for i := range 8 {
		turns = append(turns, modeltest.SayAndCall(needTurn("read on"), "code_read", lines(spelled[i]+".go", 1, 9)))
	}
	h := setUp(t, append(turns, theEnd)...)
	h.ask(auth)
	same(t, "loops found", h.strikes(), []string(nil))
	same(t, "calls performed", len(h.world.called()), 8)
	same(t, "tools of the last request", offered(h.request(9)), []string{"code_read", "code_search"})
}

func TestStory3Scenario3ADifferentReasonOrSignalEndsTheRow(t *testing.T) {
	same3 := modeltest.Say(needTurn("look"))
	for name, between := range map[string]modeltest.Turn{"another reason": thinking(1), "another signal": modeltest.Say(needCapability("sending an email")), "silence": modeltest.Call("code_search", `{}`)} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, same3, same3, between, same3, theEnd)
			a := h.ask(auth)
			same(t, "decisions", consulted(a), []string(nil))
		})
	}
}

func TestStory3Scenario3ReasonsThatDifferInTheirNumbersAreTheSameWhileNothingIsRead(t *testing.T) {
	h := setUp(t, modeltest.Say(needTurn("read page 1")), modeltest.Say(needTurn("read page 2")), modeltest.Say(needTurn("read page 13")), theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, other_strategy by rules"})
	var turns []modeltest.Turn
	for i := range 4 {
		turns = append(turns, modeltest.SayAndCall(needTurn(fmt.Sprintf("read page %d", i)), "code_read", lines(spelled[i]+".go", 1, 9)))
	}
	h = setUp(t, append(turns, theEnd)...)
	a = h.ask(auth)
	same(t, "decisions while something is read", consulted(a), []string(nil))
}

// A source that was read before is nothing new: from the turn after it on, numbers are masked again.
func TestReasonsThatDifferInTheirNumbersAreTheSameAsSoonAsNothingNewIsOpened(t *testing.T) {
	page := func(n int) string { return needTurn(fmt.Sprintf("read page %d", n)) }
	for name, c := range map[string]struct {
		turns []modeltest.Turn
		want  []string
	}{
		"the same place is opened again": {[]modeltest.Turn{modeltest.SayAndCall(page(1), "code_read", lines("a.go", 1, 9)),
			modeltest.SayAndCall(page(2), "code_read", lines("a.go", 1, 9)), modeltest.SayAndCall(page(3), "code_read", lines("a.go", 1, 9)),
			modeltest.Say(page(4)), theEnd}, []string{"4: same_reason, other_strategy by rules"}},
		"a place is opened once": {[]modeltest.Turn{modeltest.SayAndCall(page(1), "code_read", lines("a.go", 1, 9)),
			modeltest.Say(page(2)), modeltest.Say(page(3)), modeltest.Say(page(4)), theEnd}, []string{"4: same_reason, other_strategy by rules"}},
		"a place is opened in the middle": {[]modeltest.Turn{modeltest.Say(page(1)), modeltest.SayAndCall(page(2), "code_read", lines("a.go", 1, 9)),
			modeltest.Say(page(3)), modeltest.Say(page(4)), theEnd}, nil},
		"hits that nobody opens": {[]modeltest.Turn{modeltest.SayAndCall(page(1), "code_search", `{"query":"one"}`),
			modeltest.SayAndCall(page(2), "code_search", `{"query":"two"}`), modeltest.SayAndCall(page(3), "code_search", `{"query":"three"}`), theEnd},
			[]string{"3: same_reason, other_strategy by rules"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			same(t, "decisions", consulted(h.ask(auth)), c.want)
		})
	}
}

func TestStory3Scenario4StuckTriesAnotherStrategyOrAcknowledgesTheLimitWithAndWithoutAClassifier(t *testing.T) {
	for _, c := range []struct {
		name  string
		with  *classifier
		wants []string
		last  string
	}{
		{"by rules, another source", nil, []string{"1: stuck, other_strategy by rules"}, hintWidened},
		{"by a classifier, another source", says(oracle.OtherStrategy, 0.9), []string{"1: stuck, other_strategy by classifier"}, hintWidened},
		{"by a classifier, the answer", says(oracle.ForceAnswer, 0.9), []string{"1: stuck, force_answer by classifier"}, hintWithdrawn},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, modeltest.Say(stuck("nothing")), theEnd)
			if c.with != nil {
				h.classifier = c.with.ask
			}
			a := h.ask(auth)
			same(t, "decisions", consulted(a), c.wants)
			holds(t, "what is said after it", lastText(h.request(2)), c.last)
		})
	}
}

// onlyCode leaves no other source than the code.
func (h *harness) onlyCode() {
	h.world.without("vault_search", "vault_read", "vault_write", "thread_seek", "web_search", "web_fetch")
}
