package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/task"
)

var _ task.Store = (*DB)(nil)

const (
	selectTask   = `SELECT id, title, description, status, created_at, completed_at, version, gone FROM task `
	selectChange = `SELECT id, task, action, actor, before, after, coalesce(undoes, 0), at FROM task_change `
)

// keptTask is a task's row. gone is 1 if the task was removed; it can be restored.
type keptTask struct {
	task.Task
	gone int64
}

func scanTask(r row, t *keptTask) error {
	var completed time.Time
	err := r.Scan(&t.ID, &t.Title, &t.Description, &t.Status, millis{&t.CreatedAt}, millis{&completed}, &t.Version,
		&t.gone)
	if !completed.IsZero() {
		t.CompletedAt = &completed
	}
	return err
}

// tasksOf returns the tasks of rows.
func tasksOf(found []keptTask) []task.Task {
	all := make([]task.Task, len(found))
	for i, t := range found {
		all[i] = t.Task
	}
	return all
}

func scanChange(r row, c *task.Change) error {
	return r.Scan(&c.ID, &c.Task, &c.Action, &c.Actor, asJSON{&c.Before}, asJSON{&c.After}, &c.Undoes, millis{&c.At})
}

// asJSON scans a task stored as JSON; nil for NULL. Its error matches errUnreadable.
type asJSON struct{ task **task.Task }

// errUnreadable means that the JSON of a change's task is invalid.
var errUnreadable = errors.New("a change of a task can't be read")

