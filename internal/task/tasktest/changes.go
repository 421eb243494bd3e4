package tasktest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/task"
)

var errBroken = errors.New("broken off")

// act is a change of ada's that keeps a task as it is but for its title.
func act(id int64, key, title string) task.Act {
	return task.Act{Task: id, Key: key, Action: task.Update, Actor: "test", At: noon, Change: func(now *task.Task) (*task.Task, error) {
		now.Title = title
		return now, nil
	}}
}

var changeTests = map[string]func(*suite){
	"AddedTaskIsKeptAsGiven": func(s *suite) {
		description := "1 l, 3.5 %\n\tor “oat” 🥛 e\u0301"
		at := noon.Add(1500 * time.Microsecond).In(time.FixedZone("east", 3600))
		a := task.Act{Key: "k", Action: task.Add, Actor: "cli", At: at, Change: func(now *task.Task) (*task.Task, error) {
			return &task.Task{ID: 99, Version: 99, Title: "Buy Milk", Description: &description, Status: task.Pending, CreatedAt: at}, nil
		}}
		c, again, err := s.store.Apply(s.ctx, "ada", a)
		s.ok(err)
		want := task.Task{ID: c.Task, Title: "Buy Milk", Description: &description, Status: task.Pending, CreatedAt: after(time.Millisecond), Version: 1}
		s.same("change", c, task.Change{ID: c.ID, Task: c.Task, Action: task.Add, Actor: "cli", After: &want, At: after(time.Millisecond)})
		s.same("again", again, false)
		if c.ID < 1 || c.Task < 1 {
			s.Errorf("the change has the id %d, its task %d", c.ID, c.Task)
		}
		s.same("task", s.get(c.Task), want)
		s.same("history", s.history(c.Task), []task.Change{c})
	},
	"EachChangeGrowsTheVersionByOneAndSaysBeforeAndAfter": func(s *suite) {
		first := s.add("one")
		second := s.titled(first.ID, "two")
		third := s.completed(first.ID)
		s.deleted(first.ID)
		s.same("versions", []int64{first.Version, second.Version, third.Version}, []int64{1, 2, 3})
		var steps [][2]*task.Task
		for _, c := range s.history(first.ID) {
			steps = append(steps, [2]*task.Task{c.Before, c.After})
		}
		s.same("before and after", steps, [][2]*task.Task{{nil, &first}, {&first, &second}, {&second, &third}, {&third, nil}})
	},
	"WhatChangesNothingWritesNothing": func(s *suite) {
		t := s.completed(s.add("one").ID)
		s.unchanged(func() {
			c, again, err := s.store.Apply(s.ctx, "ada", act(t.ID, "k", "one"))
			s.ok(err)
			s.same("change", c, task.Change{Task: t.ID, Action: task.Update, Actor: "test", Before: &t, After: &t, At: noon})
			s.same("again", again, false)
		})
		_, err := s.store.Made(s.ctx, "ada", "k")
		s.fails(err, task.ErrNotFound)
	},
	"ErrorOfAChangeComesBackAndNothingIsWritten": func(s *suite) {
		t := s.add("one")
		a := act(t.ID, "k", "")
		a.Change = func(now *task.Task) (*task.Task, error) {
			now.Title = "two"
			return now, errBroken
		}
		s.unchanged(func() {
			_, _, err := s.store.Apply(s.ctx, "ada", a)
			s.fails(err, errBroken)
		})
	},
	"TaskThatBreaksARuleIsRefused": func(s *suite) {
		t := s.add("one")
		s.unchanged(func() {
			for field, change := range map[string]func(*task.Task){
				"title":        func(t *task.Task) { t.Title = "a\x00b" },
				"description":  func(t *task.Task) { t.Description = new(strings.Repeat("ü", 1001)) },
				"status":       func(t *task.Task) { t.Status = "done" },
				"completed_at": func(t *task.Task) { t.Status = task.Completed },
			} {
				a := act(t.ID, "", "")
				a.Change = func(now *task.Task) (*task.Task, error) {
					change(now)
					return now, nil
				}
				_, _, err := s.store.Apply(s.ctx, "ada", a)
				s.invalid(err, field)
			}
		})
	},
	"ActThatCannotBeIsRefused": func(s *suite) {
		t := s.add("one")
		s.unchanged(func() {
			for field, change := range map[string]func(*task.Act){
				"idempotency_key": func(a *task.Act) { a.Key = "a\xff" },
				"actor":           func(a *task.Act) { a.Actor = "a\x00" },
				"action":          func(a *task.Act) { a.Action = "" },
				"task_id":         func(a *task.Act) { a.Task = 0 },
				"undoes":          func(a *task.Act) { a.Undoes = 1 },
			} {
				a := act(t.ID, "", "two")
				change(&a)
				_, _, err := s.store.Apply(s.ctx, "ada", a)
				s.invalid(err, field)
			}
			_, _, err := s.store.Apply(s.ctx, "", act(t.ID, "", "two"))
			s.invalid(err, "owner")
		})
	},
	"TaskOfAnotherDoesNotExist": func(s *suite) {
		t := s.titled(s.add("one").ID, "two")
		_, _, err := s.Add(s.ctx, task.By{Owner: "bob", Key: "k"}, "bob's", nil)
		s.ok(err)
		s.unchanged(func() {
			_, _, err := s.store.Apply(s.ctx, "bob", act(t.ID, "", "stolen"))
			s.fails(err, task.ErrNotFound)
			undo := task.Act{Task: t.ID, Action: task.Undo, Undoes: s.changes()[0].ID, Change: func(now *task.Task) (*task.Task, error) { return nil, nil }}
			_, _, err = s.store.Apply(s.ctx, "bob", undo)
			s.fails(err, task.ErrNotFound)
			_, err = s.store.Task(s.ctx, "bob", t.ID)
			s.fails(err, task.ErrNotFound)
			_, err = s.store.History(s.ctx, "bob", t.ID)
			s.fails(err, task.ErrNotFound)
			_, err = s.store.Made(s.ctx, "ada", "k")
			s.fails(err, task.ErrNotFound)
		})
		s.same("ada's tasks", s.titles(task.Filter{}), []string{"two"})
		all, err := s.store.Tasks(s.ctx, "bob", task.Filter{})
		s.ok(err)
		s.same("bob's tasks", titlesOf(all), []string{"bob's"})
		changes, err := s.store.Changes(s.ctx, "bob", 0)
		s.ok(err)
		s.same("bob's changes", len(changes), 1)
	},
	"IdIsNeverUsedAgain": func(s *suite) {
		ids := []int64{s.add("one").ID, s.add("two").ID}
		s.deleted(ids[1])
		s.deleted(ids[0])
		ids = append(ids, s.add("three").ID, s.add("four").ID)
		if !slices.IsSorted(ids) || len(slices.Compact(ids)) != 4 {
			s.Errorf("ids are %v, want each above the one before", ids)
		}
	},
	"DeletedTaskIsThereNoMore": func(s *suite) {
		t := s.add("one")
		s.deleted(t.ID)
		_, err := s.store.Task(s.ctx, "ada", t.ID)
		s.fails(err, task.ErrNotFound)
		_, _, err = s.store.Apply(s.ctx, "ada", act(t.ID, "", "two"))
		s.fails(err, task.ErrNotFound)
		_, _, err = s.Delete(s.ctx, ada, t.ID, 0)
		s.fails(err, task.ErrNotFound)
		s.same("tasks", s.titles(task.Filter{}), []string{})
		s.same("history", len(s.history(t.ID)), 2)
	},
	"OfChangesAtOnceEachSeesTheOneBefore": func(s *suite) {
		t := s.add("1")
		together(12, func(i int) {
			a := act(t.ID, "", "")
			a.Change = func(now *task.Task) (*task.Task, error) {
				now.Title = fmt.Sprint(now.Version + 1)
				return now, nil
			}
			if _, _, err := s.store.Apply(s.ctx, "ada", a); err != nil {
				s.Error(err)
			}
		})
		s.same("title", s.get(t.ID).Title, "13")
		for i, c := range s.history(t.ID) {
			s.same("version", c.After.Version, int64(i)+1)
		}
	},
	"OfThoseWhoChangeAVersionAtOnceOneDoes": func(s *suite) {
		t := s.add("one")
		var wins atomic.Int64
		together(8, func(i int) {
			title := fmt.Sprint("by ", i)
			switch _, _, err := s.Update(s.ctx, ada, t.ID, t.Version, task.Edit{Title: &title}); {
			case err == nil:
				wins.Add(1)
			case !errors.Is(err, task.ErrConflict):
				s.Error(err)
			}
		})
		s.same("who won", wins.Load(), int64(1))
		s.same("version", s.get(t.ID).Version, int64(2))
	},
}

