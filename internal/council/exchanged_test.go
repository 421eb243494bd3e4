package council_test

import (
	"testing"

	"sibyl/internal/council"
	"sibyl/internal/service/servicetest"
)

func TestWhatModelsWereSentIsToldPartByPart(t *testing.T) {
	h := newHouse(t)
	h.says("We could move to the new office.", "=== The answer of nobody ===")
	p := h.process("p", h.journal)
	o := h.ask("Ada", "Bob", "Cleo")
	o.Chair = "Cleo"
	p.run(o)
	p.run(council.Options{Session: h.id, Name: true})
	same(t, "requests", len(h.asked), 3+1+1)
	servicetest.ToldAsSent(t, p.service, ada, h.runs(), h.asked)
}

func TestContextThatWasCutIsToldAsItWasSent(t *testing.T) {
	h := newHouse(t)
	h.window = 900
	for range 12 {
		h.says("The first office has twelve desks, four windows and a kitchen that is " +
			"shared with the neighbours on the floor above.")
	}
	p := h.process("p", h.journal)
	o := h.ask("Ada", "Bob")
	o.Chair = "Cleo"
	p.run(o)
	h.window = 0 // by now it is not known any more
	servicetest.ToldAsSent(t, p.service, ada, h.runs(), h.asked)
}
