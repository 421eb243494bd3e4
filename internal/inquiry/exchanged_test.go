package inquiry_test

import (
	"slices"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/service/servicetest"
)

func TestWhatDetectiveAndWitnessWereSentIsToldPartByPart(t *testing.T) {
	h := newHouse(t)
	h.talks = true
	tries := 0
	h.asks = func(n int, _ model.Request) modeltest.Turn {
		if tries++; tries == 2 {
			return ask(questions[0]) // again
		}
		return ask(questions[n-1])
	}
	p := h.process("p", h.journal)
	p.inquire(options())
	again := slices.IndexFunc(h.sent, func(req model.Request) bool {
		return req.Purpose == asking && answered(req) == 1
	})
	same(t, "messages with the question that was put again", len(h.sent[again+1].Messages), 3)
	// the next one has all of it
	servicetest.ToldAsSent(t, p.service, ada, h.rows(), slices.Delete(h.sent, again, again+1))
}
