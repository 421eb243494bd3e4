package service

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

// A clock that leaps ahead makes everything old at once. It can't be told from a person who was away; so after nobody had used anything for
// silence, retention waits until there was use for settled, or until a process has run for so long by a clock that went on evenly.
const (
	silence = 7 * 24 * time.Hour
	settled = 24 * time.Hour
	uneven  = time.Hour // by which the time of day has gone on more than time itself
)

// even says whether the process has run for long by a clock that did not leap.
func even(began, now time.Time) bool {
	ran, byTheClock := now.Sub(began), now.Round(0).Sub(began.Round(0)) // only times that keep the reading of the monotonic clock tell both
	return ran >= settled && (byTheClock-ran).Abs() < uneven
}

// LeapError says that retention removes nothing for now: either nobody used anything after Last for long, or the clock has leapt.
type LeapError struct{ Last, Now time.Time }

func (e *LeapError) Error() string {
	return fmt.Sprintf("retention is paused: the last session was used on %s, but the clock says %s; if the clock is right, it resumes a day after the next use",
		e.Last.Format(time.DateOnly), e.Now.Format(time.DateOnly))
}

// MayHaveLeapt says that nobody had used anything for long before the last day, so that the clock may be wrong; of who never did it can't be told.
func (s *Service) MayHaveLeapt(ctx context.Context, owner journal.Owner) (bool, error) {
	_, may, err := s.silent(ctx, owner, s.config.Now())
	return may, err
}

// silent is MayHaveLeapt, with when something was used before.
func (s *Service) silent(ctx context.Context, owner journal.Owner, now time.Time) (last time.Time, may bool, err error) {
	if even(s.began, time.Now()) {
		return last, false, nil
	}
	since := now.Add(-settled)
	before, err := s.config.Store.Sessions(ctx, owner, journal.SessionFilter{Limit: 1, After: journal.Cursor{At: since, ID: " "}})
	if err != nil || len(before) == 0 {
		return last, false, err
	}
	last = before[0].UpdatedAt
	return last, since.Sub(last) > silence, nil
}

// unleapt is a LeapError where there is something to remove, and the clock may have leapt.
func (s *Service) unleapt(ctx context.Context, owner journal.Owner, now time.Time) error {
	last, may, err := s.silent(ctx, owner, now)
	if err != nil || !may {
		return err
	}
	for _, a := range s.prunable() {
		if a.Retention <= 0 {
			continue
		}
		old, err := s.config.Store.Unused(ctx, owner, journal.Idle{Assistant: a.Name, Before: now.Add(-a.Retention), Now: now, Limit: 1})
		if err != nil {
			return err
		}
		if len(old) > 0 {
			return &LeapError{Last: last, Now: now}
		}
	}
	return nil
}
