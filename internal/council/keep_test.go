package council_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
)

// inHouse runs a test in a fresh house, whose clock stands still while anything goes on.
func inHouse(t *testing.T, test func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(newHouse(t)) })
}

// open opens the session, and gives what was put right.
func (p *process) open() (lines []string) {
	p.Helper()
	for _, one := range assert.Must(p.desk().Open(p.Context(), p.id))(p).Fixed {
		lines = append(lines, one.Text)
	}
	return lines
}

func TestAnswerThatCanNotBeWrittenIsShownToldAndWrittenOnceItCanBe(t *testing.T) {
	inHouse(t, func(h *house) {
		h.says("Hm.")
		before := h.metadata()
		unlock := h.locked("llm_responses")
		p := h.process("one", h.journal)
		r := p.begin(council.Name, h.ask("ada"))
		res, o := p.wait(r)
		same(h, "status", res.Status, journal.Done)
		same(h, "answer", []any{o.Answer.Text, o.Answer.File, res.Partial}, []any{"Ada answers.", "", true})
		contains(h, res.Answer, "Ada answers.")
		contains(h, strings.Join(res.Warnings, "\n"), "the answer of Ada is not in the session's folder",
			"‘sibyl council show "+h.id+"’ saves it")
		same(h, "times that it is told", strings.Count(h.told(p, r.ID),
			"Could not write the answer to the session’s folder, so it stays in the journal"), 1)
		same(h, "metadata.json", h.metadata(), before)
		mended := p.open()
		same(h, "lines", len(mended), 1)
		contains(h, mended[0], "an answer is waiting in the journal (run "+r.ID+")")

		p.run(h.ask("bob")) // another run of the session takes nothing of the first one away
		unlock()
		mended = p.open()
		same(h, "lines", len(mended), 2)
		contains(h, strings.Join(mended, "\n"),
			"an answer that could not be written before is now in the session's folder: 001_", "002_")
		same(h, "lines when it is opened again", len(p.open()), 0)
		h.whole(2)
		var who []string
		for _, e := range h.session().Answers {
			who = append(who, e.OracleName)
			same(h, "stored", h.stored(e.File), e.OracleName+" answers.")
			same(h, "snapshot", []any{e.Context.Transcripts, e.Context.Model, e.Context.Entries},
				[]any{1, acting, []string{"t1"}})
		}
		same(h, "whose", sorted(who), []string{"Ada", "Bob"})
		at := slices.IndexFunc(h.session().Answers, func(e session.LlmEntry) bool { return e.OracleName == "Ada" })
		same(h, "run and time of the entry", []any{h.session().Answers[at].Run, h.session().Answers[at].CreatedAt},
			[]any{r.ID, o.Answer.At})
	})
}

func TestTwoWhoOpenASessionAtOnceWriteAnAnswerOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.says("Hm.")
		unlock := h.locked("llm_responses")
		h.process("one", h.journal).run(h.ask("ada"))
		unlock()
		var both sync.WaitGroup
		for _, holder := range []string{"two", "three"} {
			p := h.process(holder, h.journal)
			both.Go(func() {
				_, err := p.desk().Open(h.Context(), h.id)
				assert.Nil(h, err)
			})
		}
		both.Wait()
		h.whole(1)
	})
}

func TestAnswersOfASittingThatCanNotBeWrittenAreWrittenOnceTheyCanBe(t *testing.T) {
	inHouse(t, func(h *house) {
		h.says("Hm.")
		unlock := h.locked("llm_responses")
		p := h.process("one", h.journal)
		o := h.ask("ada", "bob")
		o.Chair = "cleo"
		res, out := p.run(o)
		same(h, "status", res.Status, journal.Done)
		contains(h, strings.Join(res.Warnings, "\n"), "the answer of Ada is not", "the answer of Bob is not",
			"the answer of Cleo is not")
		same(h, "answers", []any{names(out.Answers), out.Chair != nil}, []any{[]string{"Ada", "Bob"}, true})
		unlock()
		same(h, "lines", len(p.open()), 3)
		h.whole(3)
		var kinds []string
		for _, e := range h.session().Answers {
			kinds = append(kinds, e.Kind)
		}
		same(h, "kinds", sorted(kinds), []string{"", "", "chair"})
	})
}

func TestAnswerToASessionThatWasDeletedMeanwhileIsShownAndWrittenWhenItIsBack(t *testing.T) {
	inHouse(t, func(h *house) {
		h.says("Hm.")
		p := h.process("one", h.journal)
		where := ""
		h.hearing(func() { where = assert.Must(p.desk().Delete(h.Context(), h.id))(h) })
		res, o := p.run(h.ask("ada"))
		same(h, "answer", []any{res.Status, o.Answer.Text}, []any{journal.Done, "Ada answers."})
		contains(h, strings.Join(res.Warnings, "\n"), "not found")
		_, err := p.desk().Open(h.Context(), h.id)
		assert.That(h, errors.Is(err, session.ErrNotFound), "opening it gives %v", err)
		h.moved(where, filepath.Join(h.folder, h.id))
		same(h, "lines", len(p.open()), 1)
		h.whole(1)
	})
}

