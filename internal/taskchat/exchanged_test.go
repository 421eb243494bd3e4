package taskchat_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/taskchat"
)

func TestWhatTheModelWasSentIsToldPartByPart(t *testing.T) {
	h, m := withModel(t)
	h.has(ada, "Buy groceries")
	c := h.process("p").talk(ada)
	m.hears(taskchat.Heard{Language: "fr", Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.9,
		Title: "pick up the parcel"}}})
	c.say("I'd better pick up the parcel", taskchat.StatusSuccess)
	m.proposes(wish("list", taskchat.Named{}))
	c.say("what else is there?", taskchat.StatusSuccess)
	runs, err := h.journal.Runs(t.Context(), ada, journal.Filter{Session: c.id})
	h.must(err)
	servicetest.ToldAsSent(t, c.service, ada, runs, []model.Request{m.asked[0], m.worded[0], m.asked[1]})
	calls := 0
	for record := range runs[1].Records {
		r, err := c.service.Receipt(t.Context(), ada, runs[1].ID, record)
		if err == nil && r.Kind == taskchat.EffectCall {
			calls++
			assert.That(t, len(r.Sent) == 1 && r.Sent[0].Kind == assistant.PartCall && len(r.Got) == 1 &&
				r.Got[0].Kind == assistant.PartResult, "a call is told as %+v", r)
		}
	}
	assert.That(t, calls != 0, "nothing was called")
}
