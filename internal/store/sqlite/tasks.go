package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"sibyl/internal/task"
)

var _ task.Store = (*DB)(nil)

const (
	selectTask   = `SELECT id, title, description, status, created_at, completed_at, version, gone FROM task `
	selectChange = `SELECT id, task, action, actor, before, after, undoes, at FROM task_change `
)

// keptTask is a task that there is or was.
type keptTask struct {
	task.Task
	gone bool
}

func scanTask(r row) keptTask {
	t := keptTask{gone: r.int(7) != 0}
	t.ID, t.Title, t.Status, t.CreatedAt, t.Version = r.int(0), r.text(1), task.Status(r.text(3)), r.time(4), r.int(6)
	if description := r.text(2); description != "" {
		t.Description = &description
	}
	if at := r.time(5); !at.IsZero() {
		t.CompletedAt = &at
	}
	return t
}

// scannedChange is a change whose tasks are JSON yet.
type scannedChange struct {
	task.Change
	before, after string
}

func scanChange(r row) scannedChange {
	return scannedChange{task.Change{ID: r.int(0), Task: r.int(1), Action: task.Action(r.text(2)), Actor: r.text(3), Undoes: r.int(6), At: r.time(7)},
		r.text(4), r.text(5)}
}

// changesOf reads the tasks of changes.
func (db *DB) changesOf(found []scannedChange, err error) ([]task.Change, error) {
	if err != nil {
		return nil, err
	}
	all := make([]task.Change, len(found))
	for i, c := range found {
		if c.Before, err = taskOf(c.before); err == nil {
			c.After, err = taskOf(c.after)
		}
		if err != nil {
			return nil, db.corrupt(fmt.Errorf("change %d of a task: %w", c.ID, err))
		}
		all[i] = c.Change
	}
	return all, nil
}

// taskOf is the task of a text of told's, nil if there is none.
func taskOf(text string) (t *task.Task, err error) {
	if text == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(text), &t)
	return t, err
}

// onlyChange returns the one change that a query by its key has found.
func onlyChange(found []task.Change, err error) (task.Change, error) {
	if err == nil && len(found) == 0 {
		err = task.ErrNotFound
	}
	if err != nil {
		return task.Change{}, err
	}
	return found[0], nil
}

// Apply implements task.Store.
func (db *DB) Apply(ctx context.Context, owner string, a task.Act) (c task.Change, again bool, err error) {
	if err := a.Check(owner); err != nil {
		return task.Change{}, false, err
	}
	err = db.write(ctx, func(t tx) (err error) {
		c, again, err = db.apply(t, owner, a)
		return err
	})
	if err != nil {
		return task.Change{}, false, err
	}
	return c, again, nil
}

func (db *DB) apply(t tx, owner string, a task.Act) (c task.Change, again bool, err error) {
	if a.Key != "" {
		made, err := db.changesOf(rows(t, scanChange, selectChange+`WHERE owner = ? AND key = ?`, owner, a.Key))
		if err != nil {
			return task.Change{}, false, err
		}
		if len(made) > 0 {
			return made[0], true, a.Repeats(made[0])
		}
	}
	var now *task.Task
	var last keptTask
	if a.Action != task.Add {
		found, err := rows(t, scanTask, selectTask+`WHERE id = ? AND owner = ?`, a.Task, owner)
		if err == nil && len(found) == 0 {
			err = task.ErrNotFound
		}
		if err != nil {
			return task.Change{}, false, err
		}
		if last = found[0]; !last.gone {
			now = &last.Task
		}
	}
	c, err = a.Step(now, last.Version)
	if err == nil && c.Changed() {
		err = t.keepChange(owner, a.Key, &c)
	}
	return c, false, err
}

