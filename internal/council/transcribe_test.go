package council_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/service"
)

// failingOn has a recording fail, and others be heard as before.
func failingOn(name string, hears func(string) (session.Transcript, error)) func(string) (session.Transcript, error) {
	return func(file string) (session.Transcript, error) {
		if filepath.Base(file) == name {
			return session.Transcript{}, &model.Error{Kind: model.Invalid, Model: "test:ear",
				Message: "it can't be decoded"}
		}
		return hears(file)
	}
}

// statuses are those of the recordings.
func (h *house) statuses() (all []session.Status) {
	h.Helper()
	for _, e := range h.session().Audio {
		all = append(all, e.Status)
	}
	return all
}

func TestRecordingsAreTranscribedInTheirOrderAlsoThoseAddedMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	h.says("Typed in.")
	var once sync.Once
	hears := h.hears
	h.hears = func(file string) (session.Transcript, error) {
		once.Do(func() {
			same(t, "state meanwhile", h.session().State, session.Transcribing)
			h.records("late")
		})
		return hears(file)
	}
	res, o := h.process("one", h.journal).transcribe(false)
	same(t, "status", res.Status, journal.Done)
	same(t, "transcribed", h.heard, []string{"001_audio.ogg", "002_audio.ogg", "004_audio.ogg"})
	same(t, "recordings of the outcome", len(o.Recordings), 3)
	same(t, "state", h.session().State, session.Transcribed)
	same(t, "transcript", assert.Must(h.sessions().Transcript(t.Context(), h.id, 4))(t), "What is said in 004_audio.ogg.")
	e := h.session().Audio[3]
	same(t, "entry", []any{e.By, e.Heard, e.Attempts}, []any{"test:ear", "en", 1})
}

func TestRecordingIsExpectedInTheLanguagesOfItsSessionOfThePersonAndOfTheOracles(t *testing.T) {
	h := newHouse(t)
	h.id = assert.Must(h.sessions().New(t.Context(), "", ""))(h).ID
	h.records("one")
	h.hears = func(string) (session.Transcript, error) {
		return session.Transcript{Text: "Tenho de ir.", By: "test", Language: "pt"}, nil
	}
	h.process("one", h.journal).transcribe(false)
	assert.That(t, h.in.Language == "" && h.in.Expected[0] == "nl", "at first: %+v", h.in)
	h.records("two")
	h.process("two", h.journal).transcribe(false)
	assert.That(t, slices.Equal(h.in.Expected[:2], []string{"pt", "nl"}) && slices.Contains(h.in.Expected, "en"),
		"then: %+v", h.in)
}

func TestRecordingThatFailsIsKeptToldAndTriedAgain(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two", "three")
	hears := h.hears
	h.hears = failingOn("002_audio.ogg", hears)
	p := h.process("one", h.journal)
	res, o := p.transcribe(false)
	same(t, "status", res.Status, journal.Done)
	same(t, "partial", res.Partial, true)
	same(t, "recordings", h.statuses(), []session.Status{session.Success, session.Failure, session.Success})
	same(t, "state", h.session().State, session.Failed)
	same(t, "failed", []any{len(o.Failed), o.Failed[0].Sequence}, []any{1, 2})
	contains(t, strings.Join(res.Warnings, "\n"), "Could not write down recording 2, which is kept",
		"it can't be decoded")
	contains(t, h.session().Audio[1].Error, "it can't be decoded")
	same(t, "code", h.session().Audio[1].Code, "fail.invalid")
	file, err := h.sessions().AudioPath(t.Context(), h.id, 2)
	assert.That(t, err == nil && strings.HasSuffix(file, "002_audio.ogg"), "the recording lies at %s, %v", file, err)
	h.hears, h.heard = hears, nil
	res, _ = p.transcribe(false)
	same(t, "transcribed without being told to try again", []any{h.heard, res.Answer}, []any{[]string(nil),
		"no recording is waiting; 1 recording could not be transcribed: ‘sibyl council transcribe --again " + h.id +
			"’ tries again"})
	_, o = p.transcribe(true)
	same(t, "transcribed again", h.heard, []string{"002_audio.ogg"})
	same(t, "recordings", h.statuses(), []session.Status{session.Success, session.Success, session.Success})
	same(t, "state", h.session().State, session.Transcribed)
	same(t, "failed", len(o.Failed), 0)
}

func TestRecordingThatFailsAgainIsTriedOnceInARun(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	h.hears = failingOn("001_audio.ogg", h.hears)
	p := h.process("one", h.journal)
	p.transcribe(false)
	h.heard = nil
	res, _ := p.transcribe(true)
	same(t, "status", res.Status, journal.Done)
	same(t, "tried", h.heard, []string{"001_audio.ogg"})
	same(t, "recordings", h.statuses(), []session.Status{session.Failure, session.Success})
	same(t, "state", h.session().State, session.Failed)
}

