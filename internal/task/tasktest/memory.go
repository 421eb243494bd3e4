package tasktest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"sibyl/internal/task"
)

// Memory is a task.Store in this process. It keeps every guarantee but durability.
type Memory struct {
	mu      sync.Mutex
	tasks   map[int64]*entry
	changes []made // the oldest first
}

// entry is a task that there is or was.
type entry struct {
	owner string
	last  task.Task // as it is, or was when it was deleted
	gone  bool
}

// made is a change with whose it is.
type made struct {
	owner, key string
	task.Change
}

var _ task.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{tasks: map[int64]*entry{}} }

// alone runs do while nobody else reads or writes.
func (m *Memory) alone(ctx context.Context, do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	return do()
}

func (m *Memory) Apply(ctx context.Context, owner string, a task.Act) (c task.Change, again bool, err error) {
	if err := a.Check(owner); err != nil {
		return task.Change{}, false, err
	}
	err = m.alone(ctx, func() (err error) {
		if c, err = m.under(owner, a.Key); err == nil {
			again = true
			return a.Repeats(c)
		}
		c, err = m.apply(owner, a)
		return err
	})
	if err != nil {
		return task.Change{}, false, err
	}
	return c, again, nil
}

func (m *Memory) apply(owner string, a task.Act) (task.Change, error) {
	var now *task.Task
	var version int64
	if a.Action != task.Add {
		e := m.tasks[a.Task]
		if e == nil || e.owner != owner {
			return task.Change{}, task.ErrNotFound
		}
		version = e.last.Version
		if !e.gone {
			now = &e.last
		}
	}
	c, err := a.Step(now, version)
	if err != nil || !c.Changed() {
		return c, err
	}
	if a.Action == task.Add {
		c.Task = int64(len(m.tasks)) + 1
		c.After.ID = c.Task
		m.tasks[c.Task] = &entry{owner: owner}
	}
	if e := m.tasks[c.Task]; c.After == nil {
		e.gone = true
	} else {
		e.last, e.gone = c.After.Clone(), false
	}
	c.ID = int64(len(m.changes)) + 1
	m.changes = append(m.changes, made{owner, a.Key, cloned(c)})
	return c, nil
}

// cloned is a change that shares nothing with c.
func cloned(c task.Change) task.Change {
	for _, t := range []**task.Task{&c.Before, &c.After} {
		if *t != nil {
			*t = new((*t).Clone())
		}
	}
	return c
}

// under returns the change that was made under a key.
func (m *Memory) under(owner, key string) (task.Change, error) {
	for _, c := range m.changes {
		if key != "" && c.owner == owner && c.key == key {
			return cloned(c.Change), nil
		}
	}
	return task.Change{}, task.ErrNotFound
}

func (m *Memory) Made(ctx context.Context, owner, key string) (c task.Change, err error) {
	err = m.alone(ctx, func() (err error) {
		c, err = m.under(owner, key)
		return err
	})
	return c, err
}

// chosen are the tasks that a filter selects, whatever its After and Limit.
func (m *Memory) chosen(owner string, f task.Filter) (found []task.Task) {
	for id, e := range m.tasks {
		if e.owner == owner && !e.gone && (f.Status == "" || f.Status == e.last.Status) && (len(f.IDs) == 0 || slices.Contains(f.IDs, id)) {
			found = append(found, e.last.Clone())
		}
	}
	return found
}

func (m *Memory) Tasks(ctx context.Context, owner string, f task.Filter) (found []task.Task, err error) {
	err = m.alone(ctx, func() error {
		after := m.tasks[f.After]
		if f.After != 0 && (after == nil || after.owner != owner) {
			return nil
		}
		order := func(a, b task.Task) int {
			n := cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
			if f.Newest {
				return -n
			}
			return n
		}
		found = m.chosen(owner, f)
		if after != nil {
			found = slices.DeleteFunc(found, func(t task.Task) bool { return order(t, after.last) <= 0 })
		}
		slices.SortFunc(found, order)
		if f.Limit > 0 {
			found = found[:min(f.Limit, len(found))]
		}
		return nil
	})
	return found, err
}

func (m *Memory) Count(ctx context.Context, owner string, f task.Filter) (n int, err error) {
	err = m.alone(ctx, func() error {
		n = len(m.chosen(owner, f))
		return nil
	})
	return n, err
}

func (m *Memory) Task(ctx context.Context, owner string, id int64) (t task.Task, err error) {
	err = m.alone(ctx, func() error {
		e := m.tasks[id]
		if e == nil || e.owner != owner || e.gone {
			return task.ErrNotFound
		}
		t = e.last.Clone()
		return nil
	})
	return t, err
}

func (m *Memory) History(ctx context.Context, owner string, id int64) (all []task.Change, err error) {
	err = m.alone(ctx, func() error {
		for _, c := range m.changes {
			if c.owner == owner && c.Task == id {
				all = append(all, cloned(c.Change))
			}
		}
		if len(all) == 0 {
			return task.ErrNotFound
		}
		return nil
	})
	return all, err
}

func (m *Memory) Changes(ctx context.Context, owner string, limit int) (all []task.Change, err error) {
	err = m.alone(ctx, func() error {
		for _, c := range slices.Backward(m.changes) {
			if c.owner == owner && (limit == 0 || len(all) < limit) {
				all = append(all, cloned(c.Change))
			}
		}
		return nil
	})
	return all, err
}
