package service

import (
	"context"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Awaits reports whether the last run of a session waits for an approval or an answer; "" is a new session.
func (s *Service) Awaits(ctx context.Context, owner journal.Owner, session string) (bool, error) {
	if session == "" {
		return false, nil
	}
	last, err := s.Runs(ctx, owner, journal.Filter{Session: session, Limit: 1})
	return len(last) > 0 && last[0].State == run.StateWaiting, err
}
