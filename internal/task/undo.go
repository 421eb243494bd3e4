package task

import (
	"context"
	"errors"
)

// firstLook is how many changes are looked at for one that can be undone, before more are.
const firstLook = 64

// Undo takes back the last change of the owner that is neither an undo nor taken back already, so that undoing again
// walks back further. ErrNoChange if there is none, ErrConflict if its task changed since. Under a key that an undo
// used up, it is that undo.
func (s *Service) Undo(ctx context.Context, by By) (Change, error) { return s.UndoChange(ctx, by, 0) }

// Last returns the change that Undo would take back; ErrNoChange.
func (s *Service) Last(ctx context.Context, owner string) (Change, error) {
	last, _, err := s.undoable(ctx, owner)
	return last, err
}

// UndoChange does what Undo does if what it would take back is the change of that id, and is an ErrConflict if it is
// another. An id of 0 is any.
func (s *Service) UndoChange(ctx context.Context, by By, id int64) (Change, error) {
	if c, made, err := s.undone(ctx, by); err != nil || made {
		return c, err
	}
	last, latest, err := s.undoable(ctx, by.Owner)
	if err != nil {
		return Change{}, err
	}
	if id != 0 && last.ID != id {
		return Change{}, ErrConflict
	}
	c, _, err := s.store.Apply(ctx, by.Owner, Act{Task: last.Task, Key: by.Key, Action: Undo, Actor: by.actor(),
		Undoes: last.ID, At: s.now(),
		Change: func(now *Task) (*Task, error) {
			if !same(now, latest.After) {
				return nil, ErrConflict
			}
			return last.Before, nil
		}})
	var invalid *Invalid
	if errors.As(err, &invalid) {
		if c, made, _ := s.undone(ctx, by); made { // meanwhile, by who has the same key
			return c, nil
		}
	}
	return c, err
}

// undone returns the undo that was made under a key.
func (s *Service) undone(ctx context.Context, by By) (c Change, made bool, err error) {
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

// undoable returns the change that is to be undone, and the latest one of its task.
func (s *Service) undoable(ctx context.Context, owner string) (last, latest Change, err error) {
	for look := firstLook; ; look *= 4 {
		changes, err := s.store.Changes(ctx, owner, look)
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
		if len(changes) < look {
			return Change{}, Change{}, ErrNoChange
		}
	}
}

// same says that two are the same version of a task, or both none.
func same(a, b *Task) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Version == b.Version
}
