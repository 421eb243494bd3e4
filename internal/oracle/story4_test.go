package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/prompts"
)

func TestStory4Scenario3EveryRequestHoldsTheWholeSignalInstructions(t *testing.T) {
	t.Parallel()
	text := assert.Must(prompts.FS.ReadFile("oracle/signals.md"))(t)
	for _, question := range []string{auth, caching, weather, thanks, save} {
		h := setUp(t, modeltest.Say(needTurn("think it over")), modeltest.Say(needTurn("once more")),
			modeltest.Say("So it is. "+enough()))
		h.turns = 3
		h.ask(question)
		for i, req := range h.script.Requests() {
			assert.That(t, strings.Contains(req.System, strings.TrimSpace(string(text))),
				"%s: request %d lacks the signal instructions", question, i+1)
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
	assert.That(t, strings.HasPrefix(firstHash, "sha256:"), "the receipt names the prompt %q", firstHash)
	other, _ := prompted(weather)
	assert.That(t, other != firstHash, "a research question has the prompt of a code question")
}
