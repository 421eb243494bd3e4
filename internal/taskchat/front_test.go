package taskchat_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/taskchat"
)

// A server reads the front of a conversation once, whatever the last list and the open question are.
func TestWhatAServerHasReadOfAConversationIsFoundAgain(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Call John", "Call Anna", "Buy groceries")
	c := h.process("p").talk(ada)
	for range 3 {
		lists(c, m)
		m.proposes(taskchat.Wish{Intent: "complete", Confidence: 0.5, Task: at(1),
			Alternatives: []taskchat.Likely{{Intent: "delete", Confidence: 0.4}}})
		c.say("John is over", taskchat.StatusClarification)
		m.answers("no", "")
		c.say("none of these", taskchat.StatusSuccess)
	}
	assert.Require(t, len(m.asked) == 9, "the model was asked %d times", len(m.asked))
	for n := 1; n < len(m.asked); n++ {
		share := modeltest.FoundAgain(m.asked[n-1], m.asked[n])
		assert.That(t, share >= 0.9, "message %d finds %.0f %% of what was read, want at least 90", n+1, 100*share)
	}
}
