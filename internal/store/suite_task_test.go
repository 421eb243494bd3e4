package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/task"
)

// byAda is who makes most changes, without a key.
var byAda = task.By{Owner: "ada", Actor: "test"}

// under is ada with a key.
func under(key string) task.By { return task.By{Owner: "ada", Actor: "test", Key: key} }

// errAct breaks a change off.
var errAct = errors.New("broken off")

// act is a change of ada's that gives a task a title.
func act(id int64, key, title string) task.Act {
	return task.Act{Task: id, Key: key, Action: task.Update, Actor: "test", At: noon,
		Change: func(now *task.Task) (*task.Task, error) {
			now.Title = title
			return now, nil
		}}
}

// numbered is a change that makes a task's title the number of its version.
func numbered(id int64) task.Act {
	a := act(id, "", "")
	a.Change = func(now *task.Task) (*task.Task, error) {
		now.Title = fmt.Sprint(now.Version + 1)
		return now, nil
	}
	return a
}

// tasks are the tasks of the database, on a clock that stands still.
func (s *suite) tasks() *task.Service { return tasksOver(s.db) }

func (s *suite) add(title string) task.Task {
	s.Helper()
	t, _, err := s.tasks().Add(s.ctx, byAda, title, nil)
	assert.NoError(s, err)
	return t
}

// addAt adds a task of ada's that was created at a time.
func (s *suite) addAt(title string, at time.Time) {
	s.Helper()
	_, _, err := s.db.Apply(s.ctx, "ada", task.Act{Action: task.Add, At: at, Change: func(*task.Task) (*task.Task,
		error) {
		return &task.Task{Title: title, Status: task.Pending, CreatedAt: at}, nil
	}})
	assert.NoError(s, err)
}

func (s *suite) titled(id int64, title string) task.Task {
	s.Helper()
	t, _, err := s.tasks().Update(s.ctx, byAda, id, 0, task.Edit{Title: &title})
	assert.NoError(s, err)
	return t
}

func (s *suite) completed(id int64) task.Task {
	s.Helper()
	t, _, err := s.tasks().Complete(s.ctx, byAda, id, 0)
	assert.NoError(s, err)
	return t
}

func (s *suite) deleted(id int64) {
	s.Helper()
	_, _, err := s.tasks().Delete(s.ctx, byAda, id, 0)
	assert.NoError(s, err)
}

func (s *suite) undo() task.Change {
	s.Helper()
	return assert.Must(s.tasks().Undo(s.ctx, byAda))(s)
}

func (s *suite) task(id int64) task.Task {
	s.Helper()
	return assert.Must(s.db.Task(s.ctx, "ada", id))(s)
}

// titles are those of the tasks of ada's that a filter selects.
func (s *suite) titles(f task.Filter) []string {
	s.Helper()
	return titlesOf(assert.Must(s.db.Tasks(s.ctx, "ada", f))(s))
}

func titlesOf(all []task.Task) []string {
	return idsOf(all, func(t task.Task) string { return t.Title })
}

func (s *suite) history(id int64) []task.Change {
	s.Helper()
	return assert.Must(s.db.History(s.ctx, "ada", id))(s)
}

func (s *suite) changes() []task.Change {
	s.Helper()
	return assert.Must(s.db.Changes(s.ctx, "ada", 0))(s)
}

// invalid wants err to be an *Invalid of a field.
func (s *suite) invalid(field string, err error) {
	s.Helper()
	invalid, is := errors.AsType[*task.Invalid](err)
	assert.That(s, is && invalid.Field == field, "error is %v, want an *Invalid of the field %q", err, field)
}

// applied is the error of an act.
func (s *suite) applied(owner string, a task.Act) error {
	_, _, err := s.db.Apply(s.ctx, owner, a)
	return err
}

