package council_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
)

// survives begins a run in a process that dies at a write, and takes it up in one that lives. It gives what came of it,
// and how often the first process wrote.
func (h *house) survives(name string, o council.Options, at int, after bool) (council.Outcome, int) {
	h.Helper()
	dying := &journaltest.Mortal{Store: h.journal, At: at, After: after, Free: 1}
	dead := h.process("dead", dying)
	r := dead.begin(name, o)
	if _, err := r.Wait(h.Context()); (err == nil) != (at == 0) && !dying.Dead() {
		h.Fatalf("the run that is to die at write %d of %d ends with %v", at, dying.Writes(), err)
	}
	dead.leave()
	p := h.process("survivor", h.journal)
	if row := must(h.journal.Run(h.Context(), ada, r.ID))(h); row.Status == journal.Running {
		res := must(must(p.service.Resume(h.Context(), ada, r.ID))(h).Wait(h.Context()))(h)
		same(h, "status", res.Status, journal.Done)
	}
	res := must(p.service.Result(h.Context(), ada, r.ID))(h)
	return outcomeOf(h, res.Outcome), dying.Writes()
}

// leave has a process that is dead let go of all that it drives.
func (p *process) leave() {
	now, cut := context.WithCancel(p.Context())
	cut()
	p.service.Drain(now)
}

// matrix runs a test for each write at which a process may die, before and after it took effect. calm counts the
// writes.
func matrix(t *testing.T, calm int, test func(t *testing.T, at int, after bool)) {
	t.Helper()
	if calm < 3 {
		t.Fatalf("a run is written in %d writes", calm)
	}
	for at := 1; at <= calm; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write %d, done %v", at, after), func(t *testing.T) {
				t.Parallel()
				test(t, at, after)
			})
		}
	}
}

// timeless is an outcome as JSON, without what differs between two runs in two houses: numbers of records, too, which a
// crash moves.
func (h *house) timeless(o council.Outcome) string {
	h.Helper()
	answer := func(a council.Answer) council.Answer {
		a.Run, a.At, a.Sequence, a.File = "", time.Time{}, 0, ""
		a.Snapshot.PromptHash, a.Snapshot.TokensEstimate = "", nil
		return a
	}
	o.Run, o.Session, o.Answers = "", "", slices.Clone(o.Answers)
	for n := range o.Answers {
		o.Answers[n] = answer(o.Answers[n])
	}
	for _, a := range []**council.Answer{&o.Answer, &o.Chair} {
		if *a != nil {
			one := answer(**a)
			*a = &one
		}
	}
	text := string(must(json.MarshalIndent(o, "", " "))(h))
	for _, p := range must(h.shelf.List(h.Context()))(h).Oracles {
		text = strings.ReplaceAll(text, p.ID, "id of "+p.Name) // ids are those of files
	}
	return text
}

// asRepeated wants each request to have come once, or once more after a crash.
func (h *house) asRepeated() {
	h.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	times := map[string]int{}
	for _, req := range h.asked {
		times[fmt.Sprint(req.Purpose, who(req), len(req.Messages))]++
	}
	for what, n := range times {
		if n > 2 {
			h.Errorf("%s was asked %d times after one crash", what, n)
		}
	}
}

func TestCrashAtEveryWriteOfAnAnswerStoresItOnce(t *testing.T) {
	calm := newHouse(t)
	calm.says("Hm.")
	want, writes := calm.survives(council.Name, calm.ask("ada"), 0, false)
	matrix(t, writes, func(t *testing.T, at int, after bool) {
		h := newHouse(t)
		h.says("Hm.")
		got, _ := h.survives(council.Name, h.ask("ada"), at, after)
		same(t, "outcome", h.timeless(got), calm.timeless(want))
		same(t, "stored", h.stored(got.Answer.File), "Ada answers.")
		h.whole(1)
		h.asRepeated()
	})
}

func TestCrashAtEveryWriteOfASittingStoresEachAnswerOnce(t *testing.T) {
	sit := func(h *house) council.Options {
		h.says("Hm.")
		o := h.ask("ada", "bob")
		o.Chair = "cleo"
		return o
	}
	calm := newHouse(t)
	want, writes := calm.survives(council.Name, sit(calm), 0, false)
	matrix(t, writes, func(t *testing.T, at int, after bool) {
		h := newHouse(t)
		got, _ := h.survives(council.Name, sit(h), at, after)
		same(t, "outcome", h.timeless(got), calm.timeless(want))
		h.whole(3)
		h.asRepeated()
		for _, row := range h.runs() {
			same(t, "status of the run of "+row.Assistant, row.Status, journal.Done)
		}
	})
}

func TestCrashAtEveryWriteOfATranscriptionKeepsEachTranscriptOnce(t *testing.T) {
	listen := func(h *house) council.Options {
		h.records("one", "two", "three")
		h.hears = failingOn("002_audio.ogg", h.hears)
		return council.Options{Session: h.id}
	}
	calm := newHouse(t)
	want, writes := calm.survives(council.TranscriptionName, listen(calm), 0, false)
	matrix(t, writes, func(t *testing.T, at int, after bool) {
		h := newHouse(t)
		got, _ := h.survives(council.TranscriptionName, listen(h), at, after)
		same(t, "outcome", h.timeless(got), calm.timeless(want))
		same(t, "recordings", h.statuses(), []session.Status{session.Success, session.Failure, session.Success})
		same(t, "state", h.session().State, session.Failed)
		same(t, "problems", must(h.sessions().Check(t.Context(), h.id, nil))(t), nil)
		times := map[string]int{}
		for _, file := range h.heard {
			times[file]++
		}
		if len(h.heard) > 4 || times["001_audio.ogg"] > 2 || times["003_audio.ogg"] > 2 {
			t.Errorf("transcribed: %v", h.heard)
		}
		for _, e := range h.session().Audio {
			same(t, "attempts", e.Attempts, 1)
		}
	})
}
