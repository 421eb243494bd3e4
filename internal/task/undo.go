package task

import (
	"context"
	"errors"
)

// firstBatch is how many changes are first read to find one that can be undone.
const firstBatch = 64

// Undo undoes the last change of the owner that is neither an undo nor undone already, so that each Undo goes one
// further back. ErrNoChange if there is none, ErrConflict if its task changed since. Under a key that an undo used, it
// returns that undo.
func (s *Service) Undo(ctx context.Context, by By) (Change, error) { return s.UndoChange(ctx, by, 0) }

// Last returns the change that Undo would take back; ErrNoChange.
func (s *Service) Last(ctx context.Context, owner string) (Change, error) {
	last, _, err := s.nextUndoable(ctx, owner)
	return last, err
}

// UndoChange is Undo of the change with that id: an ErrConflict if Undo would undo another. An id of 0 is any.
func (s *Service) UndoChange(ctx context.Context, by By, id int64) (Change, error) {
	if c, made, err := s.undoByKey(ctx, by); err != nil || made {
		return c, err
	}
	last, latest, err := s.nextUndoable(ctx, by.Owner)
	if err != nil {
		return Change{}, err
	}
	if id != 0 && last.ID != id {
		return Change{}, ErrConflict
	}
	c, _, err := s.store.Apply(ctx, by.Owner, Act{Task: last.Task, Key: by.Key, Action: Undo, Actor: by.cleanActor(),
		Undoes: last.ID, At: s.now(),
		Change: func(now *Task) (*Task, error) {
			if !sameVersion(now, latest.After) {
				return nil, ErrConflict
			}
			return last.Before, nil
		}})
	var invalid *Invalid
	if errors.As(err, &invalid) {
		if c, made, _ := s.undoByKey(ctx, by); made { // made meanwhile by another call with this key
			return c, nil
		}
	}
	return c, err
}

// undoByKey returns the undo that was made under the key; made is false if none was. Another use of it is an error.
func (s *Service) undoByKey(ctx context.Context, by By) (c Change, made bool, err error) {
	if by.Key == "" {
		return Change{}, false, nil
	}
	c, err = s.store.Made(ctx, by.Owner, by.Key)
	switch {
	case errors.Is(err, ErrNotFound):
		return Change{}, false, nil
	case err == nil && c.Action != Undo:
		err = errKeyUsed()
	}
	return c, err == nil, err
}

// nextUndoable returns the change that is to be undone, and the latest change of its task.
func (s *Service) nextUndoable(ctx context.Context, owner string) (last, latest Change, err error) {
	for limit := firstBatch; ; limit *= 4 {
		changes, err := s.store.Changes(ctx, owner, limit)
		if err != nil {
			return Change{}, Change{}, err
		}
		undone, latest := map[int64]bool{}, map[int64]Change{}
		for _, c := range changes {
			if _, seen := latest[c.Task]; !seen {
				latest[c.Task] = c
			}
			if c.Action == Undo {
				undone[c.Undoes] = true
			} else if !undone[c.ID] {
				return c, latest[c.Task], nil
			}
		}
		if len(changes) < limit {
			return Change{}, Change{}, ErrNoChange
		}
	}
}

// sameVersion says that both are the same version of a task, or both nil.
func sameVersion(a, b *Task) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Version == b.Version
}
