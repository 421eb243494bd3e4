package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/task"
)

var _ task.Store = (*DB)(nil)

const (
	selectTask   = `SELECT id, title, description, status, created_at, completed_at, version, gone FROM task `
	selectChange = `SELECT id, task, action, actor, before, after, coalesce(undoes, 0), at FROM task_change `
	nextChange   = `SELECT nextval(pg_get_serial_sequence('task_change', 'id'))`
	nextTask     = `SELECT nextval(pg_get_serial_sequence('task', 'id'))`
)

// keptTask is a task that there is or was.
type keptTask struct {
	task.Task
	gone int64
}

func scanTask(r pgx.CollectableRow) (t keptTask, err error) {
	var completed time.Time
	err = r.Scan(&t.ID, &t.Title, &t.Description, &t.Status, millis{&t.CreatedAt}, millis{&completed}, &t.Version, &t.gone)
	if !completed.IsZero() {
		t.CompletedAt = &completed
	}
	return t, err
}

func scanChange(r pgx.CollectableRow) (c task.Change, err error) {
	var before, after *string
	if err = r.Scan(&c.ID, &c.Task, &c.Action, &c.Actor, &before, &after, &c.Undoes, millis{&c.At}); err != nil {
		return c, err
	}
	if c.Before, err = taskOf(before); err == nil {
		c.After, err = taskOf(after)
	}
	if err != nil {
		err = &unreadableChange{c.ID, err}
	}
	return c, err
}

// unreadableChange is one whose tasks are no JSON.
type unreadableChange struct {
	id  int64
	err error
}

func (e *unreadableChange) Error() string { return fmt.Sprintf("change %d of a task: %v", e.id, e.err) }

// taskOf is the task of a text of told's, nil if there is none.
func taskOf(text *string) (t *task.Task, err error) {
	if text == nil {
		return nil, nil
	}
	err = json.Unmarshal([]byte(*text), &t)
	return t, err
}

// told is a task as JSON, nil if there is none.
func told(t *task.Task) (*string, error) {
	if t == nil {
		return nil, nil
	}
	text, err := json.Marshal(t)
	return new(string(text)), err
}

// changes returns the changes of a query.
func (db *DB) changes(ctx context.Context, query string, args ...any) ([]task.Change, error) {
	all, err := read(ctx, db, scanChange, selectChange+query, args...)
	return all, db.readable(err)
}

// readable says of an error whether the database is damaged.
func (db *DB) readable(err error) error {
	var unreadable *unreadableChange
	if errors.As(err, &unreadable) {
		return corrupt(db, unreadable)
	}
	return err
}

// errKeyMeanwhile says that another has used up the key since it was looked for.
var errKeyMeanwhile = errors.New("the key was used up meanwhile")

// Apply implements task.Store.
func (db *DB) Apply(ctx context.Context, owner string, a task.Act) (c task.Change, again bool, err error) {
	if err := a.Check(owner); err != nil {
		return task.Change{}, false, err
	}
	apply := func(t *tx) (err error) {
		c, again, err = t.apply(owner, a)
		return err
	}
	err = db.write(ctx, apply)
	if errors.Is(err, errKeyMeanwhile) {
		err = db.write(ctx, apply) // which finds what was made under it
	}
	if err != nil {
		return task.Change{}, false, db.readable(err)
	}
	return c, again, nil
}

