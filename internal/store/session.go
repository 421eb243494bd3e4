package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

var _ journal.Store = (*DB)(nil)

const selectSession = `
	SELECT id, owner, assistant, title, place, created_at, updated_at,
		(SELECT count(*) FROM run WHERE run.session = session.id)
	FROM session `

func scanSession(r row, s *journal.Session) error {
	return r.Scan(&s.ID, &s.Owner, &s.Assistant, &s.Title, &s.Place, millis{&s.CreatedAt}, millis{&s.UpdatedAt},
		&s.Runs)
}

// errNoSession means that a session was not found. It is internal: explainNoSession replaces it.
var errNoSession = errors.New("no session")

// Session implements journal.Store.
func (db *DB) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	found, err := readRows(ctx, db, scanSession, selectSession+`WHERE id = $1 AND owner = $2`, id, string(owner))
	s, err := onlyRow(found, err, errNoSession)
	return s, db.explainNoSession(ctx, owner, id, err)
}

// explainNoSession replaces errNoSession by a RemovedError if there is a tombstone, else by ErrNotFound. It returns
// other errors, and nil, unchanged.
func (db *DB) explainNoSession(ctx context.Context, owner journal.Owner, id string, err error) error {
	if !errors.Is(err, errNoSession) {
		return err
	}
	left, err := db.Tombstone(ctx, owner, id)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return notFoundError("session", id)
	case err != nil:
		return err
	}
	return &journal.RemovedError{Tombstone: left}
}

// Sessions implements journal.Store.
func (db *DB) Sessions(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	q := listing{owner: owner, by: "updated_at", after: f.After, limit: f.Limit}
	q.where("assistant = ", f.Assistant)
	q.where("place = ", f.Place)
	for _, name := range f.Without {
		q.conditions += " AND assistant <> " + q.arg(name)
	}
	if f.Title != "" {
		q.conditions += ` AND strpos(lower(title), lower(CAST(` + q.arg(f.Title) + ` AS text) COLLATE "C")) > 0`
	}
	return listRows(ctx, db, scanSession, selectSession, q)
}

// listing is a query for rows of an owner, in descending order of the column by, then of id.
type listing struct {
	owner      journal.Owner
	by         string
	conditions string
	args       []any // after the owner
	after      journal.Cursor
	limit      int
}

func (q *listing) arg(value any) string {
	q.args = append(q.args, value)
	return fmt.Sprintf("$%d", 1+len(q.args))
}

// where adds a condition such as "place = " with a value. It does nothing if the value is "".
func (q *listing) where(column, value string) {
	if value != "" {
		q.conditions += " AND " + column + q.arg(value)
	}
}

// whereBetween requires from <= column < to. A zero time is no bound.
func (q *listing) whereBetween(column string, from, to time.Time) {
	if !from.IsZero() {
		q.conditions += " AND " + column + " >= " + q.arg(from.UnixMilli())
	}
	if !to.IsZero() {
		q.conditions += " AND " + column + " < " + q.arg(to.UnixMilli())
	}
}

func listRows[T any](ctx context.Context, db *DB, scan func(row, *T) error, from string, q listing) ([]T, error) {
	if !q.after.IsZero() {
		q.conditions += " AND (" + q.by + ", id) < (" + q.arg(q.after.At.UnixMilli()) + ", " + q.arg(q.after.ID) + ")"
	}
	limit := q.arg(int64(journal.Limit(q.limit)))
	query := from + "WHERE owner = $1" + q.conditions + " ORDER BY " + q.by + " DESC, id DESC LIMIT " + limit
	return readRows(ctx, db, scan, query, append([]any{string(q.owner)}, q.args...)...)
}

// RenameSession implements journal.Store. It clears the session's words, so that Unread lists it.
func (db *DB) RenameSession(ctx context.Context, owner journal.Owner, id, title string) error {
	if err := journal.CheckTitle(title); err != nil {
		return err
	}
	err := db.write(ctx, func(t *tx) error {
		t.requireRow(errNoSession, `UPDATE session SET title = $3, words = NULL WHERE id = $1 AND owner = $2 RETURNING id`,
			id, string(owner), title)
		return nil
	})
	return db.explainNoSession(ctx, owner, id, err)
}
