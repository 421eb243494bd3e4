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

func scanTombstone(row row) (journal.Tombstone, error) {
	var t journal.Tombstone
	var created, updated, deleted int64
	err := row.Scan(&t.ID, &t.Owner, &t.Assistant, &created, &updated, &deleted, &t.Runs, &t.Reason)
	t.CreatedAt, t.UpdatedAt, t.DeletedAt = instant(created), instant(updated), instant(deleted)
	return t, err
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

func (t *tx) absent(owner journal.Owner, id string) error {
	left, err := all(t, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
	return absent(left, err, id)
}

// DeleteSession implements journal.Store.
func (db *DB) DeleteSession(
	ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time,
) error {
	return db.write(ctx, func(t *tx) error {
		s, err := t.session(owner, id)
		if err != nil {
			return err
		}
		running, err := all(t, scanRun, selectRun+`WHERE session = ? AND status = 'running'`, id)
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
	WHERE owner = ?1 AND updated_at < ?2 AND (?5 = '' OR assistant = ?5)
	  AND NOT EXISTS (
		SELECT 1 FROM run
		WHERE run.session = session.id AND status = 'running'
		  AND (lease_holder <> '' AND lease_until > ?3
		       OR (SELECT at FROM record WHERE record.run = run.no ORDER BY seq DESC LIMIT 1) >= ?2))
	ORDER BY updated_at, id LIMIT ?4`

// Unused implements journal.Store.
func (db *DB) Unused(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Session, error) {
	return read(ctx, db, scanSession, selectUnused, unusedArgs(owner, idle)...)
}

func unusedArgs(owner journal.Owner, idle journal.Idle) []any {
	return []any{string(owner), idle.Before.UnixMilli(), idle.Now.UnixMilli(), journal.Limit(idle.Limit), idle.Assistant}
}

// Retire implements journal.Store.
func (db *DB) Retire(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Tombstone, error) {
	one := idle
	one.Limit = 1
	if found, err := db.Unused(ctx, owner, one); err != nil || len(found) == 0 {
		return nil, err
	}
	var left []journal.Tombstone
	err := db.write(ctx, func(t *tx) error {
		unused, err := all(t, scanSession, selectUnused, unusedArgs(owner, idle)...)
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
func (t *tx) remove(s journal.Session, why journal.Reason, now time.Time) (journal.Tombstone, error) {
	left, err := s.Tombstone(why, now)
	if err != nil {
		return left, err
	}
	if err := t.exec(`
		DELETE FROM blob
		WHERE no IN (SELECT blob FROM run_blob JOIN run ON run.no = run_blob.run WHERE run.session = ?1)
		  AND NOT EXISTS (SELECT 1 FROM run_blob JOIN run ON run.no = run_blob.run
		                  WHERE run_blob.blob = blob.no AND run.session <> ?1)`, s.ID); err != nil {
		return left, err
	}
	if err := t.exec(`DELETE FROM session WHERE id = ?`, s.ID); err != nil {
		return left, err
	}
	return left, t.exec(`
		INSERT INTO tombstone (id, owner, assistant, created_at, updated_at, deleted_at, runs, reason)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		left.ID, string(left.Owner), left.Assistant, left.CreatedAt.UnixMilli(), left.UpdatedAt.UnixMilli(),
		left.DeletedAt.UnixMilli(), left.Runs, string(left.Reason))
}

// Tombstone implements journal.Store.
func (db *DB) Tombstone(ctx context.Context, owner journal.Owner, id string) (journal.Tombstone, error) {
	found, err := read(ctx, db, scanTombstone, selectTombstone+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "tombstone of session", id)
}

// Tombstones implements journal.Store.
func (db *DB) Tombstones(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Tombstone, error) {
	q := listing{owner: owner, by: "deleted_at", after: f.After, limit: f.Limit}
	q.where("assistant", f.Assistant)
	return list(ctx, db, scanTombstone, selectTombstone, q)
}