var callTests = map[string]func(*suite){
	"CallWhoseContextHasEndedChangesNothingAndSaysSo": func(s *suite) {
		t := s.add("one")
		ended, cancel := context.WithCancel(s.ctx)
		cancel()
		s.unchanged(func() {
			for name, call := range map[string]func() error{
				"Apply":   func() error { _, _, err := s.store.Apply(ended, "ada", act(t.ID, "k", "two")); return err },
				"Made":    func() error { _, err := s.store.Made(ended, "ada", "k"); return err },
				"Tasks":   func() error { _, err := s.store.Tasks(ended, "ada", task.Filter{}); return err },
				"Count":   func() error { _, err := s.store.Count(ended, "ada", task.Filter{}); return err },
				"Task":    func() error { _, err := s.store.Task(ended, "ada", t.ID); return err },
				"History": func() error { _, err := s.store.History(ended, "ada", t.ID); return err },
				"Changes": func() error { _, err := s.store.Changes(ended, "ada", 1); return err },
			} {
				s.Log(name)
				s.fails(call(), context.Canceled)
			}
		})
	},
}

// atOnce has many make a change with one key, and wants one change of it.
func atOnce(suites []*suite, change func(s *suite, i int) (task.Task, bool, error)) {
	first := suites[0]
	var mu sync.Mutex
	var fresh int
	ids := map[int64]bool{}
	together(8, func(i int) {
		s := suites[i%len(suites)]
		t, again, err := change(s, i)
		if err != nil {
			s.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		ids[t.ID] = true
		if !again {
			fresh++
		}
	})
	first.same("who made it", fresh, 1)
	first.same("tasks that came back", len(ids), 1)
}
