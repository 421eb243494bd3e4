package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestSessionGoesOnWithWhatItsLastRunLeft(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		h.takes("bob", 0, errSilent)
		first := h.start(s, "", "Tea, hunter2?")
		res := h.wait(first)
		same(h, "answer", res.Answer, "- ada: ADA\n")
		same(h, "status and reason", fmt.Sprint(res.Status, " ", res.Reason, " ", res.Partial), "done heard true")
		session := assert.Must(s.FindSession(h.Context(), ada, "", "last"))(h)
		same(h, "session", []string{session.ID, session.Title, session.Assistant},
			[]string{first.Session, "Tea, [redacted]?", "panel"})
		h.ask(s, first.Session, "Milk?")
		h.ask(s, "", "Sugar?")
		same(h, "what ada was asked", askedOf(h, "ada"),
			[]string{"Tea, hunter2?", `Milk? after [{"Persona":"ada","Answer":"ADA"}]`, "Sugar?"})
		same(h, "result of a run that has ended", assert.Must(s.Result(h.Context(), ada, first.ID))(h).Answer, res.Answer)
	})
}

func askedOf(h *house, persona string) (all []string) {
	for _, a := range h.asked {
		if a.Persona == persona {
			all = append(all, a.Words)
		}
	}
	return all
}

func TestWhatCannotBeStartedSaysWhy(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.process("one", h.store, h.panel("panel"), h.panel("jury"))
		begun := h.ask(s, "", "Tea?")
		try := func(r service.Request) error {
			_, err := s.Start(h.Context(), ada, r)
			return err
		}
		misused(h, "there is no such assistant", try(service.Request{Assistant: "council", Words: "Tea?"}),
			`this program has no assistant "council"; it has: panel, jury`)
		misused(h, "no options", try(service.Request{Assistant: "panel", Words: "Tea?"}), "a panel wants words")
		misused(h, "session of another assistant", try(service.Request{Assistant: "jury", Session: begun.Session,
			Words: "Tea?", Options: "ada"}), "belongs to panel, not to jury")
		err := try(service.Request{Assistant: "panel", Session: "none", Words: "Tea?", Options: "ada"})
		misused(h, "no such session", err, "none")
		isError(h, "no such session", err, journal.ErrNotFound)
		same(h, "a tree that is right", s.CheckTree("panel"), nil)
		h.tree = `<root BTCPP_format="4"><BehaviorTree ID="Panel"><Sing/></BehaviorTree></root>`
		misused(h, "a broken tree", s.CheckTree("panel"), "Sing")
		misused(h, "a start by it", try(service.Request{Assistant: "panel", Words: "Tea?", Options: "ada"}), "Sing")
		same(h, "runs", len(assert.Must(s.Runs(h.Context(), ada, journal.Filter{}))(h)), 1)
	})
}

func TestRunIsWatchedFromAnyRecordByAnyProcess(t *testing.T) {
	inHouse(t, func(h *house) {
		s, other := h.service(), h.process("two", h.store)
		release := h.holds("ada")
		h.takes("bob", 0, errSilent)
		r := h.start(s, "", "Tea?")
		var here, there []string
		var watching sync.WaitGroup
		watching.Go(func() { there = h.watched(other, r.ID, 0) })
		watching.Go(func() { here = h.watched(s, r.ID, 0) })
		synctest.Wait()
		release()
		watching.Wait()
		const event = `2 event answered {"Persona":"ada","Answer":"ADA"} Panel/Ask ‘ada: ADA’`
		want := []string{"0 record start", "0 step RUNNING", "1 record completion", "1 step RUNNING",
			"2 record completion", "2 step SUCCESS", event,
			"3 record trace", "4 record end"}
		same(h, "from another process", there, want)
		same(h, "from here, text aside", without(here, " text "), want)
		// before or after bob's record
		text := only(here, " text ")
		assert.That(h, len(text) == 1 && strings.HasSuffix(text[0], ` text "half of ada" false`), "text: %q", text)
		same(h, "from record 2", h.watched(s, r.ID, 2), want[4:])
		same(h, "from record 2, in another process", h.watched(other, r.ID, 2), want[4:])
		same(h, "from beyond the end", h.watched(other, r.ID, 9), nil)
	})
}

func without(all []string, what string) (kept []string) {
	for _, s := range all {
		if !strings.Contains(s, what) {
			kept = append(kept, s)
		}
	}
	return kept
}

func only(all []string, what string) (kept []string) {
	for _, s := range all {
		if strings.Contains(s, what) {
			kept = append(kept, s)
		}
	}
	return kept
}

