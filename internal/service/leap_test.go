package service

import (
	"testing"
	"time"
)

// The reading of the monotonic clock can't be set, but left out: then only the time of day is compared.
func TestClockIsTrustedThatHasGoneOnEvenlyForADay(t *testing.T) {
	began := time.Now()
	for name, c := range map[string]struct {
		now  time.Time
		want bool
	}{
		"a day later":    {began.Add(24 * time.Hour), true},
		"an hour later":  {began.Add(time.Hour), false},
		"before that":    {began.Add(-25 * time.Hour), false},
		"a year later":   {began.Add(365 * 24 * time.Hour), true},
		"at its begin":   {began, false},
		"a second short": {began.Add(24*time.Hour - time.Second), false},
	} {
		if got := even(began, c.now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
