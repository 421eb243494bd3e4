package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

var _ journal.Store = (*DB)(nil)

const selectSession = `
	SELECT id, owner, assistant, title, created_at, updated_at,
	       (SELECT count(*) FROM run WHERE run.session = session.id)
	FROM session `

func scanSession(row row) (journal.Session, error) {
	var s journal.Session
	var created, updated int64
	err := row.Scan(&s.ID, &s.Owner, &s.Assistant, &s.Title, &created, &updated, &s.Runs)
	s.CreatedAt, s.UpdatedAt = instant(created), instant(updated)
	return s, err
}

// insertSession adds a session that begins with its first run.
func (t *tx) insertSession(s journal.Session) error {
	created, err := t.affected(`
		INSERT INTO session (id, owner, assistant, title, created_at, updated_at)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE id = ?1)
		ON CONFLICT (id) DO NOTHING`,
		s.ID, string(s.Owner), s.Assistant, s.Title, s.CreatedAt.UnixMilli(), s.UpdatedAt.UnixMilli())
	if err == nil && created == 0 {
		err = fmt.Errorf("session %q: %w", s.ID, journal.ErrExists)
	}
	return err
}

// Session implements journal.Store.
func (db *DB) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	found, err := read(ctx, db, scanSession, selectSession+`WHERE id = ? AND owner = ?`, id, string(owner))
	if err == nil && len(found) == 0 {
		left, err := read(ctx, db, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
		return journal.Session{}, absent(left, err, id)
	}
	return only(found, err, "session", id)
}

// Sessions implements journal.Store.
func (db *DB) Sessions(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	q := listing{owner: owner, by: "updated_at", after: f.After, limit: f.Limit}
	q.where("assistant", f.Assistant)
	return list(ctx, db, scanSession, selectSession, q)
}

// listing is a query for the entries of an owner, the latest first by one column and then by id.
type listing struct {
	owner      journal.Owner
	by         string
	conditions string
	args       []any
	after      journal.Cursor
	limit      int
}

// where demands a value of a column, unless the value is empty.
func (q *listing) where(column, value string) {
	if value != "" {
		q.conditions, q.args = q.conditions+" AND "+column+" = ?", append(q.args, value)
	}
}

func list[T any](ctx context.Context, db *DB, scan func(row) (T, error), from string, q listing) ([]T, error) {
	query, args := from+`WHERE owner = ?`+q.conditions, append([]any{string(q.owner)}, q.args...)
	if !q.after.IsZero() {
		query, args = query+` AND (`+q.by+`, id) < (?, ?)`, append(args, q.after.At.UnixMilli(), q.after.ID)
	}
	return read(ctx, db, scan, query+` ORDER BY `+q.by+` DESC, id DESC LIMIT ?`, append(args, journal.Limit(q.limit))...)
}

// RenameSession implements journal.Store.
func (db *DB) RenameSession(ctx context.Context, owner journal.Owner, id, title string) error {
	return db.write(ctx, func(t *tx) error {
		renamed, err := t.affected(`UPDATE session SET title = ? WHERE id = ? AND owner = ?`, title, id, string(owner))
		if err == nil && renamed == 0 {
			return t.absent(owner, id)
		}
		return err
	})
}

// session returns a session of the owner's within a transaction.
func (t *tx) session(owner journal.Owner, id string) (journal.Session, error) {
	found, err := all(t, scanSession, selectSession+`WHERE id = ? AND owner = ?`, id, string(owner))
	if err == nil && len(found) == 0 {
		return journal.Session{}, t.absent(owner, id)
	}
	return only(found, err, "session", id)
}

// ownsSession is nil if there is such a session, and journal.ErrNotFound otherwise.
func (t *tx) ownsSession(owner journal.Owner, id string) error {
	found, err := all(t, scanInt, `SELECT 1 FROM session WHERE id = ? AND owner = ?`, id, string(owner))
	if err == nil && len(found) == 0 {
		return t.absent(owner, id)
	}
	return err
}

// touch moves the time of a session forward.
func (t *tx) touch(session string, at time.Time) error {
	return t.exec(`UPDATE session SET updated_at = max(updated_at, ?) WHERE id = ?`, at.UnixMilli(), session)
}

func scanInt(row row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// only returns the one row that a query by id has found.
func only[T any](found []T, err error, kind, id string) (T, error) {
	if err == nil && len(found) == 0 {
		err = notFound(kind, id)
	}
	if err != nil {
		return *new(T), err
	}
	return found[0], nil
}

func notFound(kind, id string) error {
	return fmt.Errorf("%s %q: %w", kind, id, journal.ErrNotFound)
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// maybe converts between a time that may be unset and a column that may be NULL.
func maybe(t time.Time) sql.Null[int64] {
	return sql.Null[int64]{V: t.UnixMilli(), Valid: !t.IsZero()}
}

func maybeInstant(ms sql.Null[int64]) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return instant(ms.V)
}
