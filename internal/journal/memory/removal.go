package memory

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
)

// DeleteSession implements journal.Store.
func (s *Store) DeleteSession(
	ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time,
) error {
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

// Unused implements journal.Store.
func (s *Store) Unused(
	ctx context.Context, owner journal.Owner, before, now time.Time, limit int,
) (list []journal.Session, err error) {
	err = s.look(ctx, func() error {
		list = s.unused(owner, before, now, limit)
		return nil
	})
	return list, err
}

// Retire implements journal.Store.
func (s *Store) Retire(
	ctx context.Context, owner journal.Owner, before, now time.Time, limit int,
) (left []journal.Tombstone, err error) {
	err = s.change(ctx, func() error {
		for _, session := range s.unused(owner, before, now, limit) {
			t, err := s.remove(session, journal.ByRetention, now)
			if err != nil {
				return err
			}
			left = append(left, t)
		}
		return nil
	})
	return left, err
}

func (s *Store) unused(owner journal.Owner, before, now time.Time, limit int) (list []journal.Session) {
	for _, session := range s.sessions {
		if session.Owner == owner && session.UpdatedAt.Before(journal.Millis(before)) && !s.runUsedSince(session.ID, before, now) {
			list = append(list, s.counted(session))
		}
	}
	slices.SortFunc(list, func(a, b journal.Session) int {
		return cmp.Or(a.UpdatedAt.Compare(b.UpdatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), journal.Limit(limit))]
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
	for _, r := range s.runsOf(session.ID) {
		delete(s.runs, r.ID)
	}
	used := make(map[string]bool)
	for _, r := range s.runs {
		maps.Copy(used, r.blobs)
	}
	maps.DeleteFunc(s.blobs, func(hash string, _ []byte) bool { return !used[hash] })
	return left, nil
}

// Tombstone implements journal.Store.
func (s *Store) Tombstone(ctx context.Context, owner journal.Owner, id string) (found journal.Tombstone, err error) {
	err = s.look(ctx, func() error {
		found = s.graves[id]
		if found.ID == "" || found.Owner != owner {
			found = journal.Tombstone{}
			return fmt.Errorf("tombstone of session %q: %w", id, journal.ErrNotFound)
		}
		return nil
	})
	return found, err
}

// Tombstones implements journal.Store.
func (s *Store) Tombstones(ctx context.Context, owner journal.Owner, limit int) (list []journal.Tombstone, err error) {
	err = s.look(ctx, func() error {
		for _, t := range s.graves {
			if t.Owner == owner {
				list = append(list, t)
			}
		}
		slices.SortFunc(list, func(a, b journal.Tombstone) int {
			return cmp.Or(b.DeletedAt.Compare(a.DeletedAt), cmp.Compare(b.ID, a.ID))
		})
		list = list[:min(len(list), journal.Limit(limit))]
		return nil
	})
	return list, err
}