func TestDoubtsAboutATranscriptAreToldAndKept(t *testing.T) {
	h := newHouse(t)
	h.records("one")
	h.hears = func(string) (session.Transcript, error) {
		return session.Transcript{Text: "Thanks for watching!", By: "test:ear",
			Flags: []session.Flag{{Kind: "ghost", Text: "Thanks for watching!"}, {Kind: "ghost"}}}, nil
	}
	p := h.process("one", h.journal)
	r := p.begin(council.TranscriptionName, council.Options{Session: h.id})
	p.wait(r)
	same(t, "flags", len(h.session().Audio[0].Flags), 2)
	contains(t, h.told(p, r.ID), "Wrote down recording 1: 3 words. Parts of it may not have been said: ghost\n")
	h.says("A thought.")
	_, o := p.run(h.ask("Ada"))
	same(t, "doubted", o.Doubted, []string{"transcript 1 may contain words nobody said (ghost)"})
}

func TestPagesOfADocumentWithoutTextAreToldToTheOracleAndThePerson(t *testing.T) {
	h := newHouse(t)
	reads := func(context.Context, string, []byte) (document.Document, error) {
		return document.Document{Name: "plan.pdf", Paged: true, Blank: []int{2, 3},
			Pages: []document.Page{{Number: 1, Text: "We move."}, {Number: 4, Text: "In May."}}}, nil
	}
	store := assert.Must(session.Open(session.Config{Folder: h.folder, Now: time.Now, Read: reads}))(t)
	_ = assert.Must(store.AddAudio(t.Context(), h.id, "plan.pdf", strings.NewReader("%PDF-")))(t)
	assert.NoError(t, store.Close())
	_, o := h.process("one", h.journal).run(h.ask("Ada"))
	same(t, "left out", o.Left,
		[]string{"of transcript 1, plan.pdf: pp. 2-3 without text (pictures; recognise their text, OCR)"})
	contains(t, h.asked[0].Messages[0].Text, "[Left out: pp. 2-3 without text (pictures; recognise their text, OCR)]")
}

func TestRecordingInWhichNobodySpeaksIsInNoContext(t *testing.T) {
	h := newHouse(t)
	h.records("one")
	h.hears = func(string) (session.Transcript, error) {
		return session.Transcript{By: "test:ear", Flags: []session.Flag{{Kind: "silence"}}}, nil
	}
	p := h.process("one", h.journal)
	p.transcribe(false)
	p.refused(council.Name, h.ask("Ada"), "nothing")
	h.says("A thought.")
	_, o := p.run(h.ask("Ada"))
	same(t, "entries of the context", o.Answer.Snapshot.Entries, []string{"t2"})
}

// told is what people are told of the steps of a run, a line each.
func (h *house) told(p *process, id string) string {
	h.Helper()
	b := &strings.Builder{}
	for _, step := range assert.Must(p.service.Explain(h.Context(), ada, id))(h).Steps {
		for _, e := range step.Events {
			if e.Text != "" {
				b.WriteString(e.Text + "\n")
			}
		}
	}
	return b.String()
}

func TestSecondTranscriptionOfASessionIsRefusedAndTheFirstTakesInWhatIsAdded(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	p, other := h.process("one", h.journal), h.process("two", h.journal)
	second := service.Request{Assistant: council.TranscriptionName, Options: council.Options{Session: h.id}}
	var once sync.Once
	hears := h.hears
	h.hears = func(file string) (session.Transcript, error) {
		once.Do(func() {
			h.records("late")
			for _, p := range []*process{p, other} {
				_, err := p.service.Start(t.Context(), ada, second)
				assert.That(t, errors.Is(err, journal.ErrClaimed), "the second one begins with %v", err)
			}
		})
		return hears(file)
	}
	p.transcribe(false)
	same(t, "transcribed", h.heard, []string{"001_audio.ogg", "002_audio.ogg", "003_audio.ogg"})
	same(t, "state", h.session().State, session.Transcribed)
	other.transcribe(false) // it can be, now that the first one has ended
	same(t, "transcribed again", len(h.heard), 3)
}