func TestRunIsExplainedWhileItGoesOnAndWhenItHasEnded(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		release := h.holds("bob")
		r := h.start(s, "", "Tea?")
		synctest.Wait()
		same(h, "while bob thinks", h.explained(s, r.ID), []string{"running", "0 the beginning: RUNNING",
			"  Panel/Ask RUNNING",
			"1 ada: done: RUNNING", "  Panel/Ask RUNNING"})
		_, err := s.Result(h.Context(), ada, r.ID)
		isError(h, "result of a run that goes on", err, journal.ErrNotFound)
		release()
		h.wait(r)
		same(h, "at the end", h.explained(s, r.ID)[5:], []string{"2 bob: done: SUCCESS", "  Panel/Ask  answered Persona=ada Answer=ADA",
			"  Panel/Ask  answered Persona=bob Answer=BOB",
			"  Panel/Ask SUCCESS", "ended done; asked ada bob"})
	})
}

func TestCrashedRunIsListedAndResumedFromItsReceipts(t *testing.T) {
	inHouse(t, func(h *house) {
		h.takes("bob", time.Second, nil)
		id := h.crash(3) // with ada's answer, before bob's
		s := h.service()
		same(h, "state", assert.Must(s.Runs(h.Context(), ada, journal.Filter{}))(h)[0].Cause, run.CauseInterrupted)
		open := assert.Must(s.Interrupted(h.Context(), ada))(h)
		same(h, "interrupted", len(open), 1)
		resumed := assert.Must(s.Resume(h.Context(), ada, id))(h)
		same(h, "answer", h.wait(resumed).Answer, "- ada: ADA\n- bob: BOB\n")
		same(h, "assistant", resumed.Assistant(), "panel")
		same(h, "times that ada and bob were asked", []int{len(askedOf(h, "ada")), len(askedOf(h, "bob"))}, []int{1, 2})
		same(h, "the resumption", only(h.watched(s, id, 0), "resume"),
			[]string{"2 record resume Resumed; effects performed again: 1"})
		same(h, "interrupted afterwards", len(assert.Must(s.Interrupted(h.Context(), ada))(h)), 0)
		_, err := s.Resume(h.Context(), ada, id)
		isError(h, "a run that has ended", err, journal.ErrEnded)
	})
}

func TestSubmittedRunWithoutRoomIsQueuedAndGoesOnWhereThereIsRoom(t *testing.T) {
	inHouse(t, func(h *house) {
		full := assert.Must(run.NewEngine(run.Config{Store: h.store, Build: "test", Holder: "full", MostRuns: 1,
			Assistants: []*run.Assistant{h.panel("panel").Assistant}}))(h)
		s := assert.Must(service.New(service.Config{Store: h.store, Engine: full,
			Assistants: []*assistant.Assistant{h.panel("panel")},
			Tree:       func(string) (string, []byte, error) { return "panel.xml", []byte(h.tree), nil },
			Redact:     func(text string) string { return text }}))(h)
		release := h.holds("ada")
		request := service.Request{Assistant: "panel", Words: "Tea\x00?\xff", Options: "ada bob"}
		first := assert.Must(s.Submit(h.Context(), ada, request))(h)
		waiting := assert.Must(s.Submit(h.Context(), ada, request))(h)
		assert.Require(h, first.Driven != nil && waiting.Driven == nil, "driven are %v and %v", first.Driven, waiting.Driven)
		state := func(id string) string {
			row := assert.Must(s.Run(h.Context(), ada, id))(h)
			return row.State + row.Cause
		}
		same(h, "how the first stands", state(first.Run), "running")
		same(h, "how the second stands", state(waiting.Run), "runningqueued")
		same(h, "its title", assert.Must(h.store.Session(h.Context(), ada, waiting.Session))(h).Title, "Tea?\uFFFD")
		release()
		h.wait(first.Driven)
		h.wait(assert.Must(h.process("roomy", h.store).Resume(h.Context(), ada, waiting.Run))(h))
		lines := strings.Join(h.watched(s, waiting.Run, 1), "\n")
		assert.That(h, strings.Contains(lines, "1 record resume Taken up"), "nothing tells that it was taken up:\n%s", lines)
	})
}

func TestOptionsFromElsewhereAreReadByTheirAssistant(t *testing.T) {
	inHouse(t, func(h *house) {
		alone := h.panel("shadow")
		alone.Options = nil
		s := h.process("one", h.store, h.panel("panel"), alone)
		names := []string{}
		for _, a := range s.Assistants() {
			names = append(names, a.Name)
		}
		same(h, "assistants", names, []string{"panel", "shadow"})
		start := func(name, options string) (*service.Run, error) {
			return s.Start(h.Context(), ada, service.Request{Assistant: name, Words: "Tea?",
				Options: assistant.GivenOptions{JSON: json.RawMessage(options)}})
		}
		res := h.wait(assert.Must(start("panel", `{"personas":["ada","bob"]}`))(h))
		same(h, "answer", res.Answer, "- ada: ADA\n- bob: BOB\n")
		for name, says := range map[string]string{"panel": "wants personas", "shadow": "started by another assistant",
			"council": `no assistant "council"`} {
			_, err := start(name, "")
			misused(h, "none for "+name, err, says)
			_, told := errors.AsType[*assistant.RequestError](err)
			assert.That(h, told, "what is wrong with options for %s is not for those elsewhere: %v", name, err)
		}
	})
}

