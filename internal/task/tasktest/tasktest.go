// Package tasktest holds the suite that every task.Store passes. Each guarantee that
// package task states is a subtest named after it.
package tasktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/task"
)

// Run checks a Store. Each call of open returns an empty one, and closes it after the test.
func Run(t *testing.T, open func(t *testing.T) task.Store) {
	for group, tests := range map[string]map[string]func(*suite){
		"Changes": changeTests, "Keys": keyTests, "Lists": listTests, "History": historyTests, "Undo": undoTests, "Calls": callTests,
	} {
		t.Run(group, func(t *testing.T) {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(newSuite(t, open(t)))
				})
			}
		})
	}
}

// RunShared checks what holds for a Store that several processes share and that outlives them. place makes an empty place for one, and
// returns a function that opens what is there, also while it is open elsewhere, and closes it after the test.
func RunShared(t *testing.T, place func(t *testing.T) (open func() task.Store)) {
	for name, test := range sharedTests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := place(t)
			test(newSuite(t, open()), newSuite(t, open()))
		})
	}
}

// noon is the moment the tests start from.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return noon.Add(d) }

// suite is a store, and a service over it on a clock that goes on by a minute with each change.
type suite struct {
	*testing.T
	ctx   context.Context
	store task.Store
	*task.Service
	mu  sync.Mutex
	now time.Time
}

func newSuite(t *testing.T, store task.Store) *suite {
	s := &suite{T: t, ctx: t.Context(), store: store, now: noon}
	s.Service = task.New(store, func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now = s.now.Add(time.Minute)
		return s.now
	})
	return s
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatalf("unexpected error: %v", err)
	}
}

// fails wants err to match target.
func (s *suite) fails(err, target error) {
	s.Helper()
	if !errors.Is(err, target) {
		s.Errorf("error is %v, want one that matches %q", err, target)
	}
}

// invalid wants err to be an *Invalid of a field.
func (s *suite) invalid(err error, field string) {
	s.Helper()
	var invalid *task.Invalid
	if !errors.As(err, &invalid) || invalid.Field != field {
		s.Errorf("error is %v, want an *Invalid of the field %q", err, field)
	}
}

func (s *suite) same(what string, got, want any) {
	s.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		s.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// ada is who most tests are about; each change of theirs is made without a key.
var ada = task.By{Owner: "ada", Actor: "test"}

// under is ada with a key.
func under(key string) task.By { return task.By{Owner: "ada", Actor: "test", Key: key} }

// add adds a task of ada's without a description.
func (s *suite) add(title string) task.Task {
	s.Helper()
	t, _, err := s.Add(s.ctx, ada, title, nil)
	s.ok(err)
	return t
}

// titled renames a task of ada's.
func (s *suite) titled(id int64, title string) task.Task {
	s.Helper()
	t, _, err := s.Update(s.ctx, ada, id, 0, task.Edit{Title: &title})
	s.ok(err)
	return t
}

func (s *suite) completed(id int64) task.Task {
	s.Helper()
	t, _, err := s.Complete(s.ctx, ada, id, 0)
	s.ok(err)
	return t
}

func (s *suite) deleted(id int64) {
	s.Helper()
	_, _, err := s.Delete(s.ctx, ada, id, 0)
	s.ok(err)
}

func (s *suite) undo() task.Change {
	s.Helper()
	c, err := s.Undo(s.ctx, ada)
	s.ok(err)
	return c
}

// get is a task of ada's as it is kept.
func (s *suite) get(id int64) task.Task {
	s.Helper()
	t, err := s.store.Task(s.ctx, "ada", id)
	s.ok(err)
	return t
}

func (s *suite) list(f task.Filter) []task.Task {
	s.Helper()
	all, err := s.store.Tasks(s.ctx, "ada", f)
	s.ok(err)
	return all
}

// titles are those of the tasks that a filter selects.
func (s *suite) titles(f task.Filter) []string {
	s.Helper()
	return titlesOf(s.list(f))
}

func titlesOf(all []task.Task) (titles []string) {
	for _, t := range all {
		titles = append(titles, t.Title)
	}
	return titles
}

func (s *suite) history(id int64) []task.Change {
	s.Helper()
	all, err := s.store.History(s.ctx, "ada", id)
	s.ok(err)
	return all
}

func (s *suite) changes() []task.Change {
	s.Helper()
	all, err := s.store.Changes(s.ctx, "ada", 0)
	s.ok(err)
	return all
}

// unchanged wants do to change nothing of ada's.
func (s *suite) unchanged(do func()) {
	s.Helper()
	tasks, changes := s.list(task.Filter{}), s.changes()
	do()
	s.same("tasks", s.list(task.Filter{}), tasks)
	s.same("changes", s.changes(), changes)
}

// together calls do with each number below n at once.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}
