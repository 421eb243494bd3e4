package service

import (
	"context"
	"slices"

	"sibyl/internal/journal"
)

// Awaits reports whether the last run of a session waits for an approval or an answer; "" is a new session.
func (s *Service) Awaits(ctx context.Context, owner journal.Owner, session string) (bool, error) {
	if session == "" {
		return false, nil
	}
	last, err := s.Runs(ctx, owner, journal.Filter{Session: session, Limit: 1})
	if err != nil || len(last) == 0 {
		return false, err
	}
	rows, err := s.config.Store.Pending(ctx, owner, session, s.config.Now())
	return slices.ContainsFunc(rows, func(p journal.Pending) bool { return p.Run == last[0].ID }), err
}