var taskTests = map[string]func(*suite){
	"AddedTaskIsKeptAsGiven": func(s *suite) {
		description := "1 l, 3.5 %\n\tor “oat” 🥛 e\u0301"
		at := noon.Add(1500 * time.Microsecond).In(time.FixedZone("east", 3600))
		a := task.Act{Key: "k", Action: task.Add, Actor: "cli", At: at, Change: func(now *task.Task) (*task.Task,
			error) {
			return &task.Task{ID: 99, Version: 99, Title: "Buy Milk",
				Description: &description, Status: task.Pending, CreatedAt: at}, nil
		}}
		c, again, err := s.db.Apply(s.ctx, "ada", a)
		assert.NoError(s, err)
		want := task.Task{ID: c.Task, Title: "Buy Milk", Description: &description, Status: task.Pending,
			CreatedAt: after(time.Millisecond), Version: 1}
		s.same("change", c, task.Change{ID: c.ID, Task: c.Task, Action: task.Add, Actor: "cli", After: &want,
			At: after(time.Millisecond)})
		s.same("again", again, false)
		assert.That(s, c.ID >= 1 && c.Task >= 1, "the change has the id %d, its task %d", c.ID, c.Task)
		s.same("task", s.task(c.Task), want)
		s.same("history", s.history(c.Task), []task.Change{c})
	},
	"EachChangeGrowsTheVersionByOneAndSaysBeforeAndAfter": func(s *suite) {
		first := s.add("one")
		other := s.add("other")
		second := s.titled(first.ID, "two")
		third := s.completed(first.ID)
		s.deleted(first.ID)
		s.same("versions", []int64{first.Version, second.Version, third.Version}, []int64{1, 2, 3})
		var steps [][2]*task.Task
		var actions []task.Action
		var last int64
		for _, c := range s.history(first.ID) {
			steps = append(steps, [2]*task.Task{c.Before, c.After})
			actions = append(actions, c.Action)
			assert.That(s, c.ID > last && c.Task == first.ID && c.Actor == "test", "after %d there is %+v", last, c)
			last = c.ID
		}
		s.same("before and after", steps, [][2]*task.Task{{nil, &first}, {&first, &second}, {&second, &third},
			{&third, nil}})
		s.same("actions", actions, []task.Action{task.Add, task.Update, task.Complete, task.Delete})
		of, all := s.history(first.ID), s.changes()
		s.same("changes, the latest first", all, []task.Change{of[3], of[2], of[1], s.history(other.ID)[0], of[0]})
		s.same("the latest two", assert.Must(s.db.Changes(s.ctx, "ada", 2))(s), all[:2])
	},
	"WhatChangesNothingWritesNothing": func(s *suite) {
		t := s.completed(s.add("one").ID)
		broken := act(t.ID, "k", "")
		broken.Change = func(now *task.Task) (*task.Task, error) {
			now.Title = "two"
			return now, errAct
		}
		s.unchanged(func() {
			c, again, err := s.db.Apply(s.ctx, "ada", act(t.ID, "k", "one"))
			assert.NoError(s, err)
			s.same("change", c, task.Change{Task: t.ID, Action: task.Update, Actor: "test",
				Before: &t, After: &t, At: noon})
			s.same("again", again, false)
			s.fails(errAct, s.applied("ada", broken))
		})
		s.fails(task.ErrNotFound, errOf(s.db.Made(s.ctx, "ada", "k")))
	},
	"WhatBreaksARuleIsRefused": func(s *suite) {
		t := s.add("one")
		changing := func(change func(*task.Task)) func(*task.Act) {
			return func(a *task.Act) {
				a.Change = func(now *task.Task) (*task.Task, error) {
					change(now)
					return now, nil
				}
			}
		}
		s.unchanged(func() {
			for field, spoil := range map[string]func(*task.Act){
				"title":           changing(func(t *task.Task) { t.Title = "a\x00b" }),
				"description":     changing(func(t *task.Task) { t.Description = new(strings.Repeat("ü", 1001)) }),
				"status":          changing(func(t *task.Task) { t.Status = "done" }),
				"completed_at":    changing(func(t *task.Task) { t.Status = task.Completed }),
				"idempotency_key": func(a *task.Act) { a.Key = "a\xff" },
				"actor":           func(a *task.Act) { a.Actor = "a\x00" },
				"action":          func(a *task.Act) { a.Action = "" },
				"task_id":         func(a *task.Act) { a.Task = 0 },
				"undoes":          func(a *task.Act) { a.Undoes = 1 },
			} {
				a := act(t.ID, "", "two")
				spoil(&a)
				s.invalid(field, s.applied("ada", a))
			}
			s.invalid("owner", s.applied("", act(t.ID, "", "two")))
		})
	},
	"TaskOfAnotherDoesNotExist": func(s *suite) {
		t := s.titled(s.add("one").ID, "two")
		_, _, err := s.tasks().Add(s.ctx, task.By{Owner: "bob", Key: "k"}, "bob's", nil)
		assert.NoError(s, err)
		undo := task.Act{Task: t.ID, Action: task.Undo, Undoes: s.changes()[0].ID, Change: func(*task.Task) (*task.Task,
			error) {
			return nil, nil
		}}
		s.unchanged(func() {
			s.fails(task.ErrNotFound, s.applied("bob", act(t.ID, "", "stolen")), s.applied("bob", undo),
				errOf(s.db.Task(s.ctx, "bob", t.ID)),
				errOf(s.db.History(s.ctx, "bob", t.ID)), errOf(s.db.Made(s.ctx, "ada", "k")))
		})
		bobs := assert.Must(s.db.Tasks(s.ctx, "bob", task.Filter{}))(s)
		s.same("ada's tasks", s.titles(task.Filter{}), []string{"two"})
		s.same("ada's tasks after one of bob's", s.titles(task.Filter{After: bobs[0].ID}), []string{})
		s.same("bob's tasks", titlesOf(bobs), []string{"bob's"})
		s.same("bob's changes", len(assert.Must(s.db.Changes(s.ctx, "bob", 0))(s)), 1)
		s.fails(task.ErrNoChange, errOf(s.tasks().Undo(s.ctx, task.By{Owner: "carol"})))
	},
	"DeletedTaskIsThereNoMoreAndItsIDIsNotUsedAgain": func(s *suite) {
		ids := []int64{s.add("one").ID, s.add("two").ID}
		s.deleted(ids[1])
		s.deleted(ids[0])
		_, _, err := s.tasks().Delete(s.ctx, byAda, ids[0], 0)
		s.fails(task.ErrNotFound, err, errOf(s.db.Task(s.ctx, "ada", ids[0])), s.applied("ada", act(ids[0], "", "two")),
			errOf(s.db.History(s.ctx, "ada", 1<<40)))
		s.same("tasks", s.titles(task.Filter{}), []string{})
		s.same("history", len(s.history(ids[0])), 2)
		ids = append(ids, s.add("three").ID, s.add("four").ID)
		assert.That(s, slices.IsSorted(ids) && len(slices.Compact(ids)) == 4,
			"ids are %v, want each above the one before", ids)
	},
	"OfChangesAtOnceEachSeesTheOneBefore": func(s *suite) {
		t := s.add("1")
		assert.NoError(s, errors.Join(together(12, func(int) error { return s.applied("ada", numbered(t.ID)) })...))
		s.same("title", s.task(t.ID).Title, "13")
		for i, c := range s.history(t.ID) {
			s.same("version", c.After.Version, int64(i)+1)
		}
	},
	"OfThoseWhoChangeAVersionAtOnceOneDoes": func(s *suite) {
		t := s.add("one")
		s.oneWins(8, task.ErrConflict, func(i int) error {
			_, _, err := s.tasks().Update(s.ctx, byAda, t.ID, t.Version, task.Edit{Title: new(fmt.Sprint("by ", i))})
			return err
		})
		s.same("version", s.task(t.ID).Version, int64(2))
	},
	"EndedContextEndsEveryCallOnTasks": func(s *suite) {
		t := s.add("one")
		s.ended(func(ctx context.Context) map[string]error {
			_, _, err := s.db.Apply(ctx, "ada", act(t.ID, "k", "two"))
			return map[string]error{
				"Apply": err, "Made": errOf(s.db.Made(ctx, "ada", "k")),
				"Tasks": errOf(s.db.Tasks(ctx, "ada", task.Filter{})),
				"Count": errOf(s.db.Count(ctx, "ada", task.Filter{})), "Task": errOf(s.db.Task(ctx, "ada", t.ID)),
				"History": errOf(s.db.History(ctx, "ada", t.ID)), "Changes": errOf(s.db.Changes(ctx, "ada", 1)),
			}
		})
	},
}