// apply decides with the task locked. The key is looked for after that, so that who waited for the lock sees what was made meanwhile.
func (t *tx) apply(owner string, a task.Act) (c task.Change, again bool, err error) {
	var last []keptTask
	var made []task.Change
	var ids []int64
	if a.Action == task.Add {
		rows(t, pgx.RowTo[int64], into(&ids), nextTask)
	} else {
		rows(t, scanTask, into(&last), selectTask+`WHERE id = $1 AND owner = $2 FOR UPDATE`, a.Task, owner)
	}
	if a.Key != "" {
		rows(t, scanChange, into(&made), selectChange+`WHERE owner = $1 AND key = $2`, owner, a.Key)
	}
	rows(t, pgx.RowTo[int64], into(&ids), nextChange)
	if err := t.send(); err != nil {
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
	if err != nil || !c.Changed() {
		return c, false, err
	}
	c.ID = ids[len(ids)-1]
	if a.Action == task.Add {
		c.Task, c.After.ID = ids[0], ids[0]
	}
	return c, false, t.keepChange(owner, a.Key, c)
}

// into keeps what a query gives.
func into[T any](all *[]T) func([]T) error {
	return func(found []T) error {
		*all = append(*all, found...)
		return nil
	}
}

// keepChange writes a change and the task as it is after it.
func (t *tx) keepChange(owner, key string, c task.Change) error {
	before, err := told(c.Before)
	if err != nil {
		return err
	}
	after, err := told(c.After)
	if err != nil {
		return err
	}
	// A number that was lost in a crash may have been given to another change.
	t.provable(`SELECT FROM task_change WHERE id = $1 AND owner = $2 AND task = $3 AND action = $4 AND at = $5 AND after IS NOT DISTINCT FROM $6`,
		c.ID, owner, c.Task, string(c.Action), c.At.UnixMilli(), after)
	switch {
	case c.Action == task.Add:
		t.change(nil, `INSERT INTO task (id, title, description, status, created_at, completed_at, version, gone, owner) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8)`,
			append(taskRow(*c.After), owner)...)
	case c.After == nil:
		t.change(nil, `UPDATE task SET gone = 1 WHERE id = $1`, c.Task)
	default:
		t.change(nil, `UPDATE task SET title = $2, description = $3, status = $4, created_at = $5, completed_at = $6, version = $7, gone = 0 WHERE id = $1`,
			taskRow(*c.After)...)
	}
	t.change(some(errKeyMeanwhile), `
		INSERT INTO task_change (id, owner, task, key, action, actor, before, after, undoes, at)
		VALUES ($1, $2, $3, nullif($4::text, ''), $5, $6, $7, $8, nullif($9::bigint, 0), $10)
		ON CONFLICT (owner, key) WHERE key IS NOT NULL DO NOTHING`,
		c.ID, owner, c.Task, key, string(c.Action), c.Actor, before, after, c.Undoes, c.At.UnixMilli())
	return nil
}

// taskRow are what a task's row holds, its id first.
func taskRow(t task.Task) []any {
	var completed *int64
	if t.CompletedAt != nil {
		completed = new(t.CompletedAt.UnixMilli())
	}
	return []any{t.ID, t.Title, t.Description, string(t.Status), t.CreatedAt.UnixMilli(), completed, t.Version}
}

// Made implements task.Store.
func (db *DB) Made(ctx context.Context, owner, key string) (task.Change, error) {
	made, err := db.changes(ctx, `WHERE owner = $1 AND key = $2`, owner, key)
	if err == nil && len(made) == 0 {
		err = task.ErrNotFound
	}
	if err != nil {
		return task.Change{}, err
	}
	return made[0], nil
}

// chosen are the tasks that a filter selects, whatever its After and Limit.
func chosen(owner string, f task.Filter) (where string, args []any) {
	where, args = `WHERE owner = $1 AND gone = 0`, []any{owner}
	if f.Status != "" {
		args = append(args, string(f.Status))
		where += fmt.Sprintf(` AND status = $%d`, len(args))
	}
	if len(f.IDs) > 0 {
		args = append(args, f.IDs)
		where += fmt.Sprintf(` AND id = ANY ($%d)`, len(args))
	}
	return where, args
}

// Tasks implements task.Store.
func (db *DB) Tasks(ctx context.Context, owner string, f task.Filter) ([]task.Task, error) {
	query, args := chosen(owner, f)
	beyond, order := `>`, ` ORDER BY created_at, id`
	if f.Newest {
		beyond, order = `<`, ` ORDER BY created_at DESC, id DESC`
	}
	if f.After != 0 {
		args = append(args, f.After)
		query += fmt.Sprintf(` AND (created_at, id) %s (SELECT created_at, id FROM task WHERE id = $%d AND owner = $1)`, beyond, len(args))
	}
	query += order
	if f.Limit > 0 {
		args = append(args, f.Limit)
		query += fmt.Sprintf(` LIMIT $%d`, len(args))
	}
	found, err := read(ctx, db, scanTask, selectTask+query, args...)
	all := make([]task.Task, len(found))
	for i, t := range found {
		all[i] = t.Task
	}
	return all, err
}

// Count implements task.Store.
func (db *DB) Count(ctx context.Context, owner string, f task.Filter) (int, error) {
	where, args := chosen(owner, f)
	found, err := read(ctx, db, pgx.RowTo[int], `SELECT count(*) FROM task `+where, args...)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

// Task implements task.Store.
func (db *DB) Task(ctx context.Context, owner string, id int64) (task.Task, error) {
	found, err := read(ctx, db, scanTask, selectTask+`WHERE id = $1 AND owner = $2 AND gone = 0`, id, owner)
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
	all, err := db.changes(ctx, `WHERE task = $1 AND owner = $2 ORDER BY id`, id, owner)
	if err == nil && len(all) == 0 {
		err = task.ErrNotFound
	}
	return all, err
}

// Changes implements task.Store.
func (db *DB) Changes(ctx context.Context, owner string, limit int) ([]task.Change, error) {
	if limit == 0 {
		return db.changes(ctx, `WHERE owner = $1 ORDER BY id DESC`, owner)
	}
	return db.changes(ctx, `WHERE owner = $1 ORDER BY id DESC LIMIT $2`, owner, limit)
}
