package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

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
		first := must(s.Start(h.Context(), ada, ask("ada")))(h)
		began := make(chan *service.Run)
		go func() { began <- must(s.Start(h.Context(), ada, ask("eve")))(h) }()
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
		first := must(dead.Start(h.Context(), ada, ask("ada")))(h)
		<-time.After(time.Second)
		stop, cut := context.WithCancel(h.Context())
		cut()
		dead.Drain(stop) // as if it was killed: the run goes on nowhere
		delete(h.do, "ada")
		s := h.process("one", h.store, h.single())
		h.wait(must(s.Start(h.Context(), ada, ask("eve")))(h))
		r := must(s.Result(h.Context(), ada, first.ID))(h)
		same(h, "the run that nobody drove", r.Status, journal.Done)
	})
}

func TestBeginningGivesUpOnAClaimThatIsHeldForLong(t *testing.T) {
	inHouse(t, func(h *house) {
		release := h.holds("ada")
		s := h.process("one", h.store, h.single())
		first := must(s.Start(h.Context(), ada, ask("ada")))(h)
		began := time.Now()
		_, err := s.Start(h.Context(), ada, ask("eve"))
		var held *journal.ClaimedError
		if !errors.As(err, &held) || held.Run != first.ID || time.Since(began) > time.Minute {
			h.Errorf("after %s: %v", time.Since(began), err)
		}
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
