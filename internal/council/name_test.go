package council_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// naming asks a model for a name.
func (h *house) naming() council.Options { return council.Options{Session: h.id, Name: true} }

func TestModelNamesTheSessionByWhatWasSaid(t *testing.T) {
	h := newHouse(t)
	h.says("We might move the office in spring.")
	same(t, "name before", []string{h.session().Name, h.session().NamedBy},
		[]string{"We might move the office in spring.", session.ByWords})
	p := h.process("one", h.journal)
	p.run(h.ask("ada"))
	r := p.begin(council.Name, h.naming())
	res, _ := p.wait(r)
	same(t, "how it ended", []any{res.Status, res.Reason, res.Answer},
		[]any{journal.Done, "named", "Called the session “The new office”"})
	same(t, "name", []string{h.session().Name, h.session().NamedBy}, []string{"The new office", acting})
	contains(t, h.told(p, r.ID), "Called the session “The new office”\n")
	asked := h.requests(council.EffectName)
	same(t, "requests", len(asked), 1)
	contains(t, asked[0].Messages[0].Text, "We might move the office in spring.")
	lacks(t, asked[0].Messages[0].Text, "Ada answers.")
}

func TestNameThatAPersonGaveIsNeverReplaced(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	// while the model thinks
	h.hearing(func() { assert.Must(p.desk().Rename(t.Context(), h.id, "Mine", session.ByPerson))(t) })
	res, _ := p.run(h.naming())
	same(t, "status", res.Status, journal.Done)
	same(t, "name", []string{h.session().Name, h.session().NamedBy}, []string{"Mine", session.ByPerson})
	p.refused(council.Name, h.naming(), "the session already has a name given by hand")
}

func TestNameThatCanNotBeHadLeavesTheSessionAsItWas(t *testing.T) {
	for what, turn := range map[string]modeltest.Turn{
		"a failure": modeltest.Fail(model.Server), "no JSON": modeltest.Say("Hm"),
		"an empty name": modeltest.Say(`{"name":""}`), "a blank name": modeltest.Say(`{"name":"  "}`),
		"a long name": modeltest.Say(`{"name":"` + strings.Repeat("long ", 100) + `"}`),
	} {
		t.Run(what, func(t *testing.T) {
			h := houseOf(t, "Hm.")
			before := h.metadata()
			h.plays = func(model.Request) modeltest.Turn { return turn }
			res, _ := h.process("one", h.journal).run(h.naming())
			same(t, "status", res.Status, journal.Failed)
			contains(t, res.Failure.Hint, "the session keeps its name")
			same(t, "metadata.json", h.metadata(), before)
		})
	}
}

func TestNamingIsRefusedWithTheReason(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	p.refused(council.Name, h.naming(), "nothing was said in this session yet")
	h.says("Hm.")
	h.offline = true
	p.refused(council.Name, h.naming(), "suggesting a name needs a language model", "first words")
}
