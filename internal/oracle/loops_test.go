package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// goingRound is the nth turn of a model that only one detector can find out.
var goingRound = map[string]func(n int) modeltest.Turn{
	"the same reason": func(int) modeltest.Turn { return modeltest.Say(needTurn("look")) },
	"the same call": func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look for "+spelled[n]), "code_read", lines("a.go", 1, 9))
	},
	"the same error": func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look for "+spelled[n]), "vault_search", `{"query":"`+spelled[n]+`"}`)
	},
	"nothing new": thinking,
}

func TestDetectorFiresExactlyAtItsThreshold(t *testing.T) {
	for name, turn := range goingRound {
		for threshold := 2; threshold <= 6; threshold++ {
			t.Run(fmt.Sprintf("%s %d", name, threshold), func(t *testing.T) {
				played := func(turns int) (oracle.Answer, *harness) {
					var script []modeltest.Turn
					for i := range turns {
						script = append(script, turn(i))
					}
					h := setUp(t, append(script, theEnd)...)
					h.alone(name, threshold)
					return h.ask(auth), h
				}
				a, h := played(threshold - 1)
				same(t, "loops found one turn earlier", loops(a), []string(nil))
				lacks(t, "what was said then", lastText(h.request(threshold)), hintNudge)
				a, h = played(threshold)
				same(t, "loops found", loops(a), []string{fmt.Sprintf("%d: %s, step 1", threshold, name)})
				holds(t, "what is said after it", lastText(h.request(threshold+1)), "[control]", hintNudge)
				same(t, "it is nudged once", strings.Count(whole(h.request(threshold+1)), hintNudge), 1)
			})
		}
	}
}

func TestCycleOfCallsIsFoundAtTheEndOfItsLastRound(t *testing.T) {
	for length := 2; length <= 4; length++ {
		for rounds := 2; rounds <= 3; rounds++ {
			t.Run(fmt.Sprintf("%d calls %d times", length, rounds), func(t *testing.T) {
				played := func(turns int) oracle.Answer {
					var script []modeltest.Turn
					for i := range turns {
						script = append(script, modeltest.SayAndCall(needTurn("see "+spelled[i]), "code_read", lines(spelled[i%length]+".go", 1, 9)))
					}
					h := setUp(t, append(script, theEnd)...)
					h.alone("a cycle of calls", rounds)
					return h.ask(auth)
				}
				at := length * rounds
				same(t, "loops found one turn earlier", loops(played(at-1)), []string(nil))
				same(t, "loops found", loops(played(at)), []string{fmt.Sprintf("%d: a cycle of calls, step 1", at)})
			})
		}
	}
}

func TestCycleThatIsLongerThanAllowedIsNone(t *testing.T) {
	for longest, found := range map[int]bool{2: false, 3: true, 4: true} {
		var script []modeltest.Turn
		for i := range 6 {
			script = append(script, modeltest.SayAndCall(needTurn("see "+spelled[i]), "code_read", lines(spelled[i%3]+".go", 1, 9)))
		}
		h := setUp(t, append(script, theEnd)...)
		h.alone("a cycle of calls", 2)
		h.changed(`longest="4"`, fmt.Sprintf(`longest="%d"`, longest))
		a := h.ask(auth)
		same(t, fmt.Sprintf("a cycle of 3 is found where %d is the longest", longest), len(loops(a)) > 0, found)
	}
}

func TestCycleWithATurnThatThinksOrBringsSomethingNewIsNone(t *testing.T) {
	a, b := modeltest.SayAndCall(needTurn("see a"), "code_read", lines("a.go", 1, 9)), modeltest.SayAndCall(needTurn("see b"), "code_read", lines("b.go", 1, 9))
	for name, script := range map[string][]modeltest.Turn{
		"thinks": {a, thinking(1), a, thinking(2), theEnd},
		"other":  {a, b, reading(1), a, b, reading(2), theEnd},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, script...)
			h.alone("a cycle of calls", 2)
			same(t, "loops found", loops(h.ask(auth)), []string(nil))
		})
	}
}

