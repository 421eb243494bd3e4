package service_test

import (
	"context"
	"errors"
	"fmt"
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
