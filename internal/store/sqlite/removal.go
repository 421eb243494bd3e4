package sqlite

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

const selectTombstone = `
	SELECT id, owner, assistant, created_at, updated_at, deleted_at, runs, reason
	FROM tombstone `

func scanTombstone(r row) journal.Tombstone {
	return journal.Tombstone{ID: r.text(0), Owner: journal.Owner(r.text(1)), Assistant: r.text(2), CreatedAt: r.time(3), UpdatedAt: r.time(4),
		DeletedAt: r.time(5), Runs: int(r.int(6)), Reason: journal.Reason(r.text(7))}
}

// absent says why there is no session: it left a tombstone, or it never was there.
func absent(left []journal.Tombstone, err error, id string) error {
	switch {
	case err != nil:
		return err
	case len(left) > 0:
		return &journal.RemovedError{Tombstone: left[0]}
	}
	return notFound("session", id)
}

func (t tx) absent(owner journal.Owner, id string) error {
	left, err := rows(t, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
	return absent(left, err, id)
}

// DeleteSession implements journal.Store.
func (db *DB) DeleteSession(
	ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time,
) error {
	return db.write(ctx, func(t tx) error {
		s, err := t.session(owner, id)
		if err != nil {
			return err
		}
		running, err := rows(t, scanRun, selectRun+`WHERE session = ? AND status = 'running'`, id)
		if err != nil {
			return err
		}
		for _, r := range running {
			if err := r.AllowDelete(now); err != nil {
				return fmt.Errorf("session %q: %w", id, err)
			}
		}
		_, err = t.remove(s, why, now)
		return err
	})
}

// The runs that keep a session from being unused are those of journal.Run.UsedSince.
const selectUnused = selectSession + `
	WHERE owner = ?1 AND updated_at < ?2 AND (?4 = '' OR assistant = ?4)
	  AND NOT EXISTS (
		SELECT 1 FROM run
		WHERE run.session = session.id AND status = 'running'
		  AND (lease_holder <> '' AND lease_until > ?3
		       OR (SELECT at FROM record WHERE key >= run.no << 24 AND key < (run.no + 1) << 24 ORDER BY key DESC LIMIT 1) >= ?2))
	ORDER BY updated_at, id`

// Unused implements journal.Store.
func (db *DB) Unused(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Session, error) {
	return read(ctx, db, journal.Limit(idle.Limit), scanSession, selectUnused, unusedArgs(owner, idle)...)
}

func unusedArgs(owner journal.Owner, idle journal.Idle) []any {
	return []any{string(owner), idle.Before.UnixMilli(), idle.Now.UnixMilli(), idle.Assistant}
}

// Retire implements journal.Store.
func (db *DB) Retire(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Tombstone, error) {
	one := idle
	one.Limit = 1
	if found, err := db.Unused(ctx, owner, one); err != nil || len(found) == 0 {
		return nil, err
	}
	var left []journal.Tombstone
	err := db.write(ctx, func(t tx) error {
		left = nil
		unused, err := rowsOf(context.Background(), t.conn, journal.Limit(idle.Limit), scanSession, selectUnused, unusedArgs(owner, idle))
		if err != nil {
			return err
		}
		for _, s := range unused {
			tombstone, err := t.remove(s, journal.ByRetention, idle.Now)
			if err != nil {
				return err
			}
			left = append(left, tombstone)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return left, nil
}

// remove leaves nothing of a session but its tombstone.
func (t tx) remove(s journal.Session, why journal.Reason, now time.Time) (journal.Tombstone, error) {
	t.known.forget()
	left, err := s.Tombstone(why, now)
	if err != nil {
		return left, err
	}
	for _, remove := range []string{
		`UPDATE blob SET runs = blob.runs - named.runs
		FROM (SELECT value AS no, count(*) AS runs FROM run, json_each(run.blobs) WHERE session = ? GROUP BY value) AS named
		WHERE blob.no = named.no`,
		`DELETE FROM blob WHERE runs = 0 AND no IN (SELECT value FROM run, json_each(run.blobs) WHERE session = ?)`,
		`DELETE FROM record WHERE key IN (
			SELECT key FROM run JOIN record ON key >= (no << 24) AND key < (no + 1) << 24 WHERE session = ?)`,
		`DELETE FROM session WHERE id = ?`, // and what names it
	} {
		if err := t.run(remove, s.ID); err != nil {
			return left, err
		}
	}
	return left, t.run(`
		INSERT INTO tombstone (id, owner, assistant, created_at, updated_at, deleted_at, runs, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		left.ID, string(left.Owner), left.Assistant, left.CreatedAt.UnixMilli(), left.UpdatedAt.UnixMilli(),
		left.DeletedAt.UnixMilli(), int64(left.Runs), string(left.Reason))
}

// Tombstone implements journal.Store.
func (db *DB) Tombstone(ctx context.Context, owner journal.Owner, id string) (journal.Tombstone, error) {
	found, err := read(ctx, db, everything, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "tombstone of session", id)
}

// Tombstones implements journal.Store.
func (db *DB) Tombstones(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Tombstone, error) {
	q := listing{owner: owner, by: "deleted_at", after: f.After, limit: f.Limit}
	q.where("assistant", f.Assistant)
	return list(ctx, db, scanTombstone, selectTombstone, q)
}
