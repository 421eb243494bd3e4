package oracle_test

import (
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

func TestWhatIsSaidAfterReadingIsNotLostToTheGuessBeforeIt(t *testing.T) {
	const guess = "Authentication is probably handled by some middleware which checks cookies of the session on each request."
	for then, want := range map[string]string{
		"It uses JWT.":     "It uses JWT.",
		"30 seconds.":      "30 seconds.",
		"As I said above.": guess + "\n\nAs I said above.",
		"It does not.":     guess + "\n\nIt does not.",
	} {
		t.Run(then, func(t *testing.T) {
			h := setUp(t, modeltest.Say(guess), reading(1), modeltest.Say(then+" "+enough()))
			a := h.ask(auth)
			same(t, "answer", a.Answer, want)
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
		})
	}
}
