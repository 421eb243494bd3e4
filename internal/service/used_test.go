package service_test

import (
	"testing"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/run"
)

func TestWhatRunsUsedIsSummedByModelOnceTheyAreRead(t *testing.T) {
	inHouse(t, func(h *house) {
		read := 0
		a := h.panel("panel")
		a.Used = func(c *run.CompletionRecord) (assistant.Usage, bool) {
			read++
			return assistant.Usage{Model: "a:b", Input: 10, Cached: 4, Output: 1}, c.Label == "ada" || c.Label == "bob"
		}
		s := h.process("one", h.store, a)
		first := h.ask(s, "", "Tea?")
		second := h.ask(s, first.Session, "Milk?")
		want := assistant.Usage{Input: 20, Cached: 8, Output: 2}
		c, err := s.Costs(h.Context(), ada, first.Session, 10, time.Minute)
		if err != nil || c.Left != 0 || len(c.Runs) != 2 || c.Runs[0].Run != second.ID || c.Runs[0].Usage != want {
			h.Errorf("it cost %+v: %v", c, err)
		}
		before := read
		c, err = s.Costs(h.Context(), ada, first.Session, 1, time.Minute)
		if err != nil || c.Left != 1 || len(c.Runs) != 1 || read != before {
			h.Errorf("of one run: %+v, %d receipts read again: %v", c, read-before, err)
		}
		if _, err := s.Costs(h.Context(), "eve", first.Session, 10, time.Minute); err == nil {
			h.Error("another is told")
		}
	})
}
