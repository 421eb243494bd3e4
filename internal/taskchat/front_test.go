package taskchat_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/taskchat"
)

// A server reads the front of a conversation once, whatever the last list and the open question are, and whatever the
// model is asked of a message. What is read anew is what the longer looks say behind it.
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
	assert.Require(t, len(m.asked) == 12, "the model was asked %d times", len(m.asked))
	for n := 1; n < len(m.asked); n++ {
		before := m.asked[n-1]
		before.Messages = slices.Clone(before.Messages)
		last := &before.Messages[len(before.Messages)-1]
		last.Text, _, _ = strings.Cut(last.Text, "\n\nThat was the message.")
		share := modeltest.FoundAgain(before, m.asked[n])
		assert.That(t, share >= 0.99, "request %d finds %.0f %% of what was read, want all", n+1, 100*share)
	}
}
