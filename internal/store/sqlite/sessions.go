package sqlite

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

var _ journal.Store = (*DB)(nil)

const selectSession = `
	SELECT id, owner, assistant, title, place, created_at, updated_at,
	       (SELECT count(*) FROM run WHERE run.session = session.id)
	FROM session `

func scanSession(r row) journal.Session {
	return journal.Session{ID: r.text(0), Owner: journal.Owner(r.text(1)), Assistant: r.text(2), Title: r.text(3), Place: r.text(4),
		CreatedAt: r.time(5), UpdatedAt: r.time(6), Runs: int(r.int(7))}
}

// insertSession adds a session whose first run starts at that moment.
func (t tx) insertSession(s journal.Session, started time.Time) error {
	var id any = s.ID
	// Where there is a tombstone the id is NULL, which may not be, and the row is ignored.
	created, err := t.change(`
		INSERT OR IGNORE INTO session (id, owner, assistant, title, place, created_at, updated_at)
		VALUES ((SELECT ? WHERE NOT EXISTS (SELECT 1 FROM tombstone WHERE id = ?)), ?, ?, ?, ?, ?, ?)`,
		id, id, string(s.Owner), s.Assistant, s.Title, s.Place, s.CreatedAt.UnixMilli(), max(s.UpdatedAt.UnixMilli(), started.UnixMilli()))
	if err == nil && created == 0 {
		err = fmt.Errorf("session %q: %w", s.ID, journal.ErrExists)
	}
	return err
}

// Session implements journal.Store.
func (db *DB) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	found, err := read(ctx, db, everything, scanSession, selectSession+`WHERE id = ? AND owner = ?`, id, string(owner))
	if err == nil && len(found) == 0 {
		left, err := read(ctx, db, everything, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
		return journal.Session{}, absent(left, err, id)
	}
	return only(found, err, "session", id)
}

// Sessions implements journal.Store.
func (db *DB) Sessions(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	q := listing{owner: owner, by: "updated_at", after: f.After, limit: f.Limit}
	q.where("assistant", f.Assistant)
	q.where("place", f.Place)
	if f.Title != "" {
		q.conditions, q.args = q.conditions+" AND instr(lower(title), lower(?)) > 0", append(q.args, f.Title)
	}
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

func list[T any](ctx context.Context, db *DB, scan func(row) T, from string, q listing) ([]T, error) {
	query, args := from+`WHERE owner = ?`+q.conditions, append([]any{string(q.owner)}, q.args...)
	if !q.after.IsZero() {
		query, args = query+` AND (`+q.by+`, id) < (?, ?)`, append(args, q.after.At.UnixMilli(), q.after.ID)
	}
	return read(ctx, db, journal.Limit(q.limit), scan, query+` ORDER BY `+q.by+` DESC, id DESC`, args...)
}

// RenameSession implements journal.Store.
func (db *DB) RenameSession(ctx context.Context, owner journal.Owner, id, title string) error {
	if err := journal.CheckTitle(title); err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		renamed, err := t.change(`UPDATE session SET title = ? WHERE id = ? AND owner = ?`, title, id, string(owner))
		if err == nil && renamed == 0 {
			return t.absent(owner, id)
		}
		return err
	})
}

// session returns a session of the owner's within a transaction.
func (t tx) session(owner journal.Owner, id string) (journal.Session, error) {
	found, err := rows(t, scanSession, selectSession+`WHERE id = ? AND owner = ?`, id, string(owner))
	if err == nil && len(found) == 0 {
		return journal.Session{}, t.absent(owner, id)
	}
	return only(found, err, "session", id)
}

// firstInt is a row of one number.
func firstInt(r row) int64 { return r.int(0) }

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