func TestEscalationNudgesThenTakesTheToolThenForcesTheAnswer(t *testing.T) {
	again := goingRound["the same call"]
	h := setUp(t, again(0), again(1), again(2), again(3), again(4), modeltest.Say("It checks a token (`a.go:3`). "+needTurn("more")))
	a := h.ask(auth)
	same(t, "loops found", h.strikes(), []string{"the same call, 1", "the same call, 2", "the same call, 3"})
	same(t, "loops told", loops(a), []string{"3: the same call, step 1", "4: the same call, step 2", "5: the same call, step 3"})
	holds(t, "what is said after the third turn", lastText(h.request(4)), hintNudge)
	same(t, "tools of the fourth request", offered(h.request(4)), []string{"code_read", "code_search"})
	holds(t, "what is said after the fourth turn", lastText(h.request(5)), hintTakenAway)
	same(t, "tools of the fifth request", offered(h.request(5)), []string{"code_search"})
	same(t, "calls performed", len(h.world.called()), 4)
	holds(t, "what the model hears of its fifth call", said(h.request(6), model.ToolRole), "Not performed: it is not offered for this question.")
	holds(t, "what is said after the fifth turn", lastText(h.request(6)), hintWithdrawn)
	same(t, "tools of the sixth request", offered(h.request(6)), []string{})
	same(t, "stop reason", a.StopReason, oracle.StopLoop)
	same(t, "is partial", a.Partial(), true)
	same(t, "cited", cites(a), []string{"a.go:1-9"})
}

func TestEscalationWithoutAToolBehindItForcesTheAnswer(t *testing.T) {
	var script []modeltest.Turn
	for i := range 6 {
		script = append(script, thinking(i))
	}
	h := setUp(t, append(script, modeltest.Say("Nothing."))...)
	a := h.ask(auth)
	same(t, "loops found", h.strikes(), []string{"nothing new, 1", "nothing new, 2"})
	same(t, "tools of the sixth request", offered(h.request(6)), []string{"code_read", "code_search"})
	same(t, "tools of the seventh request", offered(h.request(7)), []string{})
	same(t, "stop reason", a.StopReason, oracle.StopLoop)
}

func TestStrikesAreForgivenAfterThreeProductiveTurnsInARow(t *testing.T) {
	for between, want := range map[string]string{"b c": "2", "b c d": "1", "b c - d": "2", "b - c d e": "1"} {
		t.Run(between, func(t *testing.T) {
			names := append([]string{"a", "a", "a"}, strings.Fields(between)...)
			last := names[len(names)-1]
			var script []modeltest.Turn
			for i, name := range append(names, last, last) {
				turn := thinking(i)
				if name != "-" {
					turn = modeltest.SayAndCall(needTurn("see it for "+spelled[i]), "code_read", lines(name+".go", 1, 9))
				}
				script = append(script, turn)
			}
			h := setUp(t, append(script, theEnd)...)
			h.alone("the same call", 3)
			h.ask(auth)
			same(t, "loops found", h.strikes(), []string{"the same call, 1", "the same call, " + want})
		})
	}
}

// What the fallback counts as a step is a strike like any other: it must not undo that the run had recovered.
func TestStrikesStayForgivenWhenTheFallbackCountsOne(t *testing.T) {
	again, thought := goingRound["the same call"], modeltest.Say(needTurn("look for it"))
	script := []modeltest.Turn{again(0), again(1), again(2), again(3)} // two strikes: the tool is taken away
	for i := range 3 {
		script = append(script, modeltest.SayAndCall(needTurn("find "+spelled[i]), "code_search", `{"query":"`+spelled[i]+`"}`))
	}
	h := setUp(t, append(script, thought, thought, thought, thought, theEnd)...)
	found := 0
	h.world.on("code_search", func(c tool.Call) (tool.Result, error) {
		found++
		return finds(tool.Ref{Source: tool.Code, Path: spelled[found] + ".go", Start: 1})(c)
	})
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"10: same_reason, other_strategy by rules", "11: same_reason, other_strategy by rules"})
	same(t, "loops found", h.strikes(), []string{"the same call, 1", "the same call, 2", "the same reason, 2"})
}

func TestWriteResetsWhatWasReadBeforeIt(t *testing.T) {
	read := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("see it for "+spelled[n]), "vault_read", lines("a.md", 1, 9))
	}
	write := modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`)
	h := setUp(t, read(0), read(1), write, read(2), read(3), theEnd)
	h.alone("the same call", 3)
	same(t, "loops found", loops(h.ask(save)), []string(nil))
	h = setUp(t, read(0), read(1), write, read(2), read(3), read(4), theEnd)
	h.alone("the same call", 3)
	same(t, "loops found after three more", loops(h.ask(save)), []string{"6: the same call, step 1"})
}

func TestWriteThatFailedResetsNothing(t *testing.T) {
	read := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("see it for "+spelled[n]), "vault_read", lines("a.md", 1, 9))
	}
	h := setUp(t, read(0), read(1), modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`), read(2), theEnd)
	h.world.on("vault_write", fails(tool.Denied, "", "it is ignored"))
	h.alone("the same call", 3)
	same(t, "loops found", loops(h.ask(save)), []string{"4: the same call, step 1"})
}

