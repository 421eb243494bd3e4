package tasktest

import (
	"fmt"
	"slices"
	"time"

	"sibyl/internal/task"
)

// addAt adds a task of ada's that was created at a time.
func (s *suite) addAt(title string, at time.Time) task.Task {
	s.Helper()
	c, _, err := s.store.Apply(s.ctx, "ada", task.Act{Action: task.Add, At: at, Change: func(*task.Task) (*task.Task, error) {
		return &task.Task{Title: title, Status: task.Pending, CreatedAt: at}, nil
	}})
	s.ok(err)
	return *c.After
}

var listTests = map[string]func(*suite){
	"TasksAreListedInOrderOfCreationOrTheNewestFirst": func(s *suite) {
		s.addAt("second", after(time.Second))
		s.addAt("third", after(2*time.Second))
		s.addAt("fourth", after(2*time.Second))
		s.addAt("first", noon)
		want := []string{"first", "second", "third", "fourth"}
		s.same("titles", s.titles(task.Filter{}), want)
		slices.Reverse(want)
		s.same("newest first", s.titles(task.Filter{Newest: true}), want)
	},
	"FilterSelectsByStatusAndIDs": func(s *suite) {
		var ids []int64
		for _, title := range []string{"a", "b", "c", "d"} {
			ids = append(ids, s.add(title).ID)
		}
		s.completed(ids[1])
		s.completed(ids[2])
		for want, f := range map[string]task.Filter{
			"[a d]":     {Status: task.Pending},
			"[b c]":     {Status: task.Completed},
			"[a c]":     {IDs: []int64{ids[2], ids[0], ids[2], 1 << 40}},
			"[c]":       {Status: task.Completed, IDs: []int64{ids[2], ids[0]}},
			"[a b c d]": {IDs: []int64{}},
			"[]":        {IDs: []int64{1 << 40}},
		} {
			s.same("titles", fmt.Sprint(s.titles(f)), want)
			n, err := s.store.Count(s.ctx, "ada", f)
			s.ok(err)
			s.same("count of "+want, n, len(s.titles(f)))
		}
	},
	"PagesHaveEveryTaskOnce": func(s *suite) {
		at := []int{3, 1, 2, 2, 2, 5, 4}
		for i, second := range at {
			s.addAt(fmt.Sprint(second, "/", i), after(time.Duration(second)*time.Second))
		}
		for _, newest := range []bool{false, true} {
			whole := s.list(task.Filter{Newest: newest})
			for size := 1; size <= len(at)+1; size++ {
				var got []task.Task
				f := task.Filter{Newest: newest, Limit: size}
				for page := s.list(f); len(page) > 0; page = s.list(f) {
					got = append(got, page...)
					f.After = page[len(page)-1].ID
				}
				s.same(fmt.Sprint("pages of ", size), titlesOf(got), titlesOf(whole))
			}
		}
	},
	"PageGoesOnAfterATaskThatWasDeletedOrCompleted": func(s *suite) {
		var ids []int64
		for _, title := range []string{"a", "b", "c"} {
			ids = append(ids, s.add(title).ID)
		}
		s.completed(ids[0])
		s.same("after a completed one", s.titles(task.Filter{Status: task.Pending, After: ids[0]}), []string{"b", "c"})
		s.deleted(ids[1])
		s.same("after a deleted one", s.titles(task.Filter{After: ids[1]}), []string{"c"})
		s.same("after none", s.titles(task.Filter{After: 1 << 40}), []string{})
		n, err := s.store.Count(s.ctx, "ada", task.Filter{After: ids[2], Limit: 1})
		s.ok(err)
		s.same("count, whatever After and Limit", n, 2)
	},
	"PageAfterATaskOfAnotherIsEmpty": func(s *suite) {
		bobs, _, err := s.Add(s.ctx, task.By{Owner: "bob"}, "bob's", nil)
		s.ok(err)
		s.add("a")
		s.same("titles", s.titles(task.Filter{After: bobs.ID}), []string{})
	},
	"ServicePagesAndCounts": func(s *suite) {
		for _, title := range []string{"a", "b", "c"} {
			s.add(title)
		}
		first, err := s.List(s.ctx, "ada", task.Query{Filter: task.Filter{Limit: 2}})
		s.ok(err)
		s.same("first", []any{titlesOf(first.Tasks), first.Total, first.Next}, []any{[]string{"a", "b"}, 3, first.Tasks[1].ID})
		second, err := s.List(s.ctx, "ada", task.Query{Filter: task.Filter{Limit: 2, After: first.Next}})
		s.ok(err)
		s.same("second", []any{titlesOf(second.Tasks), second.Total, second.Next}, []any{[]string{"c"}, 3, int64(0)})
		whole, err := s.List(s.ctx, "ada", task.Query{Filter: task.Filter{Limit: 3}})
		s.ok(err)
		s.same("whole", []any{titlesOf(whole.Tasks), whole.Total, whole.Next}, []any{[]string{"a", "b", "c"}, 3, int64(0)})
		_, err = s.List(s.ctx, "ada", task.Query{Filter: task.Filter{After: 1 << 40}})
		s.invalid(err, "after")
		none, err := s.List(s.ctx, "ada", task.Query{Filter: task.Filter{After: second.Tasks[0].ID}})
		s.ok(err)
		s.same("beyond the last", []any{len(none.Tasks), none.Total, none.Next}, []any{0, 3, int64(0)})
	},
}

var historyTests = map[string]func(*suite){
	"HistoryHasTheChangesOfATaskTheOldestFirst": func(s *suite) {
		t, other := s.add("one"), s.add("other")
		s.titled(t.ID, "two")
		s.completed(other.ID)
		s.deleted(t.ID)
		var actions []task.Action
		var last int64
		for _, c := range s.history(t.ID) {
			actions = append(actions, c.Action)
			if c.ID <= last || c.Task != t.ID || c.Actor != "test" {
				s.Errorf("after %d there is %+v", last, c)
			}
			last = c.ID
		}
		s.same("actions", actions, []task.Action{task.Add, task.Update, task.Delete})
		_, err := s.store.History(s.ctx, "ada", 1<<40)
		s.fails(err, task.ErrNotFound)
	},
	"ChangesAreTheLatestFirst": func(s *suite) {
		t, other := s.add("one"), s.add("other")
		s.titled(t.ID, "two")
		_, _, err := s.Add(s.ctx, task.By{Owner: "bob"}, "bob's", nil)
		s.ok(err)
		all := s.changes()
		s.same("changes", all, []task.Change{s.history(t.ID)[1], s.history(other.ID)[0], s.history(t.ID)[0]})
		latest, err := s.store.Changes(s.ctx, "ada", 2)
		s.ok(err)
		s.same("the latest two", latest, all[:2])
	},
}
