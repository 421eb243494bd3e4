package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

func (s *Store) DeleteSession(ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time) error {
	return s.change(ctx, func() error {
		session, err := s.session(owner, id)
		if err != nil {
			return err
		}
		for _, r := range s.runsOf(id) {
			if err := r.AllowDelete(now); err != nil {
				return fmt.Errorf("session %q: %w", id, err)
			}
		}
		_, err = s.remove(session, why, now)
		return err
	})
}

func (s *Store) Unused(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Session, error) {
	return look(ctx, s, func() ([]journal.Session, error) { return s.unused(owner, idle), nil })
}

func (s *Store) Retire(ctx context.Context, owner journal.Owner, idle journal.Idle) (left []journal.Tombstone, err error) {
	err = s.change(ctx, func() error {
		for _, session := range s.unused(owner, idle) {
			t, err := s.remove(session, journal.ByRetention, idle.Now)
			if err != nil {
				return err
			}
			left = append(left, t)
		}
		return nil
	})
	return left, err
}

func (s *Store) unused(owner journal.Owner, idle journal.Idle) (list []journal.Session) {
	for _, session := range s.sessions {
		if session.Owner == owner && (idle.Assistant == "" || session.Assistant == idle.Assistant) &&
			session.UpdatedAt.Before(journal.Millis(idle.Before)) && !s.runUsedSince(session.ID, idle.Before, idle.Now) {
			list = append(list, s.counted(session))
		}
	}
	slices.SortFunc(list, func(a, b journal.Session) int { return a.Cursor().Compare(b.Cursor()) })
	return list[:min(len(list), journal.Limit(idle.Limit))]
}

func (s *Store) runUsedSince(session string, before, now time.Time) bool {
	return slices.ContainsFunc(s.runsOf(session), func(r *run) bool {
		var last time.Time
		if n := len(r.records); n > 0 {
			last = r.records[n-1].At
		}
		return r.UsedSince(before, now, last)
	})
}

// remove leaves nothing of a session but its tombstone.
func (s *Store) remove(session journal.Session, why journal.Reason, now time.Time) (journal.Tombstone, error) {
	left, err := s.counted(session).Tombstone(why, now)
	if err != nil {
		return left, err
	}
	s.graves[session.ID] = left
	delete(s.sessions, session.ID)
	delete(s.pending, session.ID)
	for _, r := range s.runsOf(session.ID) {
		delete(s.runs, r.ID)
		s.free(r)
	}
	used := make(map[owned]bool)
	for _, r := range s.runs {
		for _, b := range r.blobs {
			used[b] = true
		}
	}
	maps.DeleteFunc(s.blobs, func(b owned, _ []byte) bool { return !used[b] })
	return left, nil
}

func (s *Store) Tombstone(ctx context.Context, owner journal.Owner, id string) (journal.Tombstone, error) {
	return look(ctx, s, func() (journal.Tombstone, error) {
		if found, ok := s.graves[id]; ok && found.Owner == owner {
			return found, nil
		}
		return journal.Tombstone{}, fmt.Errorf("tombstone of session %q: %w", id, journal.ErrNotFound)
	})
}

func (s *Store) Tombstones(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Tombstone, error) {
	return look(ctx, s, func() ([]journal.Tombstone, error) {
		return latest(s.graves, f.After, f.Limit, func(t journal.Tombstone) bool {
			return t.Owner == owner && (f.Assistant == "" || t.Assistant == f.Assistant)
		}), nil
	})
}
