package tasktest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sibyl/internal/task"
)

// Agree makes the same random calls on a store and one in memory, and wants the same answers and kinds of error from both. The store is
// empty, and nobody else uses it.
func Agree(t *testing.T, store task.Store) {
	p := &pair{ctx: t.Context(), got: store, want: NewMemory(), tasks: map[int64]int64{}, changes: map[int64]int64{}}
	rapid.Check(t, func(rt *rapid.T) {
		p.T = rt
		p.check++
		p.now = noon
		p.gotIDs, p.wantIDs = []int64{1 << 40}, []int64{1 << 40}
		rt.Repeat(map[string]func(*rapid.T){
			"Add":      p.add,
			"Update":   p.update,
			"Complete": p.complete,
			"Delete":   p.delete,
			"Undo":     p.undo,
			"Look":     p.look,
		})
		p.look(rt)
	})
}

// pair is one check: owners and keys are few, so that calls meet, and bear its number, so that checks do not.
type pair struct {
	*rapid.T
	ctx             context.Context
	got, want       task.Store
	check           int
	now             time.Time
	gotIDs, wantIDs []int64         // of the tasks that were added; the first is none
	tasks, changes  map[int64]int64 // ids of the store, and what they are in memory
}

// place is which of the tasks a call is about.
func (p *pair) place() int { return rapid.IntRange(0, len(p.gotIDs)-1).Draw(p.T, "task") }

