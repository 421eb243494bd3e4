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
		all, left, err := s.UsedIn(h.Context(), ada, first.Session, 10, time.Minute)
		if err != nil || left != 0 || len(all) != 2 || all[0].Run != second.ID || len(all[0].Used) != 1 || all[0].Used[0] != (assistant.Usage{Model: "a:b", Input: 20, Cached: 8, Output: 2}) {
			h.Errorf("used was %+v, %d runs were left: %v", all, left, err)
		}
		before := read
		all, left, err = s.UsedIn(h.Context(), ada, first.Session, 1, time.Minute)
		if err != nil || left != 1 || len(all) != 1 || read != before {
			h.Errorf("of one run: %+v, %d left, %d receipts read again: %v", all, left, read-before, err)
		}
		if _, _, err := s.UsedIn(h.Context(), "eve", first.Session, 10, time.Minute); err == nil {
			h.Error("another is told")
		}
	})
}