func TestTranscriptionThatIsStoppedIsInterruptedWhenItsSessionIsOpened(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	hears, hanging, released := h.hears, make(chan bool, 1), make(chan bool)
	h.hears = func(file string) (session.Transcript, error) {
		if filepath.Base(file) == "002_audio.ogg" {
			hanging <- true
			<-released
			return session.Transcript{}, &model.Error{Kind: model.Cancelled}
		}
		return hears(file)
	}
	p := h.process("one", h.journal)
	r := p.begin(council.TranscriptionName, council.Options{Session: h.id})
	held(t, "the second recording", hanging)
	opened := assert.Must(p.desk().Open(t.Context(), h.id))(t)
	same(t, "state while it goes on", []any{opened.State, opened.Fixed}, []any{session.Transcribing, []bt.Why(nil)})
	assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
	close(released)
	res, o := p.wait(r)
	same(t, "status", res.Status, journal.Cancelled)
	same(t, "recordings of the outcome", len(o.Recordings), 1)
	contains(t, res.Failure.Hint, "transcripts and recordings are kept", "sibyl council transcribe "+h.id)
	opened = assert.Must(p.desk().Open(t.Context(), ""))(t)
	same(t, "state", []any{opened.State, len(opened.Fixed)}, []any{session.Interrupted, 1})
	h.hears = hears
	p.transcribe(false)
	same(t, "transcribed", h.heard, []string{"001_audio.ogg", "002_audio.ogg", "002_audio.ogg"})
	same(t, "state", h.session().State, session.Transcribed)
}

func TestSessionWhoseTranscriptionDiedIsInterruptedAndGoesOn(t *testing.T) {
	inHouse(t, sessionWhoseTranscriptionDied)
}

func sessionWhoseTranscriptionDied(h *house) {
	h.records("one", "two")
	hears, hanging, released := h.hears, make(chan bool, 1), make(chan bool)
	h.hears = func(file string) (session.Transcript, error) {
		hanging <- true
		<-released
		return session.Transcript{}, &model.Error{Kind: model.Cancelled}
	}
	dead := h.process("dead", h.journal)
	r := dead.begin(council.TranscriptionName, council.Options{Session: h.id})
	held(h, "the first recording", hanging)
	dead.leave() // before the recording has failed
	close(released)
	same(h, "state that it left", h.session().State, session.Transcribing)
	h.hears = hears
	p := h.process("two", h.journal)
	all, _, err := p.desk().List(h.Context())
	assert.That(h, err == nil && len(all) == 1 && all[0].State == session.Interrupted, "the list is %+v, %v", all, err)
	same(h, "state after only a look at it", h.session().State, session.Transcribing)
	same(h, "state", assert.Must(p.desk().Open(h.Context(), h.id))(h).State, session.Interrupted)
	same(h, "state in the folder", h.session().State, session.Interrupted)
	meanwhile := session.State("")
	h.hears = func(file string) (session.Transcript, error) {
		meanwhile = h.session().State
		return hears(file)
	}
	p.wait(assert.Must(p.service.Resume(h.Context(), ada, r.ID))(h))
	same(h, "state while it goes on", meanwhile, session.Transcribing)
	same(h, "state after it", h.session().State, session.Transcribed)
}

func TestTranscriptionThatWasDoneWhenItDiedEndsInterruptionWhenResumed(t *testing.T) {
	h := newHouse(t)
	h.records("one")
	p := h.process("one", h.journal)
	hears := h.hears
	h.hears = func(file string) (session.Transcript, error) {
		assert.Must(h.sessions().EndTranscribing(t.Context(), h.id))(t) // as one who opens it after a death does
		return hears(file)
	}
	p.transcribe(false)
	same(t, "state", h.session().State, session.Transcribed)
}

func TestTranscriptionWithNothingSetUpNamesTheSettingAndLeavesRecordingsWaiting(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	assert.Must(h.sessions().FailTranscript(t.Context(), h.id, 2, bt.Because("noise")))(t)
	before := h.metadata()
	h.missing = "set ‘transcription.url’ to a server that transcribes"
	p := h.process("one", h.journal)
	for _, again := range []bool{false, true} {
		p.refused(council.TranscriptionName, council.Options{Session: h.id, Again: again}, h.missing)
	}
	same(t, "recordings", h.statuses(), []session.Status{session.Pending, session.Failure})
	same(t, "metadata.json", h.metadata(), before)
}

func TestTranscriptThatCanNotBeWrittenIsAFailureThatIsTold(t *testing.T) {
	h := newHouse(t)
	h.records("one", "two")
	hears, unlock := h.hears, func() {}
	h.hears = func(file string) (session.Transcript, error) {
		if filepath.Base(file) == "001_audio.ogg" {
			unlock = h.locked("transcripts")
		} else {
			unlock()
		}
		return hears(file)
	}
	res, o := h.process("one", h.journal).transcribe(false)
	same(t, "partial", res.Partial, true)
	same(t, "recordings", h.statuses(), []session.Status{session.Failure, session.Success})
	contains(t, o.Failed[0].Failed, "could not be written into the session's folder: ")
	contains(t, o.Failed[0].Failed, "transcripts is not a folder") // what the system says of it
	same(t, "code", h.session().Audio[0].Code, "recording.unwritten")
}