func TestRunThatProcessesDiedOfIsShownSetAsideAndWaitsForAPerson(t *testing.T) {
	inHouse(t, func(h *house) {
		h.takes("bob", time.Second, nil)
		id := h.crash(3)
		for n := range journal.MaxTries {
			same(h, "state before", assert.Must(h.service().Run(h.Context(), ada, id))(h).Cause, run.CauseInterrupted)
			now := time.Now().Add(time.Duration(n+1) * time.Hour)
			same(h, "taken", h.store.Acquire(h.Context(), ada, id, fmt.Sprint("dead ", n), now, now.Add(time.Minute)),
				nil)
			<-time.After(2 * time.Hour)
		}
		s := h.service()
		row := assert.Must(s.Runs(h.Context(), ada, journal.Filter{}))(h)[0]
		same(h, "state", []string{row.State, row.Cause}, []string{run.StatePaused, run.CauseSetAside})
		assert.That(h, strings.Contains(row.Text, "taken up 3 times") &&
			row.Text == assert.Must(s.Run(h.Context(), ada, id))(h).Text, "why: %q", row.Text)
		same(h, "interrupted", len(assert.Must(s.Interrupted(h.Context(), ada))(h)), 0)
		same(h, "busy", assert.Must(s.Busy(h.Context(), ada, 5))(h), 0)
		x := assert.Must(s.Explain(h.Context(), ada, id))(h)
		assert.That(h, len(x.Steps) == 0 && strings.Contains(strings.Join(x.Ending, "\n"), "resume --force "+id),
			"explained: %+v", x)
		_, err := s.Resume(h.Context(), ada, id)
		isError(h, "resumed", err, run.ErrSetAside)
		_, err = s.Resume(h.Context(), ada, id, run.AtOnce)
		isError(h, "resumed at once", err, run.ErrSetAside)
		same(h, "forced", h.wait(assert.Must(s.Resume(h.Context(), ada, id, run.Forced))(h)).Answer,
			"- ada: ADA\n- bob: BOB\n")
		same(h, "state in the end", assert.Must(s.Run(h.Context(), ada, id))(h).Cause, "heard")
	})
}

// single is a panel of which one run goes on at a time.
func (h *house) single() *assistant.Assistant {
	a := h.panel("panel")
	begin := a.Begin
	a.Begin = func(ctx context.Context, b assistant.Request) (run.Spec, error) {
		spec, err := begin(ctx, b)
		spec.Claims = []string{"the table"}
		return spec, err
	}
	return a
}

func ask(names string) service.Request {
	return service.Request{Assistant: "panel", Words: "who?", Options: names}
}

func TestBeginningWaitsForTheRunThatHoldsItsClaim(t *testing.T) {
	inHouse(t, func(h *house) {
		release := h.holds("ada")
		s := h.process("one", h.store, h.single())
		first := assert.Must(s.Start(h.Context(), ada, ask("ada")))(h)
		began := make(chan *service.Run)
		go func() { began <- assert.Must(s.Start(h.Context(), ada, ask("eve")))(h) }()
		<-time.After(5 * time.Second)
		select {
		case <-began:
			h.Fatal("the second run began beside the first")
		default:
		}
		release()
		h.wait(first)
		h.wait(<-began)
	})
}

func TestBeginningTakesUpTheRunThatHoldsItsClaimIfNobodyDrivesIt(t *testing.T) {
	inHouse(t, func(h *house) {
		h.holds("ada")
		dead := h.process("dead", h.store, h.single())
		first := assert.Must(dead.Start(h.Context(), ada, ask("ada")))(h)
		<-time.After(time.Second)
		stop, cut := context.WithCancel(h.Context())
		cut()
		dead.Drain(stop) // as if it was killed: the run goes on nowhere
		delete(h.do, "ada")
		s := h.process("one", h.store, h.single())
		h.wait(assert.Must(s.Start(h.Context(), ada, ask("eve")))(h))
		r := assert.Must(s.Result(h.Context(), ada, first.ID))(h)
		same(h, "the run that nobody drove", r.Status, journal.Done)
	})
}

func TestBeginningGivesUpOnAClaimThatIsHeldForLong(t *testing.T) {
	inHouse(t, func(h *house) {
		release := h.holds("ada")
		s := h.process("one", h.store, h.single())
		first := assert.Must(s.Start(h.Context(), ada, ask("ada")))(h)
		began := time.Now()
		_, err := s.Start(h.Context(), ada, ask("eve"))
		var held *journal.ClaimedError
		assert.That(h, errors.As(err, &held) && held.Run == first.ID && time.Since(began) <= time.Minute,
			"after %s: %v", time.Since(began), err)
		hurried := ask("eve")
		hurried.Patience = time.Second
		began = time.Now()
		if _, err := s.Start(h.Context(), ada, hurried); !errors.As(err, &held) || time.Since(began) != time.Second {
			h.Errorf("with patience for a second, after %s: %v", time.Since(began), err)
		}
		release()
		h.wait(first)
	})
}
