package council_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/store/teststore"
)

func TestWhatIsNoSessionKeepsNoOtherFromBeingRepaired(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	made := func(err error) {
		t.Helper()
		assert.NoError(t, err)
	}
	damaged := "2020-01-02_00-00-00"
	made(os.Mkdir(filepath.Join(h.folder, damaged), 0o700))
	made(os.Mkdir(filepath.Join(h.folder, "notes"), 0o700))
	made(os.Symlink(t.TempDir(), filepath.Join(h.folder, "2020-01-03_00-00-00")))
	all := assert.Must(p.desk().Repair(t.Context(), nil))(t)
	var repaired []string
	for _, one := range all {
		repaired = append(repaired, one.Session)
	}
	same(t, "sessions", sorted(repaired), []string{damaged, h.id})
}

func TestSessionThatCantBeRepairedKeepsNoOtherFromIt(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	first, last := "2999-01-02_00-00-00", "2020-01-02_00-00-00"
	for _, id := range []string{first, last} {
		assert.NoError(t, os.Mkdir(filepath.Join(h.folder, id), 0o700))
	}
	assert.NoError(t, os.WriteFile(filepath.Join(h.folder, first, "audio"), []byte("no folder"), 0o600))
	all, err := p.desk().Repair(t.Context(), nil)
	assert.Require(t, err != nil, "it is repaired: %+v", all)
	contains(t, err.Error(), first)
	lacks(t, err.Error(), last)
	same(t, "sessions", len(all), 2)
	same(t, "the damaged one", []any{all[1].Session, all[1].Changed}, []any{last, true})
}

func TestSessionWhoseWholeNameIsTypedIsMeant(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	office := assert.Must(p.desk().New(t.Context(), "Office", ""))(t)
	assert.Must(p.desk().New(t.Context(), "The new office", ""))(t)
	same(t, "session", assert.Must(p.desk().Open(t.Context(), "office"))(t).ID, office.ID)
	var many *council.AmbiguousError
	_, err := p.desk().Open(t.Context(), "offic")
	assert.That(t, errors.As(err, &many) && len(many.Sessions) == 2, "a part of both names gives %v", err)
}

func TestLatestSessionThatCantBeReadIsNotPassedOver(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	older, latest := "2020-01-02_00-00-00", "2999-01-02_00-00-00"
	opens := func(id string) error {
		t.Helper()
		assert.NoError(t, os.Mkdir(filepath.Join(h.folder, id), 0o700))
		o, err := p.desk().Open(t.Context(), "")
		if err == nil {
			same(t, "session", o.ID, h.id)
		}
		return err
	}
	err := opens(older)
	assert.That(t, err == nil, "an older one that can't be read: %v", err)
	err = opens("2999-not-a-session")
	assert.That(t, err == nil, "a folder that is no session: %v", err)
	var damaged *session.Damaged
	err = opens(latest)
	assert.That(t, errors.As(err, &damaged) && damaged.ID == latest, "the latest can't be read: %v", err)
}

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