// both makes a call on both stores and compares what comes back. at is the task that it is about.
func (p *pair) both(name string, at int, call func(s task.Store, id int64) (any, error)) {
	p.Helper()
	got, gotErr := call(p.got, p.gotIDs[at])
	want, wantErr := call(p.want, p.wantIDs[at])
	if got, want := kind(gotErr), kind(wantErr); got != want {
		p.Fatalf("%s: error is %v, want one like %v", name, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, p.renamed(got), cmpopts.EquateEmpty()); diff != "" {
		p.Fatalf("%s (-want +got):\n%s", name, diff)
	}
}

// renamed is what the store gave, with the ids that it has in memory.
func (p *pair) renamed(v any) any {
	switch v := v.(type) {
	case task.Task:
		v.ID = p.tasks[v.ID]
		return v
	case []task.Task:
		all := make([]task.Task, len(v))
		for i := range v {
			all[i] = p.renamed(v[i]).(task.Task)
		}
		return all
	case task.Change:
		v = cloned(v)
		v.Task, v.ID, v.Undoes = p.tasks[v.Task], p.changes[v.ID], p.changes[v.Undoes]
		for _, t := range []*task.Task{v.Before, v.After} {
			if t != nil {
				t.ID = p.tasks[t.ID]
			}
		}
		return v
	case []task.Change:
		all := make([]task.Change, len(v))
		for i := range v {
			all[i] = p.renamed(v[i]).(task.Change)
		}
		return all
	}
	return v
}

// kind returns the text of the error of package task that err is, or the field that is invalid.
func kind(err error) string {
	var invalid *task.Invalid
	if errors.As(err, &invalid) {
		return invalid.Field
	}
	for _, kind := range []error{task.ErrNotFound, task.ErrConflict, task.ErrNoChange} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

func sample[T any](p *pair, label string, of ...T) T { return rapid.SampledFrom(of).Draw(p.T, label) }

func (p *pair) owner() string {
	return fmt.Sprint(sample(p, "owner", "ada", "ada", "ada", "bob"), p.check)
}

func (p *pair) title() string { return sample(p, "title", "one", "two", "drei", "ß🦉", "") }

// change makes a change with both, and learns the ids.
func (p *pair) change(name string, at int, call func(s *task.Service, by task.By, id int64) (any, error)) {
	p.Helper()
	by := task.By{Owner: p.owner(), Actor: "test", Key: sample(p, "key", "", "", "", "k", "l")}
	p.now = p.now.Add(time.Duration(rapid.IntRange(-1500, 4000).Draw(p.T, "later")) * time.Microsecond)
	p.both(name, at, func(s task.Store, id int64) (any, error) {
		v, err := call(task.New(s, func() time.Time { return p.now }), by, id)
		if s == p.want {
			p.learn(by.Owner)
		}
		return v, err
	})
}

// learn pairs the ids of the latest changes of an owner.
func (p *pair) learn(owner string) {
	got, err := p.got.Changes(p.ctx, owner, 1)
	want, wantErr := p.want.Changes(p.ctx, owner, 1)
	if err != nil || wantErr != nil || len(got) != len(want) {
		p.Fatalf("changes of %s are %v, error %v; want %v, error %v", owner, got, err, want, wantErr)
	}
	if len(got) == 0 {
		return
	}
	p.changes[got[0].ID] = want[0].ID
	if _, known := p.tasks[got[0].Task]; !known {
		p.tasks[got[0].Task] = want[0].Task
		p.gotIDs, p.wantIDs = append(p.gotIDs, got[0].Task), append(p.wantIDs, want[0].Task)
	}
}

func (p *pair) add(*rapid.T) {
	title, description := p.title(), sample(p, "description", "", "words", "a\nb")
	p.change("Add", 0, func(s *task.Service, by task.By, _ int64) (any, error) {
		t, _, err := s.Add(p.ctx, by, title, &description)
		return t, err
	})
}

func (p *pair) version() int64 { return sample(p, "version", int64(0), 0, 0, 1, 2) }

func (p *pair) update(*rapid.T) {
	e := task.Edit{Title: new(p.title()), Status: sample(p, "status", nil, new(task.Pending), new(task.Completed), new(task.Status("x")))}
	version := p.version()
	p.change("Update", p.place(), func(s *task.Service, by task.By, id int64) (any, error) {
		t, _, err := s.Update(p.ctx, by, id, version, e)
		return t, err
	})
}

func (p *pair) complete(*rapid.T) {
	version := p.version()
	p.change("Complete", p.place(), func(s *task.Service, by task.By, id int64) (any, error) {
		t, _, err := s.Complete(p.ctx, by, id, version)
		return t, err
	})
}

func (p *pair) delete(*rapid.T) {
	version := p.version()
	p.change("Delete", p.place(), func(s *task.Service, by task.By, id int64) (any, error) {
		t, _, err := s.Delete(p.ctx, by, id, version)
		return t, err
	})
}

func (p *pair) undo(*rapid.T) {
	p.change("Undo", 0, func(s *task.Service, by task.By, _ int64) (any, error) { return s.Undo(p.ctx, by) })
}

// look compares all that can be seen.
func (p *pair) look(*rapid.T) {
	owner, at := p.owner(), p.place()
	f := task.Filter{Status: sample(p, "status", "", task.Pending, task.Completed), Newest: rapid.Bool().Draw(p.T, "newest"), Limit: rapid.IntRange(0, 3).Draw(p.T, "limit")}
	some, paged := rapid.Bool().Draw(p.T, "some"), rapid.Bool().Draw(p.T, "paged")
	filter := func(id int64) task.Filter {
		f := f
		if some {
			f.IDs = []int64{id}
		}
		if paged {
			f.After = id
		}
		return f
	}
	p.both("Tasks", at, func(s task.Store, id int64) (any, error) { return s.Tasks(p.ctx, owner, filter(id)) })
	p.both("Count", at, func(s task.Store, id int64) (any, error) { return s.Count(p.ctx, owner, filter(id)) })
	p.both("Task", at, func(s task.Store, id int64) (any, error) { return s.Task(p.ctx, owner, id) })
	p.both("History", at, func(s task.Store, id int64) (any, error) { return s.History(p.ctx, owner, id) })
	p.both("Changes", at, func(s task.Store, _ int64) (any, error) { return s.Changes(p.ctx, owner, f.Limit) })
	p.both("Made", at, func(s task.Store, _ int64) (any, error) { return s.Made(p.ctx, owner, "k") })
}
