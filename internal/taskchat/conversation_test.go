package taskchat_test

import (
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/taskchat"
)

func TestConversationGoesWithItsQuestionAndTasksStay(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	p := h.process("p")
	c := p.talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	later := func(d time.Duration) { h.now = func() time.Time { return time.Now().Add(d) } }
	retired := func(want int) {
		t.Helper()
		all, err := p.service.Retire(t.Context(), ada, h.now(), 10)
		h.must(err)
		n := 0
		for _, r := range all {
			n += r.Sessions
		}
		same(t, "retired", n, want)
	}
	later(taskchat.Retention - time.Hour)
	retired(0)
	later(taskchat.Retention + time.Hour)
	retired(1)
	_, err := c.send("yes")
	assert.That(t, isNotFound(err), "a conversation that is gone: %v", err)
	h.wants(ada, "Apples")
	gone, err := h.journal.Tombstones(t.Context(), ada, journal.SessionFilter{Assistant: taskchat.Name})
	h.must(err)
	assert.That(t, len(gone) == 1, "tombstones: %v", gone)
}

func TestYesThatComesTooLateIsNone(t *testing.T) {
	h := newHouse(t)
	h.has(ada, "Apples")
	c := h.process("p").talk(ada)
	c.say("delete apples", taskchat.StatusConfirmation)
	h.now = func() time.Time { return time.Now().Add(31 * time.Minute) }
	same(t, "response", c.say("yes", taskchat.StatusSuccess).Response,
		"My question about 'Apples' has lapsed, and nothing was done about it.")
	h.wants(ada, "Apples")
}
