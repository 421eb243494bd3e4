package taskchat_test

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/taskchat"
)

// A key is taken out of what is kept, and what is left of two titles may be the same.
func TestTitleWithASecretIsAskedAbout(t *testing.T) {
	h := newHouse(t)
	key := "sk-" + strings.Repeat("abcd1234", 4)
	h.has(ada, "Rotate "+key)
	c := h.process("p").talk(ada)
	c.say("complete rotate "+strings.Replace(key, "a", "e", 1), taskchat.StatusClarification) // another key
	r := c.say("1", taskchat.StatusSuccess)
	same(t, "response", r.Response, "Great! I've marked 'Rotate [redacted]' as completed ✓")
}

func TestAllAfterAListThatIsCutIsRefused(t *testing.T) {
	h := newHouse(t)
	var titles []string
	for n := range 120 {
		titles = append(titles, fmt.Sprintf("Report %d", n))
	}
	h.has(ada, titles...)
	c := h.process("p").talk(ada)
	contains(t, c.say("show my tasks", taskchat.StatusSuccess).Response, "\n50. Report 49\n… and 70 more.")
	for _, words := range []string{"complete all", "delete all of them", "complete all but the first"} {
		contains(t, c.say(words, taskchat.StatusError).Response, "too many tasks")
	}
	contains(t, c.say("complete task 51", taskchat.StatusError).Response, "shows only 50 tasks")
	h.wants(ada, titles...)
	c.say("complete task 50", taskchat.StatusSuccess)
	titles[49] += " ✓"
	h.wants(ada, titles...)
}

func TestQuestionSaysHowManyThereAre(t *testing.T) {
	h := newHouse(t)
	for range 60 {
		h.has(ada, "Call John")
	}
	r := h.process("p").talk(ada).say("complete call", taskchat.StatusClarification)
	contains(t, r.Response, "I found 60 tasks about 'call'.")
	same(t, "options", len(r.Clarification.Options), 10)
}
