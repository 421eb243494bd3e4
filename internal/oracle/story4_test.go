package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/prompts"
)

func TestStory4Scenario3EveryRequestHoldsTheWholeSignalInstructions(t *testing.T) {
	t.Parallel()
	text, err := prompts.FS.ReadFile("oracle/signals.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{auth, caching, weather, thanks, save} {
		h := setUp(t, modeltest.Say(needTurn("think it over")), modeltest.Say(needTurn("once more")),
			modeltest.Say("So it is. "+enough()))
		h.turns = 3
		h.ask(question)
		for i, req := range h.script.Requests() {
			if !strings.Contains(req.System, strings.TrimSpace(string(text))) {
				t.Errorf("%s: request %d lacks the signal instructions", question, i+1)
			}
		}
	}
}

func TestSameInputsGiveTheSamePrompt(t *testing.T) {
	prompted := func(question string) (hash, text string) {
		h := setUp(t, theEnd)
		h.ask(question)
		return h.receipts()[0].Prompt, h.request(1).System
	}
	firstHash, firstText := prompted(auth)
	againHash, againText := prompted(auth)
	same(t, "hash of the prompt", againHash, firstHash)
	same(t, "the prompt", againText, firstText)
	if !strings.HasPrefix(firstHash, "sha256:") {
		t.Errorf("the receipt names the prompt %q", firstHash)
	}
	if other, _ := prompted(weather); other == firstHash {
		t.Error("a research question has the prompt of a code question")
	}
}
