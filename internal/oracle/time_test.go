package oracle_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// A turn that hangs is cut off in time for a last turn, which is real.
func TestTimeBudgetCutsOffATurnThatHangsInTimeForTheLastOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setUp(t, modeltest.SayAndCall(needTurn("reading"), "code_read", lines("auth/middleware.go", 10, 30)), modeltest.Turn{Hang: true},
			modeltest.Say("It checks a token (`auth/middleware.go:12`). "+partial("the rest")))
		q := h.question(auth)
		q.MaxTime = time.Second
		a := h.finish(h.startQuestion(q))
		same(t, "stop reason", a.StopReason, oracle.StopBudget)
		same(t, "kind of budget", a.Budget.Kind, "seconds")
		same(t, "answer", a.Answer, "It checks a token (`auth/middleware.go:12`).")
		same(t, "tools of the last request", offered(h.request(3)), []string{})
		holds(t, "the last request", lastText(h.request(3)), lastHint)
		holds(t, "what the person is told", joined(told(a)), "A turn was cut off", "the last turn began after")
	})
}

// Where the last turn hangs too, what was read is said, in time.
func TestTimeBudgetEndsWhereTheLastTurnHangsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setUp(t, modeltest.SayAndCall(needTurn("reading"), "code_read", lines("auth/middleware.go", 10, 30)), modeltest.Turn{Hang: true}, modeltest.Turn{Hang: true})
		q := h.question(auth)
		q.MaxTime = time.Second
		a := h.finish(h.startQuestion(q))
		same(t, "stop reason", a.StopReason, oracle.StopBudget)
		holds(t, "the summary", a.Answer, "I have no answer.", "auth/middleware.go:10-30")
		same(t, "composed, not cited", a.Composed && len(cites(a)) == 0, true)
		holds(t, "what the person is told", joined(told(a)), "The time is used up")
		if a.TookMS < 1000 || a.TookMS > 3000 {
			t.Errorf("a budget of 1 s took %d ms", a.TookMS)
		}
	})
}

func TestTimeBudgetKeepsTheAnswerThatWasGivenWhereTheLastTurnIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setUp(t, modeltest.SayAndCall("It checks a token (`auth/middleware.go:12`). "+needTurn("reading"), "code_read", lines("auth/middleware.go", 10, 30)),
			modeltest.Turn{Hang: true}, modeltest.Turn{Hang: true})
		q := h.question(auth)
		q.MaxTime = time.Second
		a := h.finish(h.startQuestion(q))
		same(t, "stop reason", a.StopReason, oracle.StopBudget)
		same(t, "answer", a.Answer, "It checks a token (`auth/middleware.go:12`).")
		same(t, "composed", a.Composed, false)
	})
}

func TestTurnThatIsAskedAgainSinceItWasTooLongIsCutOffInTimeToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := setUp(t, opening("one"), modeltest.Fail(model.ContextLength), modeltest.Turn{Hang: true}, modeltest.Say("It uses tokens. "+enough()))
		h.openLong(6_000)
		q := h.question(auth)
		q.MaxTime = time.Second
		a := h.finish(h.startQuestion(q))
		same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
		same(t, "answer", a.Answer, "It uses tokens.")
	})
}

// The same tree gives the same reason, however often it is asked: nothing in a tick goes by the order of a map.
func TestWrongPartsOfABudgetAreToldTheSameWayEachTime(t *testing.T) {
	for range 20 {
		h := setUp(t)
		h.tree.Text = []byte(strings.Replace(string(h.tree.Text), `last_at="0.8" warn_at="0.7"`, `last_at="5" warn_at="-3"`, 1))
		a := h.ask(auth)
		same(t, "stop reason", a.StopReason, oracle.StopError)
		holds(t, "the reason", a.Error.Reason, "port last_at is 5")
	}
}
