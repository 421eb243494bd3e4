package council_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/redact/redacttest"
	"sibyl/internal/run/replay"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/text/markdown/markdowntest"
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

func TestExportOfASessionHoldsNoPictureAndNoHTML(t *testing.T) {
	for _, hostile := range markdowntest.Texts() {
		x := council.Export{Session: session.Session{ID: "s", Name: hostile}, Problems: []string{hostile},
			Entries: []prompt.Entry{{Sequence: 1, Text: "said \x1b]0;t\x07" + hostile}, {Sequence: 1, Oracle: hostile,
				Text: hostile}}}
		text := x.Markdown()
		markdowntest.Check(t, hostile, text)
		if strings.Contains(text, "\x1b") || !strings.Contains(text, "said ") {
			t.Errorf("a control character stays, or words are lost:\n%s", text)
		}
	}
}

func TestSecretsThatWereSaidAreInNoPromptAndNoExport(t *testing.T) {
	h := newHouse(t)
	all := redacttest.Vectors(t)
	for group := range slices.Chunk(all, 12) { // each entry is synced
		text := "Listen:\n"
		for _, v := range group {
			text += v.Text + "\n\nAnd then there is another thing, which is said in some words.\n\n"
		}
		h.says(text)
	}
	p := h.process("one", h.journal)
	var asked strings.Builder
	h.plays = func(req model.Request) modeltest.Turn {
		for _, m := range req.Messages {
			asked.WriteString(m.Text + "\n")
		}
		return everybody(req)
	}
	p.run(h.ask("ada", "bob"))
	x := assert.Must(p.desk().Export(t.Context(), h.id))(t)
	var found strings.Builder
	sessions, _, err := h.sessions().List(t.Context())
	assert.NoError(t, err)
	for _, s := range sessions {
		for _, text := range h.sessions().Texts(t.Context(), s) {
			found.WriteString(text + "\n")
		}
	}
	for where, text := range map[string]string{"the prompts": asked.String(), "the export": x.Markdown(),
		"what is found": found.String()} {
		assert.That(t, len(text) >= 10_000, "%s have %d bytes", where, len(text))
		for _, v := range all {
			for _, leak := range v.Leaks(text) {
				t.Errorf("%s: %q is in %s", v.Name, leak, where)
			}
		}
	}
}

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

// narrow has the house's model take only requests with so many tokens besides its instructions, and keeps those that it
// takes.
func (h *house) narrow(tokens int) (taken *[]model.Request) {
	taken = &[]model.Request{}
	h.plays = func(req model.Request) modeltest.Turn {
		h.mu.Lock()
		defer h.mu.Unlock()
		if req.Tokens()-len(req.System)/model.BytesPerToken > tokens {
			return modeltest.Fail(model.ContextLength)
		}
		*taken = append(*taken, req)
		return everybody(req)
	}
	return taken
}

func TestContextThatDoesNotFitIsCutOnceAndToldAsItWasSent(t *testing.T) {
	h := newHouse(t)
	for n := range 12 {
		h.says(fmt.Sprintf("Thought %d is that the first office has twelve desks, four windows and a kitchen.", n+1))
	}
	taken := h.narrow(250) // half of what all want
	p := h.process("p", h.journal)
	o := h.ask("Ada", "Bob")
	o.Chair = "Cleo"
	res, out := p.run(o)
	same(t, "how it ended", []any{res.Status, len(out.Answers), out.Chair != nil}, []any{journal.Done, 2, true})
	for _, purpose := range []string{council.Purpose, council.EffectChair} {
		same(t, "requests for "+purpose, len(h.requests(purpose)), map[string]int{council.Purpose: 4, council.EffectChair: 2}[purpose])
	}
	for _, req := range *taken {
		contains(t, req.Messages[0].Text, "Thought 12 ")
		lacks(t, req.Messages[0].Text, "Thought 1 ")
	}
	servicetest.ToldAsSent(t, p.service, ada, h.runs(), *taken)
	for _, e := range h.session().Answers {
		c := e.Context
		same(t, "entries in the snapshot", []any{len(c.Entries), len(c.Cut), c.Transcripts},
			[]any{12 - len(c.Cut), 12 - c.Transcripts, len(c.Entries)})
		assert.That(t, len(c.Cut) > 0, "nothing is cut in the snapshot of %s", e.OracleName)
	}
	contains(t, strings.Join(res.Warnings, "\n"), "the answer of Ada is given on "+
		fmt.Sprintf("%d of 12 transcripts", out.Answers[0].Snapshot.Transcripts))
	for _, row := range h.runs() {
		contains(t, h.told(p, row.ID), "the model’s window has no room for them")
		same(t, "differences of "+row.Title, kindsOf(p.replayed(row.ID)), nil)
	}
}

func TestNameIsFoundInAWindowWithoutRoomForAllThatWasSaid(t *testing.T) {
	h := newHouse(t)
	for n := range 12 {
		h.says(fmt.Sprintf("Thought %d is that the first office has twelve desks, four windows and a kitchen.", n+1))
	}
	taken := h.narrow(250)
	p := h.process("p", h.journal)
	res, _ := p.run(h.naming())
	same(t, "how it ended", []any{res.Status, len(h.asked), len(*taken)}, []any{journal.Done, 2, 1})
	servicetest.ToldAsSent(t, p.service, ada, h.runs(), *taken)
}

func TestPersonsOwnWordsAreNeverCutAway(t *testing.T) {
	h := houseOf(t, "We could move.")
	taken := h.narrow(10)
	p := h.process("p", h.journal)
	r := p.begin(council.Name, h.ask("Ada"))
	res, err := r.Wait(t.Context())
	same(t, "requests", []any{err, res.Status, len(h.asked), len(*taken)}, []any{nil, journal.Failed, 1, 0})
}