func TestNothingOfASessionThatWasDeletedGoesToAModel(t *testing.T) {
	for _, oracles := range [][]string{{"bob"}, {"ada", "bob"}} {
		h := houseOf(t, "Hm.")
		dying := &journaltest.Mortal{Store: h.journal, At: 1, Free: 1}
		r := h.process("dead", dying).begin(council.Name, h.ask(oracles...))
		_, _ = r.Wait(t.Context())
		asked := len(h.asked)
		p := h.process("two", h.journal)
		assert.Must(p.desk().Delete(t.Context(), h.id))(t)
		res, _ := p.wait(assert.Must(p.service.Resume(t.Context(), ada, r.ID))(t))
		same(t, "status", res.Status, journal.Failed)
		same(t, "requests", len(h.asked), asked)
		contains(t, res.Failure.Message+strings.Join(res.Warnings, "\n"), "the session was deleted")
		contains(t, res.Failure.Hint, "trash")
	}
}

func TestFolderOfSessionsThatCanNotBeOpenedLosesNoAnswer(t *testing.T) {
	inHouse(t, func(h *house) {
		h.says("Hm.")
		p := h.process("one", h.journal)
		h.hearing(func() { h.shut = errors.New("the disk is gone") })
		res, _ := p.run(h.ask("ada"))
		contains(h, strings.Join(res.Warnings, "\n"), "the disk is gone")
		_, err := p.deps.Desk(ada)
		assert.That(h, err != nil && err.Error() == "the disk is gone", "opening it gives %v", err)
		h.shut = nil
		same(h, "lines", len(p.open()), 1)
		h.whole(1)
	})
}

func TestRunWhoseNodeLosesTheFolderWaitsAndGoesOnOnceANodeHasIt(t *testing.T) {
	for name, c := range map[string]struct {
		assistant string
		begin     func(h *house) council.Options
		wants     func(h *house)
	}{
		"an answer": {council.Name, func(h *house) council.Options {
			h.says("Hm.")
			return h.ask("ada")
		}, func(h *house) { h.whole(1) }},
		"a sitting with a chair": {council.Name, func(h *house) council.Options {
			h.says("Hm.")
			o := h.ask("ada", "bob")
			o.Chair = "cleo"
			return o
		}, func(h *house) { h.whole(3) }},
		"a transcription": {council.TranscriptionName, func(h *house) council.Options {
			h.records("one")
			return council.Options{Session: h.id}
		}, func(h *house) { same(h, "recordings", h.statuses(), []session.Status{session.Success}) }},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				p := h.process("one", h.journal)
				lose := func() { h.shut = fmt.Errorf("%w: it is not mounted", session.ErrAway) }
				o := c.begin(h)
				h.hearing(lose)
				hears := h.hears
				h.hears = func(file string) (session.Transcript, error) {
					lose()
					return hears(file)
				}
				r := p.begin(c.assistant, o)
				res, _ := p.wait(r)
				same(h, "status", res.Status, journal.Running)
				_, err := p.service.Resume(h.Context(), ada, r.ID)
				assert.That(h, errors.Is(err, session.ErrAway), "resuming it without the folder gives %v", err)
				for _, row := range h.runs() {
					same(h, "status and tries of "+row.Title, []any{row.Status, row.Tries}, []any{journal.Running, 0})
				}
				h.shut, h.plays, h.hears = nil, nil, hears
				other := h.process("two", h.journal)
				res, _ = other.wait(assert.Must(other.service.Resume(h.Context(), ada, r.ID))(h))
				same(h, "status", res.Status, journal.Done)
				c.wants(h)
			})
		})
	}
}

func TestManyRunsOfASessionHideNoAnswerThatWaits(t *testing.T) {
	t.Parallel()
	inHouse(t, func(h *house) {
		h.says("Hm.")
		unlock := h.locked("llm_responses")
		p := h.process("one", h.journal)
		p.run(h.ask("ada"))
		unlock()
		for range 35 { // 105 runs, with those of the oracles
			p.run(h.ask("bob", "cleo"))
		}
		same(h, "lines", len(p.open()), 1)
		h.whole(71)
	})
}

// A process dies before each of the writes of a run in turn; another one goes on.
func TestWhatADeadProcessHadWrittenIsFoundAndNotWrittenAgain(t *testing.T) {
	for name, c := range map[string]struct {
		assistant string
		begin     func(h *house) council.Options
		wants     func(h *house)
	}{
		"an answer": {council.Name, func(h *house) council.Options {
			h.says("Hm.")
			return h.ask("ada")
		}, func(h *house) { h.whole(1) }},
		"a transcript": {council.TranscriptionName, func(h *house) council.Options {
			h.records("one", "two")
			h.hears = failingOn("002_audio.ogg", h.hears)
			return council.Options{Session: h.id}
		}, func(h *house) {
			same(h, "recordings", h.statuses(), []session.Status{session.Success, session.Failure})
			same(h, "problems", assert.Must(h.sessions().Check(h.Context(), h.id, nil))(h), nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for at := 1; ; at++ {
				h := newHouse(t)
				dying := &journaltest.Mortal{Store: h.journal, At: at, Free: 1}
				dead := h.process("dead", dying)
				r := dead.begin(c.assistant, c.begin(h))
				_, _ = r.Wait(t.Context())
				dead.leave()
				if !dying.Dead() {
					assert.That(t, at >= 3, "the run is written in %d writes", at-1)
					return
				}
				p := h.process("survivor", h.journal)
				if assert.Must(h.journal.Run(t.Context(), ada, r.ID))(t).Status == journal.Running {
					p.wait(assert.Must(p.service.Resume(t.Context(), ada, r.ID))(t))
				}
				c.wants(h)
			}
		})
	}
}
