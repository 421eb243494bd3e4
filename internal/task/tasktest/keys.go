package tasktest

import (
	"errors"
	"fmt"
	"sync/atomic"

	"sibyl/internal/task"
)

var keyTests = map[string]func(*suite){
	"KeyIsUsedUpByOneChangeForGood": func(s *suite) {
		first, again, err := s.Add(s.ctx, under("k"), "one", nil)
		s.ok(err)
		s.same("again", again, false)
		made, err := s.store.Made(s.ctx, "ada", "k")
		s.ok(err)
		s.same("made", made, s.history(first.ID)[0])
		s.titled(first.ID, "two")
		s.deleted(first.ID)
		s.unchanged(func() {
			t, again, err := s.Add(s.ctx, under("k"), "one", nil)
			s.ok(err)
			s.same("again", again, true)
			s.same("task", t, first)
			_, err = s.store.Made(s.ctx, "ada", "k")
			s.ok(err)
		})
	},
	"RepeatedChangeIsToldAsItWas": func(s *suite) {
		t := s.add("one")
		title := "two"
		edit := func() (task.Task, bool, error) {
			return s.Update(s.ctx, under("edit"), t.ID, 1, task.Edit{Title: &title})
		}
		first, _, err := edit()
		s.ok(err)
		s.titled(t.ID, "three")
		second, again, err := edit()
		s.ok(err)
		s.same("again", again, true)
		s.same("task", second, first)

		done, already, err := s.Complete(s.ctx, under("done"), t.ID, 0)
		s.ok(err)
		repeated, repeatedAlready, err := s.Complete(s.ctx, under("done"), t.ID, 0)
		s.ok(err)
		s.same("completed", repeated, done)
		s.same("already", []bool{already, repeatedAlready}, []bool{false, false})

		was, again, err := s.Delete(s.ctx, under("delete"), t.ID, 0)
		s.ok(err)
		s.same("again", again, false)
		repeatedWas, again, err := s.Delete(s.ctx, under("delete"), t.ID, 0)
		s.ok(err)
		s.same("again", again, true)
		s.same("deleted", repeatedWas, was)
	},
	"KeyOfAnotherChangeIsRefused": func(s *suite) {
		first, other := s.add("one"), s.add("other")
		_, _, err := s.store.Apply(s.ctx, "ada", act(first.ID, "k", "two"))
		s.ok(err)
		title := "three"
		s.unchanged(func() {
			_, _, err := s.store.Apply(s.ctx, "ada", act(other.ID, "k", "two"))
			s.invalid(err, "idempotency_key")
			_, _, err = s.Complete(s.ctx, under("k"), first.ID, 0)
			s.invalid(err, "idempotency_key")
			_, _, err = s.Add(s.ctx, under("k"), "two", nil)
			s.invalid(err, "idempotency_key")
			_, _, err = s.Update(s.ctx, under("k"), first.ID, 0, task.Edit{Title: &title})
			s.invalid(err, "idempotency_key")
			_, err = s.Undo(s.ctx, under("k"))
			s.invalid(err, "idempotency_key")
		})
	},
	"KeysOfOwnersAreApart": func(s *suite) {
		_, _, err := s.Add(s.ctx, under("k"), "one", nil)
		s.ok(err)
		_, again, err := s.Add(s.ctx, task.By{Owner: "bob", Key: "k"}, "bob's", nil)
		s.ok(err)
		s.same("again", again, false)
	},
	"ChangesWithoutAKeyAreManyAndHaveNone": func(s *suite) {
		s.add("one")
		s.add("one")
		s.same("tasks", s.titles(task.Filter{}), []string{"one", "one"})
		_, err := s.store.Made(s.ctx, "ada", "")
		s.fails(err, task.ErrNotFound)
	},
	"KeyThatManyUseAtOnceMakesOneChange": func(s *suite) {
		atOnce([]*suite{s}, func(s *suite, _ int) (task.Task, bool, error) { return s.Add(s.ctx, under("k"), "one", nil) })
		s.same("tasks", s.titles(task.Filter{}), []string{"one"})
		s.same("changes", len(s.changes()), 1)
		title := "two"
		id := s.changes()[0].Task
		atOnce([]*suite{s}, func(s *suite, _ int) (task.Task, bool, error) {
			return s.Update(s.ctx, under("l"), id, 0, task.Edit{Title: &title})
		})
		s.same("changes", len(s.changes()), 2)
	},
	"KeyThatManyUseAtOnceForDifferentTasksChangesOne": func(s *suite) {
		var ids []int64
		for range 6 {
			ids = append(ids, s.add("one").ID)
		}
		var done atomic.Int64
		together(len(ids), func(i int) {
			_, _, err := s.store.Apply(s.ctx, "ada", act(ids[i], "k", fmt.Sprint("by ", i)))
			var invalid *task.Invalid
			switch {
			case err == nil:
				done.Add(1)
			case !errors.As(err, &invalid) || invalid.Field != "idempotency_key":
				s.Error(err)
			}
		})
		s.same("who did", done.Load(), int64(1))
		s.same("changes", len(s.changes()), 7)
	},
}

// sharedTests are given two handles on one place.
var sharedTests = map[string]func(one, two *suite){
	"WhatOneHandleChangesTheOtherSeesAtOnce": func(one, two *suite) {
		t := one.add("one")
		two.same("task", two.get(t.ID), t)
		two.titled(t.ID, "two")
		one.same("titles", one.titles(task.Filter{}), []string{"two"})
		_, _, err := one.Complete(one.ctx, ada, t.ID, t.Version)
		one.fails(err, task.ErrConflict)
		c := one.undo()
		two.same("undone", two.history(t.ID)[2], c)
	},
	"KeyThatHandlesUseAtOnceMakesOneChange": func(one, two *suite) {
		both := []*suite{one, two}
		atOnce(both, func(s *suite, _ int) (task.Task, bool, error) { return s.Add(s.ctx, under("k"), "one", nil) })
		two.same("changes", len(two.changes()), 1)
		id := two.changes()[0].Task
		atOnce(both, func(s *suite, _ int) (task.Task, bool, error) { return s.Delete(s.ctx, under("l"), id, 0) })
		two.same("changes", len(two.changes()), 2)
	},
	"ChangesOfHandlesAtOnceFollowEachOther": func(one, two *suite) {
		both := []*suite{one, two}
		t := one.add("1")
		together(10, func(i int) {
			a := act(t.ID, "", "")
			a.Change = func(now *task.Task) (*task.Task, error) {
				now.Title = fmt.Sprint(now.Version + 1)
				return now, nil
			}
			if _, _, err := both[i%2].store.Apply(one.ctx, "ada", a); err != nil {
				one.Error(err)
			}
		})
		one.same("title", two.get(t.ID).Title, "11")
	},
	"UndosOfHandlesAtOnceTakeBackEachChangeOnce": func(one, two *suite) {
		both := []*suite{one, two}
		t := one.add("one")
		one.titled(t.ID, "two")
		var done atomic.Int64
		together(6, func(i int) {
			switch _, err := both[i%2].Undo(one.ctx, ada); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, task.ErrConflict) && !errors.Is(err, task.ErrNoChange):
				one.Error(err)
			}
		})
		taken := map[int64]int{}
		for _, c := range one.changes() {
			if c.Action == task.Undo {
				taken[c.Undoes]++
			}
		}
		one.same("undos", int64(len(taken)), done.Load())
		for id, times := range taken {
			if times != 1 {
				one.Errorf("change %d was taken back %d times", id, times)
			}
		}
	},
}
