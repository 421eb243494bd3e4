package oracle_test

import (
	"testing"
	"time"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// A model that hangs is cut off when the time is up, and what was read is said.
func TestTimeBudgetCutsOffATurnThatHangs(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("reading"), "code_read", lines("auth/middleware.go", 10, 30)), modeltest.Turn{Hang: true})
	q := h.question(auth)
	q.MaxTime = time.Second
	a := h.finish(h.startQuestion(q))
	same(t, "stop reason", a.StopReason, oracle.StopBudget)
	same(t, "budget", a.Budget, &oracle.Spent{Kind: "seconds", Used: 1, Limit: 1})
	holds(t, "the summary", a.Answer, "I have no answer.", "auth/middleware.go:10-30")
	same(t, "composed, not cited", a.Composed && len(cites(a)) == 0, true)
}

// An error of the model is an error at once, whatever time is left.
func TestErrorOfTheModelIsNoEndOfTime(t *testing.T) {
	h := setUp(t, modeltest.Fail("auth"))
	q := h.question(auth)
	q.MaxTime = time.Hour
	a := h.finish(h.startQuestion(q))
	same(t, "stop reason", a.StopReason, oracle.StopError)
	same(t, "kind", a.Error.Kind, "auth")
}