var keyTests = map[string]func(*suite){
	"ChangeUnderAKeyIsMadeOnceAndToldAsItWas": func(s *suite) {
		type told struct {
			task.Task
			flag bool
		}
		t := s.add("one")
		title := "two"
		calls := map[string]func() (told, error){
			"Add": func() (told, error) {
				t, again, err := s.tasks().Add(s.ctx, under("add"), "one", nil)
				return told{t, again}, err
			},
			"Update": func() (told, error) {
				t, again, err := s.tasks().Update(s.ctx, under("edit"), t.ID, 0, task.Edit{Title: &title})
				return told{t, again}, err
			},
			"Complete": func() (told, error) { // which says whether it was completed already
				t, already, err := s.tasks().Complete(s.ctx, under("done"), t.ID, 0)
				return told{t, !already}, err
			},
			"Delete": func() (told, error) {
				t, again, err := s.tasks().Delete(s.ctx, under("delete"), t.ID, 0)
				return told{t, again}, err
			},
		}
		for _, name := range []string{"Add", "Update", "Complete", "Delete"} {
			first := assert.Must(calls[name]())(s)
			s.same(name+": again", first.flag, name == "Complete")
			s.add("between")
			s.unchanged(func() {
				second := assert.Must(calls[name]())(s)
				s.same(name+": the task", second.Task, first.Task)
				s.same(name+": again, or completed by it", second.flag, true)
			})
		}
		s.same("made", assert.Must(s.db.Made(s.ctx, "ada", "delete"))(s), s.history(t.ID)[3])
	},
	"KeyOfAnotherChangeIsRefused": func(s *suite) {
		first, other := s.add("one"), s.add("other")
		assert.NoError(s, s.applied("ada", act(first.ID, "k", "two")))
		s.unchanged(func() {
			tasks := s.tasks()
			_, _, completed := tasks.Complete(s.ctx, under("k"), first.ID, 0)
			_, _, added := tasks.Add(s.ctx, under("k"), "two", nil)
			_, _, updated := tasks.Update(s.ctx, under("k"), first.ID, 0, task.Edit{Title: new("three")})
			for _, err := range []error{completed, added, updated, s.applied("ada", act(other.ID, "k", "two")),
				errOf(tasks.Undo(s.ctx, under("k")))} {
				s.invalid("idempotency_key", err)
			}
		})
	},
	"KeysOfOwnersAreApartAndNoKeyIsNone": func(s *suite) {
		_, _, err := s.tasks().Add(s.ctx, under("k"), "one", nil)
		assert.NoError(s, err)
		_, again, err := s.tasks().Add(s.ctx, task.By{Owner: "bob", Key: "k"}, "bob's", nil)
		assert.NoError(s, err)
		s.same("again", again, false)
		s.add("one")
		s.add("one")
		s.same("tasks", s.titles(task.Filter{}), []string{"one", "one", "one"})
		s.fails(task.ErrNotFound, errOf(s.db.Made(s.ctx, "ada", "")))
	},
	"KeyThatManyUseAtOnceMakesOneChange": func(s *suite) { oneChangeUnderKeys(s, s) },
	"KeyThatManyUseAtOnceForDifferentTasksChangesOne": func(s *suite) {
		var ids []int64
		for range 6 {
			ids = append(ids, s.add("one").ID)
		}
		errs := together(len(ids), func(i int) error {
			return s.applied("ada", act(ids[i], "k", fmt.Sprint("by ", i)))
		})
		winner := slices.Index(errs, nil)
		for i, err := range errs {
			if i != winner {
				s.invalid("idempotency_key", err)
			}
		}
		s.same("changes", len(s.changes()), 7)
	},
}