// Scan implements sql.Scanner.
func (j asJSON) Scan(v any) error {
	*j.task = nil
	text, there := v.(string)
	if !there {
		return nil
	}
	if err := json.Unmarshal([]byte(text), j.task); err != nil {
		return fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return nil
}

// taskJSON returns a task as JSON; NULL for nil.
func taskJSON(t *task.Task) (any, error) {
	if t == nil {
		return nil, nil
	}
	text, err := json.Marshal(t)
	return string(text), err
}

// explainUnreadable wraps errUnreadable as journal.ErrCorrupt. It returns other errors unchanged.
func (db *DB) explainUnreadable(err error) error {
	if errors.Is(err, errUnreadable) {
		return db.corruptError(err)
	}
	return err
}

// changes returns the changes that a condition selects.
func (db *DB) changes(ctx context.Context, query string, args ...any) ([]task.Change, error) {
	all, err := readRows(ctx, db, scanChange, selectChange+query, args...)
	return all, db.explainUnreadable(err)
}

// errKeyMeanwhile means that another write used the key after it was looked up.
var errKeyMeanwhile = errors.New("the key was used up meanwhile")

// Apply implements task.Store.
func (db *DB) Apply(ctx context.Context, owner string, a task.Act) (c task.Change, again bool, err error) {
	if err := a.Check(owner); err != nil {
		return task.Change{}, false, err
	}
	apply := func(t *tx) (err error) {
		c, again, err = t.applyAct(owner, a)
		return err
	}
	err = db.write(ctx, apply)
	if errors.Is(err, errKeyMeanwhile) {
		err = db.write(ctx, apply) // now it finds the other change
	}
	if err != nil {
		return task.Change{}, false, db.explainUnreadable(err)
	}
	return c, again, nil
}

// applyAct locks the task, then returns the change that has the key already, with again true, or makes it. It looks up
// the key after locking, to see changes made during the wait. A change without effect is returned, but not stored.
func (t *tx) applyAct(owner string, a task.Act) (c task.Change, again bool, err error) {
	var last []keptTask
	if a.Action != task.Add {
		queryChecked(t, scanTask, func(found []keptTask) error {
			last = found
			return nil
		}, selectTask+`WHERE id = $1 AND owner = $2 FOR UPDATE`, a.Task, owner)
	}
	// A change that is found is locked: so the commit waits until it is as durable as a new one.
	made, err := queryRows(t, scanChange, selectChange+`WHERE owner = $1 AND key = $2 FOR KEY SHARE`, owner, a.Key)
	if err != nil {
		return task.Change{}, false, err
	}
	if len(made) > 0 {
		return made[0], true, a.Repeats(made[0])
	}
	var now *task.Task
	var version int64
	if a.Action != task.Add {
		if len(last) == 0 {
			return task.Change{}, false, task.ErrNotFound
		}
		if version = last[0].Version; last[0].gone == 0 {
			now = &last[0].Task
		}
	}
	c, err = a.Step(now, version)
	if err == nil && c.Changed() {
		err = t.keepChange(owner, a.Key, &c)
	}
	return c, false, err
}

// keepChange stores a change and the changed task, and sets their ids; errKeyMeanwhile if the key is used.
func (t *tx) keepChange(owner, key string, c *task.Change) (err error) {
	switch {
	case c.Action == task.Add:
		var ids []int64
		ids, err = queryRows(t, scanValue[int64], `
			INSERT INTO task (owner, title, description, status, created_at, completed_at, version, gone)
			VALUES ($1, $2, $3, $4, $5, $6, $7, 0)
			RETURNING id`, append([]any{owner}, taskColumns(*c.After)...)...)
		if err == nil {
			c.Task, c.After.ID = ids[0], ids[0]
		}
	case c.After == nil:
		t.run(`UPDATE task SET gone = 1 WHERE id = $1`, c.Task)
	default:
		t.run(`
			UPDATE task SET title = $2, description = $3, status = $4, created_at = $5, completed_at = $6, version = $7, gone = 0
			WHERE id = $1`,
			append([]any{c.Task}, taskColumns(*c.After)...)...)
	}
	if err != nil {
		return err
	}
	before, err := taskJSON(c.Before)
	if err != nil {
		return err
	}
	after, err := taskJSON(c.After)
	if err != nil {
		return err
	}
	ids, err := queryRows(t, scanValue[int64], `
		INSERT INTO task_change (owner, task, key, action, actor, before, after, undoes, at)
		VALUES ($1, $2, nullif(CAST($3 AS text), ''), $4, $5, $6, $7, nullif(CAST($8 AS bigint), 0), $9)
		ON CONFLICT (owner, key) WHERE key IS NOT NULL DO NOTHING RETURNING id`,
		owner, c.Task, key, string(c.Action), c.Actor, before, after, c.Undoes, c.At.UnixMilli())
	if c.ID, err = onlyRow(ids, err, errKeyMeanwhile); err != nil {
		return err
	}
	// The proof compares content, since an id that was lost in a crash may be given to another change.
	t.setProof(`
		SELECT 1 FROM task_change WHERE id = $1 AND owner = $2 AND task = $3 AND action = $4 AND at = $5
		AND after IS NOT DISTINCT FROM $6`,
		c.ID, owner, c.Task, string(c.Action), c.At.UnixMilli(), after)
	return nil
}

// taskColumns returns a task's values from title to version, in the order of the table.
func taskColumns(t task.Task) []any {
	var description, completed any
	if t.Description != nil {
		description = *t.Description
	}
	if t.CompletedAt != nil {
		completed = t.CompletedAt.UnixMilli()
	}
	return []any{t.Title, description, string(t.Status), t.CreatedAt.UnixMilli(), completed, t.Version}
}

// Made implements task.Store.
func (db *DB) Made(ctx context.Context, owner, key string) (task.Change, error) {
	made, err := db.changes(ctx, `WHERE owner = $1 AND key = $2`, owner, key)
	return onlyRow(made, err, task.ErrNotFound)
}

// whereSelected returns the condition for a filter and its arguments. It ignores After, Newest and Limit.
func whereSelected(owner string, f task.Filter) (where string, args []any) {
	where, args = `WHERE owner = $1 AND gone = 0`, []any{owner}
	if f.Status != "" {
		args = append(args, string(f.Status))
		where += ` AND status = ` + placeholders(len(args), 1)
	}
	if len(f.IDs) > 0 {
		where += ` AND id IN (` + placeholders(len(args)+1, len(f.IDs)) + `)`
		args = append(args, asArgs(f.IDs)...)
	}
	return where, args
}

// Tasks implements task.Store.
func (db *DB) Tasks(ctx context.Context, owner string, f task.Filter) ([]task.Task, error) {
	query, args := whereSelected(owner, f)
	beyond, order := `>`, ` ORDER BY created_at, id`
	if f.Newest {
		beyond, order = `<`, ` ORDER BY created_at DESC, id DESC`
	}
	if f.After != 0 {
		args = append(args, f.After)
		query += ` AND (created_at, id) ` + beyond +
			` (SELECT created_at, id FROM task WHERE id = ` + placeholders(len(args), 1) + ` AND owner = $1)`
	}
	args = append(args, limitOrAll(f.Limit))
	found, err := readRows(ctx, db, scanTask, selectTask+query+order+` LIMIT `+placeholders(len(args), 1), args...)
	return tasksOf(found), err
}

// Count implements task.Store.
func (db *DB) Count(ctx context.Context, owner string, f task.Filter) (int, error) {
	where, args := whereSelected(owner, f)
	found, err := readRows(ctx, db, scanValue[int], `SELECT count(*) FROM task `+where, args...)
	return onlyRow(found, err, nil)
}

// Task implements task.Store.
func (db *DB) Task(ctx context.Context, owner string, id int64) (task.Task, error) {
	found, err := readRows(ctx, db, scanTask, selectTask+`WHERE id = $1 AND owner = $2 AND gone = 0`, id, owner)
	return onlyRow(tasksOf(found), err, task.ErrNotFound)
}

// History implements task.Store.
func (db *DB) History(ctx context.Context, owner string, id int64) ([]task.Change, error) {
	all, err := db.changes(ctx, `WHERE task = $1 AND owner = $2 ORDER BY id`, id, owner)
	if err == nil && len(all) == 0 {
		err = task.ErrNotFound
	}
	return all, err
}

// Changes implements task.Store.
func (db *DB) Changes(ctx context.Context, owner string, limit int) ([]task.Change, error) {
	return db.changes(ctx, `WHERE owner = $1 ORDER BY id DESC LIMIT $2`, owner, limitOrAll(limit))
}
