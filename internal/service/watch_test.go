package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/service"
)

// breaking is a store whose code panics when records are asked for.
type breaking struct{ journal.Store }

func (breaking) Records(context.Context, journal.Owner, string, int64) ([]journal.Record, error) {
	panic("hunter2")
}

func TestPanicOfWatchingIsTheErrorOfWhoAwaitsTheRun(t *testing.T) {
	inHouse(t, func(h *house) {
		release := h.holds("ada")
		r := h.start(h.service(), "", "Tea?")
		other := h.process("two", breaking{h.store})
		_, err := other.Await(h.Context(), ada, r.ID, time.Minute, func(*service.Update) {})
		if err == nil || !strings.Contains(err.Error(), r.ID) || !strings.Contains(err.Error(), "panicked") {
			t.Errorf("awaiting gives %v", err)
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("what was thrown is told: %v", err)
		}
		release()
		h.wait(r)
	})
}
