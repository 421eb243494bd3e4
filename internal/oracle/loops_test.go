package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
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
	t.Parallel()
	for name, turn := range goingRound {
		for _, threshold := range []int{2, 5} {
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
				wantNoParts(t, "what was said then", lastText(h.request(threshold)), hintNudge)
				a, h = played(threshold)
				same(t, "loops found", loops(a), []string{fmt.Sprintf("%d: %s, step 1", threshold, name)})
				wantParts(t, "what is said after it", lastText(h.request(threshold+1)), "[control]", hintNudge)
				same(t, "it is nudged once", strings.Count(whole(h.request(threshold+1)), hintNudge), 1)
			})
		}
	}
}

func TestCycleOfCallsIsFoundAtTheEndOfItsLastRound(t *testing.T) {
	t.Parallel()
	for length := 2; length <= 4; length++ {
		for rounds := 2; rounds <= 3; rounds++ {
			t.Run(fmt.Sprintf("%d calls %d times", length, rounds), func(t *testing.T) {
				played := func(turns int) oracle.Answer {
					var script []modeltest.Turn
					for i := range turns {
						script = append(script, modeltest.SayAndCall(needTurn("see "+spelled[i]), "code_read",
							lines(spelled[i%length]+".go", 1, 9)))
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