func TestSameCallIsCountedFromItsLastNewResultOn(t *testing.T) {
	var script []modeltest.Turn
	for i := range 5 {
		script = append(script, goingRound["the same call"](i))
	}
	h := setUp(t, append(script, theEnd)...)
	h.alone("the same call", 3)
	n := 0
	h.world.on("code_read", func(c tool.Call) (tool.Result, error) {
		if n++; n > 3 {
			n = 3 // new in the first three turns
		}
		return opens(tool.Code, fmt.Sprintf("%d tests passed", n))(c)
	})
	same(t, "loops found", loops(h.ask(auth)), []string{"5: the same call, step 1"})
}

func TestSameCallSeveralTimesInOneTurnCountsOnce(t *testing.T) {
	args := lines("a.go", 1, 9)
	turn := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("see "+spelled[n]), "code_read", args).AndCall("code_read", args).AndCall("code_read", args)
	}
	h := setUp(t, turn(0), turn(1), theEnd)
	a := h.ask(auth)
	same(t, "loops found", loops(a), []string(nil))
	same(t, "calls performed", len(h.world.called()), 6)
}

func TestSameErrorSeveralTimesInOneTurnCountsOnce(t *testing.T) {
	turn := modeltest.Say(needTurn("open them")).AndCall("code_read", lines("one.go", 1, 9)).AndCall("code_read", lines("two.go", 1, 9)).AndCall("code_read", lines("three.go", 1, 9))
	h := setUp(t, turn, theEnd)
	h.world.on("code_read", fails(tool.Timeout, "ask for less", "no result in time"))
	a := h.ask(auth)
	same(t, "loops found", loops(a), []string(nil))
}

func TestSameErrorIsEndedByACallThatGoesWell(t *testing.T) {
	bad := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("open "+spelled[n]), "vault_read", lines(spelled[n]+".md", 1, 9))
	}
	h := setUp(t, bad(0), bad(1), modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), bad(2), theEnd)
	a := h.ask(auth)
	same(t, "loops found", loops(a), []string(nil))
}

func TestErrorsThatDifferInMoreThanNumbersAreNotTheSame(t *testing.T) {
	for name, c := range map[string]struct {
		message func(n int) string
		found   bool
	}{
		"a request's number": {func(n int) string { return fmt.Sprintf("request %d was refused at 10:0%d:00", n, n) }, true},
		"another cause":      {func(n int) string { return "no file " + spelled[n] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			var script []modeltest.Turn
			for i := range 3 {
				script = append(script, modeltest.SayAndCall(needTurn("open "+spelled[i]), "code_read", lines(spelled[i]+".go", 1, 9)))
			}
			h := setUp(t, append(script, theEnd)...)
			h.world.on("code_read", func(tool.Call) (tool.Result, error) {
				n++
				return tool.Result{}, tool.Errorf(tool.Failed, "", "%s", c.message(n))
			})
			same(t, "is a loop", len(loops(h.ask(auth))) > 0, c.found)
		})
	}
}

// many is a turn that opens so many files.
func many(n int) modeltest.Turn {
	t := modeltest.Say(needTurn("open them all"))
	for i := range n {
		t = t.AndCall("code_read", lines(spelled[i%30]+spelled[i/30]+".go", 1, 9))
	}
	return t
}

func TestSixteenCallsOfATurnArePerformedAndTheOthersRefusedWithTheReason(t *testing.T) {
	h := setUp(t, many(17), theEnd)
	a := h.ask(auth)
	same(t, "calls performed", len(h.world.called()), 16)
	same(t, "calls proposed", len(a.ToolCalls), 17)
	same(t, "the last of them", a.ToolCalls[16].Refused, "a turn may call 16 tools at most")
	same(t, "the one before it", a.ToolCalls[15].Refused, "")
	holds(t, "what the model hears", said(h.request(2), model.ToolRole), "Not performed: a turn may call 16 tools at most.")
	h = setUp(t, many(16), theEnd)
	h.ask(auth)
	same(t, "calls performed of sixteen", len(h.world.called()), 16)
	lacks(t, "what the model hears", said(h.request(2), model.ToolRole), "Not performed")
}

func TestCallsOverTheLimitOfATurnAreNoLoop(t *testing.T) {
	h := setUp(t, many(20), theEnd)
	a := h.ask(auth)
	same(t, "calls performed", len(h.world.called()), 16)
	same(t, "loops found", loops(a), []string(nil))
	lacks(t, "what is said after it", lastText(h.request(2)), hintNudge)
}

