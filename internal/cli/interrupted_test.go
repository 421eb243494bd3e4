package cli

import (
	"testing"
	"time"
)

func TestInterruptedRunIsToldOfOnceADay(t *testing.T) {
	noon := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	told := interruptedNote{At: noon, Runs: []string{"a", "b"}}
	for _, c := range []struct {
		about  string
		runs   []string
		later  time.Duration
		silent bool
	}{
		{"the same runs an hour later", []string{"b"}, time.Hour, true},
		{"a new one", []string{"b", "c"}, time.Hour, false},
		{"the next day", []string{"a"}, 24 * time.Hour, false},
		{"a clock that was put back", []string{"a"}, -time.Hour, false},
	} {
		if got := told.covers(c.runs, noon.Add(c.later)); got != c.silent {
			t.Errorf("%s: silent %t", c.about, got)
		}
	}
}