// oneChangeUnderKeys has many use a key at once, by two handles, and wants one change of it.
func oneChangeUnderKeys(one, two *suite) {
	handles := []*suite{one, two}
	for n, change := range []func(s *suite) error{
		func(s *suite) error { _, _, err := s.tasks().Add(s.ctx, under("add"), "one", nil); return err },
		func(s *suite) error { return s.applied("ada", act(one.changes()[0].Task, "edit", "two")) },
		func(s *suite) error { _, err := s.tasks().Undo(s.ctx, under("undo")); return err },
	} {
		assert.NoError(one, errors.Join(together(8, func(i int) error { return change(handles[i%2]) })...))
		one.same("changes", len(two.changes()), n+1)
	}
}

var taskListTests = map[string]func(*suite){
	"PagesHaveEveryTaskOnceInOrderOfCreationOrTheNewestFirst": func(s *suite) {
		for i, second := range []int{3, 1, 2, 2, 2, 5, 4} {
			s.addAt(fmt.Sprint(second, "/", i), after(time.Duration(second)*time.Second))
		}
		want := []string{"1/1", "2/2", "2/3", "2/4", "3/0", "4/6", "5/5"}
		for _, newest := range []bool{false, true} {
			for size := range len(want) + 2 {
				var got []task.Task
				f := task.Filter{Newest: newest, Limit: size}
				for page := assert.Must(s.db.Tasks(s.ctx, "ada", f))(s); len(page) > 0; page = assert.Must(s.db.Tasks(s.ctx, "ada",
					f))(s) {
					got = append(got, page...)
					f.After = page[len(page)-1].ID
				}
				s.same(fmt.Sprint("pages of ", size), titlesOf(got), want)
			}
			slices.Reverse(want)
		}
	},
	"FilterSelectsByStatusAndIDsAndGoesOnAfterATask": func(s *suite) {
		var ids []int64
		for _, title := range []string{"a", "b", "c", "d", "gone"} {
			ids = append(ids, s.add(title).ID)
		}
		s.completed(ids[1])
		s.completed(ids[2])
		s.deleted(ids[4])
		for want, f := range map[string]task.Filter{
			"[a d]":     {Status: task.Pending},
			"[b c]":     {Status: task.Completed},
			"[a c]":     {IDs: []int64{ids[2], ids[0], ids[2], 1 << 40}},
			"[c]":       {Status: task.Completed, IDs: []int64{ids[2], ids[0]}},
			"[a b c d]": {IDs: []int64{}},
			"[]":        {IDs: []int64{1 << 40}},
		} {
			s.same("titles", fmt.Sprint(s.titles(f)), want)
			s.same("count of "+want, assert.Must(s.db.Count(s.ctx, "ada", f))(s), len(s.titles(f)))
		}
		s.same("after a completed one", s.titles(task.Filter{Status: task.Pending, After: ids[1]}), []string{"d"})
		s.same("after a deleted one", s.titles(task.Filter{Newest: true, After: ids[4]}), []string{"d", "c", "b", "a"})
		s.same("after none", s.titles(task.Filter{After: 1 << 40}), []string{})
		s.same("count, whatever After and Limit",
			assert.Must(s.db.Count(s.ctx, "ada", task.Filter{After: ids[2], Limit: 1}))(s), 4)
	},
	"ServicePagesAndCounts": func(s *suite) {
		for _, title := range []string{"a", "b", "c"} {
			s.add(title)
		}
		all := assert.Must(s.db.Tasks(s.ctx, "ada", task.Filter{}))(s)
		for _, c := range []struct {
			filter task.Filter
			titles []string
			next   int64
		}{
			{task.Filter{Limit: 2}, []string{"a", "b"}, all[1].ID},
			{task.Filter{Limit: 2, After: all[1].ID}, []string{"c"}, 0},
			{task.Filter{Limit: 3}, []string{"a", "b", "c"}, 0},
			{task.Filter{After: all[2].ID}, []string{}, 0},
		} {
			page := assert.Must(s.tasks().List(s.ctx, "ada", task.Query{Filter: c.filter}))(s)
			s.same(fmt.Sprintf("%+v", c.filter), []any{titlesOf(page.Tasks), page.Total, page.Next},
				[]any{c.titles, 3, c.next})
		}
		s.invalid("after", errOf(s.tasks().List(s.ctx, "ada", task.Query{Filter: task.Filter{After: 1 << 40}})))
	},
}

