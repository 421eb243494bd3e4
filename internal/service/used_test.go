package service_test

import (
	"testing"

	"sibyl/internal/assistant"
	"sibyl/internal/run"
)

func TestWhatRunsUsedIsSummedByModel(t *testing.T) {
	inHouse(t, func(h *house) {
		a := h.panel("panel")
		a.Used = func(c *run.CompletionRecord) (assistant.Usage, bool) {
			return assistant.Usage{Model: "a:b", Input: 10, Cached: 4, Output: 1}, c.Label == "ada" || c.Label == "bob"
		}
		s := h.process("one", h.store, a)
		first := h.ask(s, "", "Tea?")
		second := h.ask(s, first.Session, "Milk?")
		used, err := s.Used(h.Context(), ada, first.ID, second.ID)
		if want := (assistant.Usage{Model: "a:b", Input: 40, Cached: 16, Output: 4}); err != nil || len(used) != 1 || used[0] != want {
			h.Errorf("used was %+v: %v", used, err)
		}
		if _, err := s.Used(h.Context(), "eve", first.ID); err == nil {
			h.Error("another is told")
		}
	})
}
