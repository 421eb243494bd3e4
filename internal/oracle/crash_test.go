package oracle_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// mortal is the journal of a process that dies at an append, counted from 1 (0: it lives until it is told to die): before that or, with after, just behind.
// That a run begins is none.
func mortal(store journal.Store, at int, after bool) *journaltest.Mortal {
	return &journaltest.Mortal{Store: store, At: at, After: after, Free: math.MaxInt}
}

// later is the clock of a process that starts when all leases have run out.
func later(hours int) *handClock {
	c := newSteppingClock()
	c.now = time.Now().Add(time.Duration(hours) * time.Hour)
	return c
}

// crashAndResume asks a question in one process for each store, each of which may die, and then in one that lives.
func (h *harness) crashAndResume(question string, stores ...*journaltest.Mortal) oracle.Answer {
	h.t.Helper()
	return h.survive(func(*run.Engine) *run.Live { return h.start(question) }, stores...)
}

// survive begins a run in one process and takes it up in one for each further store, each of which may die, and then in
// one that lives.
func (h *harness) survive(begin func(*run.Engine) *run.Live, stores ...*journaltest.Mortal) oracle.Answer {
	h.t.Helper()
	for i, s := range stores {
		h.engine = h.newEngine(s, fmt.Sprintf("process %d", i), later(i))
		if i == 0 {
			h.last = begin(h.engine)
		} else if live, err := h.engine.Resume(h.t.Context(), owner, h.last.ID); errors.Is(err, journal.ErrEnded) {
			break
		} else if err != nil {
			h.t.Fatal(err)
		} else {
			h.last = live
		}
		if _, err := h.last.Wait(h.t.Context()); err != nil && !errors.Is(err, journaltest.ErrDead) {
			h.t.Fatalf("process %d stopped with %v", i, err)
		}
	}
	h.shown = ""
	engine := h.newEngine(h.store, "the last process", later(len(stores)))
	if live, err := engine.Resume(h.t.Context(), owner, h.last.ID); err == nil {
		h.last = live
		return h.finish(live)
	} else if !errors.Is(err, journal.ErrEnded) {
		h.t.Fatal(err)
	}
	end, err := run.ReadEnd(h.t.Context(), h.store, owner, h.last.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return answerOf(h.t, end)
}

// secretary is a model that decides by the conversation alone: it reads a note, writes one, and reports.
func secretary(t *testing.T) *harness {
	turn := modeltest.Func(func(req model.Request) modeltest.Turn {
		results := 0
		for _, m := range req.Messages {
			if m.Role == model.ToolRole {
				results++
			}
		}
		switch results {
		case 0:
			return modeltest.Say(needTurn("see what there is")).AndCall("vault_read", lines("a.md", 1, 9)).AndCall("vault_search", `{"query":"caching"}`)
		case 2:
			return modeltest.Say(needTurn("write the note")).AndCall("vault_write", `{"path":"caching.md"}`)
		}
		return modeltest.Say("Saved, after `a.md:2`. " + enough())
	})
	var turns []modeltest.Turn
	for range 12 {
		turns = append(turns, turn)
	}
	return setUp(t, turns...)
}

// timeless is an answer without what differs between two runs of the same conversation.
func timeless(a oracle.Answer) oracle.Answer {
	a.RunID, a.TookMS = "", 0
	for i := range a.ToolCalls {
		a.ToolCalls[i].TookMS = 0
	}
	for i := range a.Signals {
		a.Signals[i].At = time.Time{}
	}
	if a.Signal != nil {
		a.Signal.At = time.Time{}
	}
	return a
}

func TestCrashAtEveryAppendLosesNothingAndWritesExactlyOnce(t *testing.T) {
	calm := secretary(t)
	whole := mortal(calm.store, 0, false)
	want := timeless(calm.crashAndResume(save, whole))
	same(t, "stop reason", want.StopReason, oracle.StopSatisfied)
	models, reads := len(calm.script.Requests()), len(calm.world.called())-1
	for at := 1; at <= whole.Writes(); at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d written %v", at, after), func(t *testing.T) {
				h := secretary(t)
				dying := mortal(h.store, at, after)
				got := timeless(h.crashAndResume(save, dying))
				same(t, "the process died", dying.Dead(), true)
				h.checkEffects(1, models, reads)
				same(t, "answer", got, want)
			})
		}
	}
}

func TestCrashRightAfterTheRunBeganLosesNoQuestion(t *testing.T) {
	h := setUp(t, modeltest.Say("You're welcome! "+enough()))
	spec, err := h.begin(t.Context(), h.store, h.question(thanks))
	if err != nil {
		t.Fatal(err)
	}
	dying := &journaltest.Mortal{Store: h.store, At: 1, After: true}
	if _, err := h.newEngine(dying, "process 0", later(0)).Start(t.Context(), spec); !errors.Is(err, journaltest.ErrDead) {
		t.Fatalf("starting gives %v", err)
	}
	open, err := h.store.Runs(t.Context(), owner, journal.Filter{Status: journal.Running})
	if err != nil || len(open) != 1 {
		t.Fatalf("%d runs are open, %v", len(open), err)
	}
	live, err := h.newEngine(h.store, "process 1", later(1)).Resume(t.Context(), owner, open[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "answer", h.finish(live).Answer, "You're welcome!")
	same(t, "times the model was asked", len(h.script.Requests()), 1)
}

// checkEffects checks that the write was performed once, and that no more was repeated than one effect of each kind a crash.
func (h *harness) checkEffects(crashes, models, reads int) {
	h.t.Helper()
	same(h.t, "what stands in the world", h.world.written(), []string{`{"path":"caching.md"}`})
	writes, others := 0, map[string]int{}
	for _, name := range h.world.called() {
		if name == "vault_write" {
			writes++
		} else {
			others[name]++
		}
	}
	same(h.t, "calls of the writer", writes, 1)
	if n := len(h.script.Requests()); n > models+crashes {
		h.t.Errorf("the model was asked %d times, %d without a crash", n, models)
	}
	for name, n := range others {
		if n > 1+crashes {
			h.t.Errorf("%s was called %d times in %d crashes", name, n, crashes)
		}
	}
	if total := others["vault_read"] + others["vault_search"]; total > reads*(1+crashes) {
		h.t.Errorf("%d reads, %d without a crash", total, reads)
	}
}

func TestSameConversationGivesTheSameAnswerTwice(t *testing.T) {
	conversation := func() (answers []oracle.Answer, traces string) {
		h := setUp(t, append(readsOn(3), modeltest.Say("It checks a token (`two.go:3`, `nine.go:1`). "+enough()),
			modeltest.SayAndCall(needTurn("look there too"), "code_search", `{"query":"tests"}`), modeltest.Say("Also there. "+partial("the rest")))...)
		h.engine = h.newEngine(h.store, "test", newSteppingClock())
		answers = append(answers, h.finish(h.start(auth)))
		traces = h.trace()
		answers = append(answers, h.finish(h.start("And in the tests?")))
		return answers, traces + h.trace()
	}
	first, firstTrace := conversation()
	again, againTrace := conversation()
	for i := range first {
		same(t, "answer", timeless(again[i]), timeless(first[i]))
	}
	same(t, "trace", againTrace, firstTrace)
}