var undoTests = map[string]func(*suite){
	"UndoWalksBackStepByStep": func(s *suite) {
		t := s.add("one")
		other := s.add("other")
		s.titled(t.ID, "two")
		done := s.completed(t.ID)
		s.deleted(t.ID)

		c := s.undo()
		back := s.task(t.ID)
		s.same("undone deletion", *c.After, back)
		s.same("what is back", []any{c.Action, c.Before == nil, back.ID, back.Title, back.Status, back.Version,
			*back.CompletedAt},
			[]any{task.Undo, true, t.ID, "two", task.Completed, done.Version + 1, *done.CompletedAt})
		s.undo()
		s.same("after the completion was undone", s.task(t.ID).Status, task.Pending)
		s.undo()
		s.same("after the update was undone", s.task(t.ID).Title, "one")
		s.same("what the undo takes back", s.changes()[0].Undoes, s.history(t.ID)[1].ID)
		s.titled(t.ID, "three") // a change that follows an undo
		s.undo()
		s.same("after that one was undone", s.task(t.ID).Title, "one")
		s.undo()
		s.same("after the second task was undone", s.titles(task.Filter{}), []string{"one"})
		s.undo()
		s.same("after all was undone", s.titles(task.Filter{}), []string{})
		s.unchanged(func() { s.fails(task.ErrNoChange, errOf(s.tasks().Undo(s.ctx, byAda))) })
		s.fails(task.ErrNotFound, errOf(s.tasks().Task(s.ctx, "ada", other.ID)))
	},
	"UndoOfATaskThatChangedMeanwhileIsAConflict": func(s *suite) {
		t := s.add("one")
		s.titled(t.ID, "two")
		race := &meanwhile{Store: s.db, do: func() { s.titled(t.ID, "three") }}
		s.fails(task.ErrConflict, errOf(tasksOver(race).Undo(s.ctx, byAda)))
		s.same("title", s.task(t.ID).Title, "three")
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
