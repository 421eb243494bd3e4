package oracle_test

import (
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// A server reads the front of a session once: the questions are of all kinds, and have other tools and sources.
func TestWhatAServerHasReadOfASessionIsFoundAgain(t *testing.T) {
	h := setUp(t)
	firsts := []int{}
	for n, question := range []string{caching, "How does the code of the caching decision work?", thanks, save,
		"What does the web say about the caching decision?", "And how does our code use it?"} {
		firsts = append(firsts, len(h.script.Requests())+1)
		if n != 2 {
			h.script.Add(opening(spelled[n]), opening(spelled[n+1]))
		}
		h.script.Add(modeltest.Say("So it is. " + partial("the rest")))
		h.finish(h.start(question))
	}
	all := h.script.Requests()
	for n := 1; n < len(all); n++ {
		isNext := false // question
		for k, first := range firsts {
			if first == n+1 && k > 0 {
				isNext = true
				foundAgain(t, fmt.Sprintf("question %d after question %d", k+1, k), all[firsts[k-1]-1], all[n])
			}
		}
		if !isNext {
			foundAgain(t, fmt.Sprintf("request %d after request %d", n+1, n), all[n-1], all[n])
		}
	}
	same(t, "tools", len(sentTools(all[len(all)-1])) > len(offered(all[0])), true)
}

func TestSessionThatBeginsWithTalkHasNoToolsAndThenThoseOfAllQuestions(t *testing.T) {
	h := setUp(t, modeltest.Say("You are welcome. "+enough()), modeltest.Say("So. "+partial("more")),
		modeltest.Say("You are welcome. "+enough()))
	h.askAll(thanks, auth, thanks)
	same(t, "tools of the first", sentTools(h.request(1)), []string{})
	same(t, "tools of the third", sentTools(h.request(3)), sentTools(h.request(2)))
	same(t, "what the third may call", offered(h.request(3)), []string{})
	wantParts(t, "the note", prompted(h.request(3)), "Call no tool for this question.")
}

// askAll asks questions one after the other.
func (h *harness) askAll(questions ...string) {
	h.t.Helper()
	for _, q := range questions {
		h.finish(h.start(q))
	}
}

// A tool that the model sees and may not call is not called, and the model is told which it may call.
func TestToolThatIsShownAndNotOfferedIsNotCalled(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write"), "vault_write", `{"mode":"create","path":"a.md","content":"x"}`),
		modeltest.Say("So. "+partial("more")))
	h.ask(auth)
	wantParts(t, "the tools", fmt.Sprint(sentTools(h.request(1))), "vault_write")
	same(t, "calls that were made", len(h.world.called()), 0)
	wantParts(t, "what is said of it", textOfRole(h.request(2), model.ToolRole),
		"it is not offered for this question", "Offered are: code_read, code_search.")
}

func foundAgain(t *testing.T, what string, earlier, later model.Request) {
	t.Helper()
	share := modeltest.FoundAgain(earlier, later)
	assert.That(t, share >= 0.9, "%s finds %.0f %% of it, want at least 90", what, 100*share)
}
