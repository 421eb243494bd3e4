package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

var _ journal.Store = (*DB)(nil)

const selectSession = `
	SELECT id, owner, assistant, title, place, created_at, updated_at,
	       (SELECT count(*) FROM run WHERE run.session = session.id)
	FROM session `

func scanSession(r pgx.CollectableRow) (s journal.Session, err error) {
	return s, r.Scan(&s.ID, &s.Owner, &s.Assistant, &s.Title, &s.Place, millis{&s.CreatedAt}, millis{&s.UpdatedAt}, &s.Runs)
}

// errNoSession says that a session is not there, before it is known why.
var errNoSession = errors.New("no session")

// some wants a statement to change something.
func some(otherwise error) func(int64) error {
	return func(n int64) error {
		if n == 0 {
			return otherwise
		}
		return nil
	}
}

// none wants a query to find nothing.
func none[T any](otherwise error) func([]T) error {
	return func(found []T) error {
		if len(found) > 0 {
			return otherwise
		}
		return nil
	}
}

// Session implements journal.Store.
func (db *DB) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	found, err := read(ctx, db, scanSession, selectSession+`WHERE id = $1 AND owner = $2`, id, string(owner))
	if err == nil && len(found) == 0 {
		return journal.Session{}, db.absent(ctx, owner, id)
	}
	return only(found, err, "session", id)
}

// absent says why there is no session: it left a tombstone, or it never was there.
func (db *DB) absent(ctx context.Context, owner journal.Owner, id string) error {
	left, err := read(ctx, db, scanTombstone, selectTombstone+`WHERE id = $1 AND owner = $2`, id, string(owner))
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return &journal.RemovedError{Tombstone: left[0]}
	}
	return notFound("session", id)
}

// ofSession says of a write what became of its session.
func (db *DB) ofSession(ctx context.Context, owner journal.Owner, id string, err error) error {
	if errors.Is(err, errNoSession) {
		return db.absent(ctx, owner, id)
	}
	return err
}

// Sessions implements journal.Store.
func (db *DB) Sessions(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	q := listing{by: "updated_at", after: f.After, limit: f.Limit}
	q.where("owner", string(owner))
	q.filter("assistant", f.Assistant)
	q.filter("place", f.Place)
	if f.Title != "" {
		q.conditions += ` AND strpos(lower(title COLLATE "C"), lower(` + q.arg(f.Title) + `::text COLLATE "C")) > 0`
	}
	return list(ctx, db, scanSession, selectSession, q)
}

// listing is a query for entries, the latest first by one column and then by id.
type listing struct {
	by         string
	conditions string
	args       []any
	after      journal.Cursor
	limit      int
}

func (q *listing) arg(value any) string {
	q.args = append(q.args, value)
	return fmt.Sprintf("$%d", len(q.args))
}

// where demands a value of a column.
func (q *listing) where(column, value string) {
	q.conditions += " AND " + column + " = " + q.arg(value)
}

// filter demands a value of a column, unless the value is empty.
func (q *listing) filter(column, value string) {
	if value != "" {
		q.where(column, value)
	}
}

func list[T any](ctx context.Context, db *DB, scan pgx.RowToFunc[T], from string, q listing) ([]T, error) {
	if !q.after.IsZero() {
		q.conditions += " AND (" + q.by + ", id) < (" + q.arg(q.after.At.UnixMilli()) + ", " + q.arg(q.after.ID) + ")"
	}
	query := from + "WHERE true" + q.conditions + " ORDER BY " + q.by + " DESC, id DESC LIMIT " + q.arg(journal.Limit(q.limit))
	return read(ctx, db, scan, query, q.args...)
}

// RenameSession implements journal.Store.
func (db *DB) RenameSession(ctx context.Context, owner journal.Owner, id, title string) error {
	if err := journal.CheckTitle(title); err != nil {
		return err
	}
	err := db.write(ctx, func(t *tx) error {
		t.change(some(errNoSession), `UPDATE session SET title = $3 WHERE id = $1 AND owner = $2`, id, string(owner), title)
		return nil
	})
	return db.ofSession(ctx, owner, id, err)
}
