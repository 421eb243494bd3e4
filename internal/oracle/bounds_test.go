package oracle_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

func TestTokensAreEstimatedWhereNoUsageIsReported(t *testing.T) {
	t.Parallel()
	calm := setUp(t, reading(1), theEnd)
	calm.ask(auth)
	r := calm.receipts()[0]
	spent := r.PromptSize + r.History
	if r.PromptSize == 0 || r.History == 0 {
		t.Fatalf("the receipt estimates %d and %d tokens", r.PromptSize, r.History)
	}
	for limit, want := range map[int][]string{spent + 1: {"code_read", "code_search"}, spent: {}} {
		h := setUp(t, reading(1), theEnd)
		h.maxTokens = limit
		h.ask(auth)
		same(t, fmt.Sprintf("tools of the second request, limit %d of %d", limit, spent), offered(h.request(2)), want)
	}
}

func TestHoursInWhichNobodyDrivesARunAreNotItsSeconds(t *testing.T) {
	h := setUp(t, reading(1), reading(2), reading(2), modeltest.Say("All is read. "+enough()))
	h.maxTime = 10 * time.Second
	dying := mortal(h.store, 6, false)
	a := h.crashAndResume(auth, dying)
	same(t, "the process died", dying.Dead(), true)
	same(t, "what ran out", a.Budget, (*agent.Spent)(nil))
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "budget notices", notices(a, agent.NoticeBudgetWarning), []agent.Notice(nil))
}

// inASecond asks with a budget of a second, by a clock of its own, and gives the answer and who asked.
func inASecond(t *testing.T, turns ...modeltest.Turn) (a oracle.Answer, h *harness) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h = setUp(t, turns...)
		h.openLong(1_000)
		h.maxTime = time.Second
		a = h.ask(auth)
	})
	return a, h
}

func TestTimeBudgetCutsOffTurnsThatHangAndKeepsTheBestAnswer(t *testing.T) {
	const checks = "It checks a token (`one.go:3`)."
	hangs := modeltest.Turn{Hang: true}
	said := modeltest.SayAndCall(checks+needTurn("read on"), "code_read", lines("one.go", 1, 9))
	for name, c := range map[string]struct {
		turns        []modeltest.Turn
		stop, answer string
		warned       []string
	}{
		"a turn that hangs, in time for a last one": {[]modeltest.Turn{opening("one"), hangs,
			modeltest.Say(checks + partial("the rest"))},
			oracle.StopBudget, checks, []string{"A turn was cut off", "the last turn began after"}},
		"the last turn too: what was read is said": {[]modeltest.Turn{opening("one"), hangs, hangs},
			oracle.StopBudget, "I have no answer.", []string{"The time is used up"}},
		"the last turn too: what was answered is kept": {[]modeltest.Turn{said, hangs, hangs}, oracle.StopBudget,
			checks, nil},
		"a turn that is asked again, as it was too long": {[]modeltest.Turn{opening("one"),
			modeltest.Fail(model.ContextLength), hangs, modeltest.Say(checks + enough())},
			oracle.StopSatisfied, checks, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a, h := inASecond(t, c.turns...)
			same(t, "stop reason", a.StopReason, c.stop)
			same(t, "answer", a.Answer[:len(c.answer)], c.answer)
			same(t, "composed, not cited", a.Summarised && len(cites(a)) == 0, c.answer != checks)
			wantParts(t, "what the person is told", joined(shownNotices(a)), c.warned...)
			last := h.request(len(c.turns))
			same(t, "tools of the last request", offered(last), []string{})
			wantParts(t, "the last request", lastText(last), lastHint)
			assert.That(t, a.TookMS <= 3000, "a budget of 1 s took %d ms", a.TookMS)
		})
	}
}

// The same tree gives the same reason, however often it is asked: nothing in a tick goes by the order of a map.
func TestWrongPartsOfABudgetAreToldTheSameWayEachTime(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := setUp(t)
		h.tree.Text = []byte(strings.Replace(string(h.tree.Text), `last_at="0.8" warn_at="0.7"`,
			`last_at="5" warn_at="-3"`, 1))
		a := h.ask(auth)
		same(t, "stop reason", a.StopReason, oracle.StopError)
		wantParts(t, "the reason", a.Error.Reason, "port last_at is 5")
	}
}

func TestLongestQuestionAndAnswerEndTheirRunAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{`"`, "\x01", "é"} {
		text := strings.Repeat(mark, oracle.MaxQuestion/len(mark))
		h := setUp(t, modeltest.Say(strings.ReplaceAll(text, "\x01", "\t")+"OLD-END "+partial("more")),
			modeltest.Say("NOTES: none."), modeltest.Say("Yes. "+partial("more")))
		h.finish(h.start(text))
		all := h.endedAnswers(h.session)
		assert.That(t, len(all) == 1 && all[0].Question == text && strings.Contains(all[0].Answer, "OLD-END"),
			"%q: the answer is not whole", mark)
		h.finish(h.start("And in the tests?"))
		all = h.endedAnswers(h.session)
		assert.That(t, len(all) == 2, "%q: the session has %d answers", mark, len(all))
	}
}

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
