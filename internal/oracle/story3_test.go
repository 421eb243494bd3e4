package oracle_test

import (
	"fmt"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

const lastHint = "[control] This is your last turn. No tool can be called any more."

var spelled = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "sand", "wood", "clay", "iron", "salt", "wool", "silk",
	"wine", "corn", "milk"}

// readsOn is n turns of a model that wants another turn each time, for another reason, and reads something new in each.
func readsOn(n int) (turns []modeltest.Turn) {
	for i := range n {
		turns = append(turns, modeltest.SayAndCall(needTurn("still to read: "+spelled[i]), "code_read", lines(spelled[i]+".go", 1, 9)))
	}
	return turns
}

func TestStory3Scenario1OneTurnBeforeTheLimitAFinalTurnIsGranted(t *testing.T) {
	h := setUp(t, append(readsOn(29), modeltest.Say("All is read (`one.go:3`). "+enough()))...)
	a := h.ask(auth)
	same(t, "turns", a.Turns, 30)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "calls performed", len(h.world.called()), 29)
	same(t, "tools of the 29th request", offered(h.request(29)), []string{"code_read", "code_search"})
	lacks(t, "the 29th request", whole(h.request(29)), lastHint)
}

func TestStory3Scenario2AtTheLimitAnotherTurnIsNotGrantedAndTheAnswerIsPartial(t *testing.T) {
	last := modeltest.SayAndCall("So far: a token is checked (`one.go:3`). "+needTurn("still to read: more"), "code_read", lines("more.go", 1, 9))
	h := setUp(t, append(readsOn(29), last)...)
	a := h.ask(auth)
	same(t, "turns", a.Turns, 30)
	same(t, "tools of the last request", offered(h.request(30)), []string{})
	holds(t, "what the last request ends with", lastText(h.request(30)), lastHint, "best answer that what you have read supports")
	same(t, "who says it", h.request(30).Messages[len(h.request(30).Messages)-1].Role, model.User)
	same(t, "calls performed", len(h.world.called()), 29)
	same(t, "stop reason", a.StopReason, oracle.StopBudget)
	same(t, "is partial", a.Partial(), true)
	same(t, "answer", a.Answer, "So far: a token is checked (`one.go:3`).")
}

func TestLimitAboveTheDefaultHoldsAndLongRunsDoNotStall(t *testing.T) {
	var turns []modeltest.Turn
	for i := range 60 {
		turns = append(turns, modeltest.SayAndCall(needTurn(spelled[i%30]+" and "+spelled[i/30]), "code_read", lines(fmt.Sprintf("%d.go", i), 1, 9)))
	}
	h := setUp(t, append(turns, modeltest.Say("All is read (`59.go:3`). "+enough()))...)
	h.turns = 61
	a := h.ask(auth)
	same(t, "turns", a.Turns, 61)
	same(t, "places read", len(a.Sources), 60)
	same(t, "cited", cites(a), []string{"59.go:1-9"})
}
