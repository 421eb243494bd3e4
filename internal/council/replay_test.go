package council_test

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/journal"
	"sibyl/internal/run/replay"
)

// kindsOf are the kinds of differences.
func kindsOf(found *replay.Result) (kinds []replay.DifferenceKind) {
	for _, d := range found.Differences {
		kinds = append(kinds, d.Kind)
	}
	return kinds
}

// replayed takes a run through its tree. Nothing may be asked or written.
func (p *process) replayed(id string) *replay.Result {
	p.Helper()
	asked, before := len(p.asked), p.metadata()
	found := assert.Must(p.service.Replay(p.Context(), ada, id, replay.Options{}))(p)
	same(p, "requests of the replay", len(p.asked)-asked, 0)
	same(p, "metadata.json after the replay", p.metadata(), before)
	return found
}

func TestReplayDecidesAsRecorded(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.records("one", "two")
	h.hears = failingOn("002_audio.ogg", h.hears)
	p := h.process("one", h.journal)
	p.run(h.ask("ada"))
	sitting := h.ask("ada", "bob")
	sitting.Chair = "cleo"
	p.run(sitting)
	p.transcribe(false)
	p.run(council.Options{Session: h.id, Name: true})
	rows := h.runs()
	same(t, "runs", len(rows), 6)
	for _, row := range rows {
		found := p.replayed(row.ID)
		same(t, "differences of "+row.Title, kindsOf(found), nil)
		same(t, "where it ended", found.Reached, replay.ReachedEnd)
	}
}

func TestExplanationTellsTheStepsInWords(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	o := h.ask("ada", "bob")
	o.Chair = "cleo"
	r := p.begin(council.Name, o)
	_, out := p.wait(r)
	told := h.told(p, r.ID)
	for _, line := range []string{"Asked Ada", "Bob answered", "Had Cleo compare the answers",
		"Cleo compared the answers: agreed 0, differing 0, overlooked 0", "Kept the answer in the session, as " + out.Chair.File} {
		contains(t, told, line+"\n")
	}
	same(t, "how it ended", assert.Must(p.service.Explain(t.Context(), ada, r.ID))(t).Ending[0][:len("ended done")],
		"ended done")
	contains(t, h.told(p, out.Answers[0].Run), "Kept the answer in the session, as "+out.Answers[0].File)
	audit := assert.Must(p.service.Audit(t.Context(), ada, r.Session))(t)
	same(t, "runs in the audit", len(audit.Runs), 3)
}

func TestRunsOfASessionAreInOneSessionOfTheJournal(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.records("one")
	p := h.process("one", h.journal)
	p.run(h.ask("ada", "bob"))
	p.transcribe(false)
	p.run(h.ask("cleo"))
	sessions := map[string]bool{}
	for _, row := range h.runs() {
		sessions[row.Session] = true
	}
	same(t, "sessions", len(sessions), 1)
	for id := range sessions {
		assert.NoError(t, p.service.Delete(t.Context(), ada, id))
	}
	res, _ := p.run(h.ask("ada"))
	same(t, "status of a run after the journal's session was deleted", res.Status, journal.Done)
	h.whole(4)
}