// keepChange writes a change and the task as it is after it, and gives them their ids.
func (t tx) keepChange(owner, key string, c *task.Change) (err error) {
	switch {
	case c.Action == task.Add:
		c.Task, _, err = t.insert(`INSERT INTO task (owner, title, description, status, created_at, completed_at, version, gone) VALUES (?, ?, ?, ?, ?, ?, ?, 0)`,
			append([]any{owner}, taskRow(*c.After)...)...)
		c.After.ID = c.Task
	case c.After == nil:
		err = t.run(`UPDATE task SET gone = 1 WHERE id = ?`, c.Task)
	default:
		err = t.run(`UPDATE task SET title = ?, description = ?, status = ?, created_at = ?, completed_at = ?, version = ?, gone = 0 WHERE id = ?`,
			append(taskRow(*c.After), c.Task)...)
	}
	if err != nil {
		return err
	}
	before, err := told(c.Before)
	if err != nil {
		return err
	}
	after, err := told(c.After)
	if err != nil {
		return err
	}
	c.ID, _, err = t.insert(`INSERT INTO task_change (owner, task, key, action, actor, before, after, undoes, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		owner, c.Task, unlessZero(key), string(c.Action), c.Actor, before, after, unlessZero(c.Undoes), c.At.UnixMilli())
	return err
}

// taskRow are what a task's row holds beside its id.
func taskRow(t task.Task) []any {
	var description, completed any
	if t.Description != nil {
		description = *t.Description
	}
	if t.CompletedAt != nil {
		completed = t.CompletedAt.UnixMilli()
	}
	return []any{t.Title, description, string(t.Status), t.CreatedAt.UnixMilli(), completed, t.Version}
}

// told is a task as JSON, nil if there is none.
func told(t *task.Task) (any, error) {
	if t == nil {
		return nil, nil
	}
	text, err := json.Marshal(t)
	return string(text), err
}

// unlessZero is NULL for what is not set.
func unlessZero[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

// Made implements task.Store.
func (db *DB) Made(ctx context.Context, owner, key string) (task.Change, error) {
	return onlyChange(db.changesOf(read(ctx, db, everything, scanChange, selectChange+`WHERE owner = ? AND key = ?`, owner, key)))
}

// selected are the tasks that a filter selects, whatever its After and Limit.
func selected(owner string, f task.Filter) (where string, args []any, err error) {
	where, args = `WHERE owner = ? AND gone = 0`, []any{owner}
	if f.Status != "" {
		where, args = where+` AND status = ?`, append(args, string(f.Status))
	}
	if len(f.IDs) > 0 {
		var ids []byte
		ids, err = json.Marshal(f.IDs)
		where, args = where+` AND id IN (SELECT value FROM json_each(?))`, append(args, string(ids))
	}
	return where, args, err
}

// Tasks implements task.Store.
func (db *DB) Tasks(ctx context.Context, owner string, f task.Filter) ([]task.Task, error) {
	where, args, err := selected(owner, f)
	if err != nil {
		return nil, err
	}
	beyond, order := `>`, ` ORDER BY created_at, id`
	if f.Newest {
		beyond, order = `<`, ` ORDER BY created_at DESC, id DESC`
	}
	if f.After != 0 {
		where += ` AND (created_at, id) ` + beyond + ` (SELECT created_at, id FROM task WHERE id = ? AND owner = ?)`
		args = append(args, f.After, owner)
	}
	limit := everything
	if f.Limit > 0 {
		limit = f.Limit
	}
	found, err := read(ctx, db, limit, scanTask, selectTask+where+order, args...)
	all := make([]task.Task, len(found))
	for i, t := range found {
		all[i] = t.Task
	}
	return all, err
}

// Count implements task.Store.
func (db *DB) Count(ctx context.Context, owner string, f task.Filter) (int, error) {
	where, args, err := selected(owner, f)
	if err != nil {
		return 0, err
	}
	found, err := read(ctx, db, everything, firstInt, `SELECT count(*) FROM task `+where, args...)
	if err != nil {
		return 0, err
	}
	return int(found[0]), nil
}

// Task implements task.Store.
func (db *DB) Task(ctx context.Context, owner string, id int64) (task.Task, error) {
	found, err := read(ctx, db, everything, scanTask, selectTask+`WHERE id = ? AND owner = ? AND gone = 0`, id, owner)
	if err == nil && len(found) == 0 {
		err = task.ErrNotFound
	}
	if err != nil {
		return task.Task{}, err
	}
	return found[0].Task, nil
}

// History implements task.Store.
func (db *DB) History(ctx context.Context, owner string, id int64) ([]task.Change, error) {
	all, err := db.changesOf(read(ctx, db, everything, scanChange, selectChange+`WHERE task = ? AND owner = ? ORDER BY id`, id, owner))
	if err == nil && len(all) == 0 {
		err = task.ErrNotFound
	}
	return all, err
}

// Changes implements task.Store.
func (db *DB) Changes(ctx context.Context, owner string, limit int) ([]task.Change, error) {
	if limit == 0 {
		limit = everything
	}
	return db.changesOf(read(ctx, db, limit, scanChange, selectChange+`WHERE owner = ? ORDER BY id DESC`, owner))
}
