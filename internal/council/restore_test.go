package council_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council/session"
	"sibyl/internal/store/teststore"
)

func TestRepairRestoresTheAnswersThatTheJournalHas(t *testing.T) {
	for name, oracles := range map[string][]string{"one oracle": {"ada"}, "a sitting": {"ada", "bob"}} {
		t.Run(name, func(t *testing.T) {
			h := houseOf(t, "Hm.")
			p := h.process("one", h.journal)
			p.run(h.ask(oracles...))
			var wrote []string
			for _, e := range h.session().Answers {
				file := filepath.Join(h.folder, h.id, "llm_responses", e.File)
				wrote = append(wrote, string(assert.Must(os.ReadFile(file))(t)))
				assert.NoError(t, os.Remove(file))
			}
			same(t, "answers", len(wrote), len(oracles))
			before := assert.Must(os.ReadFile(filepath.Join(h.folder, h.id, "metadata.json")))(t)
			all := assert.Must(p.desk().Repair(t.Context(), nil))(t)
			assert.Require(t, len(all) == 1 && all[0].Changed && len(all[0].Findings) == 0 &&
				len(all[0].Fixed) == len(oracles), "it is repaired as %+v", all)
			for n, e := range h.session().Answers {
				file := filepath.Join(h.folder, h.id, "llm_responses", e.File)
				same(t, e.File, string(assert.Must(os.ReadFile(file))(t)), wrote[n])
				contains(t, all[0].Fixed[n].Text, "written anew from the journal: "+e.File)
			}
			after := assert.Must(os.ReadFile(filepath.Join(h.folder, h.id, "metadata.json")))(t)
			same(t, "metadata.json", string(after), string(before))
			all = assert.Must(p.desk().Repair(t.Context(), nil))(t)
			assert.That(t, !all[0].Changed && len(all[0].Findings)+len(all[0].Fixed) == 0, "it is repaired again: %+v", all)
		})
	}
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	p.run(h.ask("ada"))
	e := h.session().Answers[0]
	assert.NoError(t, os.Remove(filepath.Join(h.folder, h.id, "llm_responses", e.File)))
	h.journal = teststore.Empty(t) // which has no run of it
	all := assert.Must(h.process("two", h.journal).desk().Repair(t.Context(), nil))(t)
	assert.That(t, len(all[0].Findings) == 1 && all[0].Findings[0].Mend == session.Missing && len(all[0].Fixed) == 0,
		"what no journal has is %+v", all[0])
}

func TestSessionIsNotReadyWhileARecordingFailed(t *testing.T) {
	h := newHouse(t)
	h.records("later")
	assert.Must(h.sessions().FailTranscript(t.Context(), h.id, 1, bt.Because("noise")))(t)
	h.says("Kept.") // what is said afterwards makes the session collect again
	p := h.process("one", h.journal)
	res, _ := p.run(h.ask("ada"))
	same(t, "state", h.session().State, session.Failed)
	contains(t, strings.Join(res.Warnings, "\n"), "1 recording that could not be transcribed",
		"sibyl council transcribe --again "+h.id, "not READY")
	p.run(h.ask("bob"))
	same(t, "state after another answer", h.session().State, session.Failed)
}
