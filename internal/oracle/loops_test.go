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
