package oracle_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

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