func TestToolThatWasTakenAwayIsNotOfferedAgain(t *testing.T) {
	again := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look for "+spelled[n]), "code_search", `{"query":"auth"}`)
	}
	for name, next := range map[string]modeltest.Turn{
		"on the model's wish": modeltest.Say(needCapability("code search")),
		"by the fallback":     modeltest.Say(stuck("nothing")),
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, again(0), again(1), again(2), again(3), next, theEnd)
			h.onlyCode()
			h.world.without("code_read")
			h.ask(auth)
			same(t, "tools of the fifth request", offered(h.request(5)), []string{})
			same(t, "tools of the sixth request", offered(h.request(6)), []string{})
		})
	}
}

// The fallback has just turned the model another way: it must be given the chance to go it.
func TestTurnInWhichTheFallbackTurnedTheModelIsNoStrikeAsWell(t *testing.T) {
	again := modeltest.SayAndCall(needTurn("see a"), "code_read", lines("a.go", 1, 9))
	h := setUp(t, again, again, again, theEnd)
	a := h.ask(auth)
	same(t, "decisions", consulted(a), []string{"3: same_reason, other_strategy by rules"})
	same(t, "loops found", h.strikes(), []string(nil))
	lacks(t, "what is said after it", lastText(h.request(4)), hintTakenAway)
}

func TestRunThatAnswersInTheTurnOfALoopIsNotNudged(t *testing.T) {
	again := goingRound["the same call"]
	h := setUp(t, again(0), again(1), modeltest.SayAndCall("It checks a token (`a.go:3`). "+enough(), "code_read", lines("a.go", 1, 9)))
	a := h.ask(auth)
	same(t, "loops found", loops(a), []string(nil))
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

// A tool that the control layer took away is not one that never was: nothing was read, and the words rest on nothing.
func TestWordsAfterTheOnlyToolWasTakenAwayAreNoSatisfyingAnswer(t *testing.T) {
	again := func(n int) modeltest.Turn {
		return modeltest.SayAndCall(needTurn("look for "+spelled[n]), "code_search", `{"query":"auth"}`)
	}
	h := setUp(t, again(0), again(1), again(2), again(3), modeltest.Say("From memory: it checks a token."), theEnd, theEnd)
	h.onlyCode()
	h.world.without("code_read")
	a := h.play(auth)
	same(t, "tools of the fifth request", offered(h.request(5)), []string{})
	if a.StopReason == oracle.StopSatisfied {
		t.Errorf("the run is satisfied with %q, after %d searches and no reading", a.Answer, len(h.world.called()))
	}
}

func TestLoopEndsWithWhatWasFoundAndNotWithTheLastFiller(t *testing.T) {
	again := goingRound["the same call"]
	for filler, kept := range map[string]bool{
		"Searching again.": true, "Let me look once more.": false,
		"The search for the middleware is running once more, with other words than those before.": true,
	} {
		h := setUp(t, again(0), again(1), again(2), again(3), again(4), modeltest.Say(filler))
		a := h.ask(auth)
		same(t, "stop reason", a.StopReason, oracle.StopLoop)
		holds(t, "the answer", a.Answer, "What was read last:", "`a.go:1-9`", "line of code")
		same(t, "the filler stands in it", strings.Contains(a.Answer, filler), kept)
	}
	h := setUp(t, again(0), again(1), again(2), again(3), again(4), modeltest.Say("It checks a token, as `a.go:3` says."))
	same(t, "an answer stays as it is", h.ask(auth).Answer, "It checks a token, as `a.go:3` says.")
}

func TestForcedAnswerSaysThatNothingWasLookedUp(t *testing.T) {
	thinks := func(turns int) (script []modeltest.Turn) {
		for i := range turns {
			script = append(script, thinking(i))
		}
		return script
	}
	for name, c := range map[string]struct {
		turns []modeltest.Turn
		most  int
		stop  string
	}{
		"budget": {append(thinks(2), modeltest.Say("From memory: it checks a token.")), 3, oracle.StopBudget},
		"loop":   {append(thinks(6), modeltest.Say("From memory: it checks a token.")), 30, oracle.StopLoop},
		"stuck":  {[]modeltest.Turn{modeltest.Say(" "), modeltest.Say(" "), modeltest.Say("From memory: it checks a token.")}, 30, oracle.StopStuck},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			h.turns = c.most
			a := h.play(auth)
			same(t, "stop reason", a.StopReason, c.stop)
			holds(t, "caveat", a.Caveat, "Nothing was looked up for this answer")
		})
	}
}
