package service_test

import (
	"context"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// metered is a panel whose personas take 10 tokens in and 1 out when they answer. It counts the receipts that are read.
func (h *house) metered(read *int) *assistant.Assistant {
	a := h.panel("panel")
	a.Used = func(c *run.CompletionRecord) (assistant.Usage, bool) {
		*read++
		return assistant.Usage{Model: "a:b", Input: 10, Cached: 4, Output: 1}, c.Label == "ada" || c.Label == "bob"
	}
	return a
}

func TestWhatRunsUsedIsSummedByModelAndReadOnceTheyHaveEnded(t *testing.T) {
	inHouse(t, func(h *house) {
		read := 0
		s := h.process("one", h.store, h.metered(&read))
		first := h.ask(s, "", "Tea?")
		second := h.ask(s, first.Session, "Milk?")
		used, err := s.Used(h.Context(), ada, first.ID, second.ID)
		want := assistant.Usage{Model: "a:b", Input: 40, Cached: 16, Output: 4}
		assert.That(h, err == nil && len(used) == 1 && used[0] == want, "used was %+v: %v", used, err)
		before := read
		_, err = s.Used(h.Context(), ada, first.ID)
		assert.That(h, err == nil && read == before, "%d receipts were read again: %v", read-before, err)
		_, err = s.Used(h.Context(), eve, first.ID)
		isError(h, "what another's run used", err, journal.ErrNotFound)
	})
}

func TestWhatARunUsesIsReadAgainWhileItGoesOn(t *testing.T) {
	inHouse(t, func(h *house) {
		read := 0
		s := h.process("one", h.store, h.metered(&read))
		h.takes("ada", time.Second, nil)
		h.takes("bob", time.Minute, nil)
		r := h.start(s, "", "Tea?")
		for _, want := range []int{10, 20} {
			<-time.After(30 * time.Second)
			used := assert.Must(r.Used(h.Context(), ada))(h)
			assert.That(h, len(used) == 1 && used[0].Input == want, "it has used %+v; want %d tokens in", used, want)
			h.wait(r)
		}
	})
}

// slow is a store that takes two seconds to give the records of a run.
type slow struct{ journal.Store }

func (s slow) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	select {
	case <-time.After(2 * time.Second):
		return s.Store.Records(ctx, o, id, from)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestCostsOfALongSessionGetFurtherWhenTheyAreAskedForAgain(t *testing.T) {
	inHouse(t, func(h *house) {
		read := 0
		h.prices = &service.Prices{Currency: "EUR", Of: func(string, int, int, int) (float64, bool) { return 1, true }}
		s := h.process("one", h.store, h.metered(&read))
		session := h.ask(s, "", "Tea?").Session
		for range 4 {
			h.ask(s, session, "Milk?")
		}
		later := h.process("two", slow{h.store}, h.metered(&read))
		for _, left := range []int{3, 1, 0, 0} {
			c := assert.Must(later.Costs(h.Context(), ada, session, 100, 5*time.Second))(h)
			assert.That(h, c.Left == left && len(c.Runs) == 5-left && c.Cost == float64(2*len(c.Runs)),
				"%d runs are left, and the %d others cost %v; want %d left", c.Left, len(c.Runs), c.Cost, left)
		}
	})
}
