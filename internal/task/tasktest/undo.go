package tasktest

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/task"
)

var undoTests = map[string]func(*suite){
	"UndoWalksBackStepByStep": func(s *suite) {
		t := s.add("one")
		other := s.add("other")
		s.titled(t.ID, "two")
		done := s.completed(t.ID)
		s.deleted(t.ID)

		c := s.undo()
		back := s.get(t.ID)
		s.same("undone deletion", *c.After, back)
		s.same("what is back", []any{c.Action, c.Before == nil, back.ID, back.Title, back.Status, back.Version},
			[]any{task.Undo, true, t.ID, "two", task.Completed, done.Version + 1})
		s.same("when it was completed", back.CompletedAt, done.CompletedAt)
		s.undo()
		s.same("after the completion was undone", s.get(t.ID).Status, task.Pending)
		s.undo()
		s.same("after the update was undone", s.get(t.ID).Title, "one")
		s.same("what the undo takes back", s.changes()[0].Undoes, s.history(t.ID)[1].ID)
		s.undo()
		s.same("after the second task was undone", s.titles(task.Filter{}), []string{"one"})
		s.undo()
		s.same("after all was undone", s.titles(task.Filter{}), []string{})
		s.unchanged(func() {
			_, err := s.Undo(s.ctx, ada)
			s.fails(err, task.ErrNoChange)
		})
		_, err := s.Task(s.ctx, "ada", other.ID)
		s.fails(err, task.ErrNotFound)
	},
	"UndoAfterAChangeThatFollowedAnUndo": func(s *suite) {
		t := s.add("one")
		s.titled(t.ID, "two")
		s.undo()
		s.titled(t.ID, "three")
		s.undo()
		s.same("title", s.get(t.ID).Title, "one")
		s.undo()
		s.same("tasks", s.titles(task.Filter{}), []string{})
	},
	"UndoIsOfTheOwnersOwnChanges": func(s *suite) {
		t := s.add("one")
		_, err := s.Undo(s.ctx, task.By{Owner: "bob"})
		s.fails(err, task.ErrNoChange)
		s.same("task", s.get(t.ID), t)
	},
	"UndoOfATaskThatChangedMeanwhileIsAConflict": func(s *suite) {
		t := s.add("one")
		s.titled(t.ID, "two")
		race := &meanwhile{Store: s.store, do: func() { s.titled(t.ID, "three") }}
		_, err := task.New(race, func() time.Time { return noon }).Undo(s.ctx, ada)
		s.fails(err, task.ErrConflict)
		s.same("title", s.get(t.ID).Title, "three")
	},
	"UndoUnderAKeyIsMadeOnce": func(s *suite) {
		t := s.add("one")
		s.titled(t.ID, "two")
		s.titled(t.ID, "three")
		first, err := s.Undo(s.ctx, under("k"))
		s.ok(err)
		s.unchanged(func() {
			again, err := s.Undo(s.ctx, under("k"))
			s.ok(err)
			s.same("undo", again, first)
		})
		s.same("title", s.get(t.ID).Title, "two")
	},
	"UndoUnderAKeyThatManyUseAtOnceIsMadeOnce": func(s *suite) {
		for i := range 4 {
			s.add(fmt.Sprint(i))
		}
		together(6, func(int) {
			if _, err := s.Undo(s.ctx, under("k")); err != nil {
				s.Error(err)
			}
		})
		s.same("titles", s.titles(task.Filter{}), []string{"0", "1", "2"})
	},
	"UndoFindsWhatLiesBehindManyUndos": func(s *suite) {
		t := s.add("the first")
		for i := range 70 {
			s.titled(t.ID, fmt.Sprint(i))
			s.undo()
		}
		s.undo()
		s.same("titles", s.titles(task.Filter{}), []string{})
	},
}

// meanwhile is a store in which something happens after the changes were listed.
type meanwhile struct {
	task.Store
	do func()
}

func (m *meanwhile) Changes(ctx context.Context, owner string, limit int) ([]task.Change, error) {
	all, err := m.Store.Changes(ctx, owner, limit)
	m.do()
	return all, err
}
