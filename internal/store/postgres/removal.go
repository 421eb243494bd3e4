package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

const (
	tombstoneColumns = `id, owner, assistant, created_at, updated_at, deleted_at, runs, reason`
	selectTombstone  = `SELECT ` + tombstoneColumns + ` FROM tombstone `
)

func scanTombstone(r pgx.CollectableRow) (t journal.Tombstone, err error) {
	return t, r.Scan(&t.ID, &t.Owner, &t.Assistant, millis{&t.CreatedAt}, millis{&t.UpdatedAt}, millis{&t.DeletedAt}, &t.Runs, &t.Reason)
}

// keep returns a check that keeps what a query has found.
func keep[T any](into *[]T) func([]T) error {
	return func(found []T) error {
		*into = found
		return nil
	}
}

// DeleteSession implements journal.Store.
func (db *DB) DeleteSession(
	ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time,
) error {
	err := db.write(ctx, func(t *tx) error {
		var found []journal.Session
		t.change(some(errNoSession), `SELECT FROM session WHERE id = $1 AND owner = $2 FOR UPDATE`, id, string(owner))
		t.lockRuns(owner, []string{id})
		rows(t, scanRun, func(running []journal.Run) error {
			for _, r := range running {
				if err := r.AllowDelete(now); err != nil {
					return fmt.Errorf("session %q: %w", id, err)
				}
			}
			return nil
		}, selectRun+`WHERE session = $1 AND status = 'running'`, id)
		rows(t, scanSession, keep(&found), selectSession+`WHERE id = $1`, id)
		if err := t.send(); err != nil {
			return err
		}
		_, err := t.remove(found, why, now)
		return err
	})
	return db.ofSession(ctx, owner, id, err)
}

// lockRuns keeps others from changing the runs of sessions, and from appending to them.
func (t *tx) lockRuns(owner journal.Owner, sessions []string) {
	t.change(nil, `SELECT FROM run WHERE session = ANY ($1) AND owner = $2 ORDER BY no FOR UPDATE`, sessions, string(owner))
}

// The runs that keep a session from being unused are those of journal.Run.UsedSince.
const isUnused = `
	owner = $1 AND updated_at < $2 AND ($4 = '' OR assistant = $4)
	AND NOT EXISTS (
		SELECT 1 FROM run
		WHERE run.session = session.id AND status = 'running'
		  AND (lease_holder <> '' AND lease_until > $3
		       OR (SELECT at FROM record WHERE key >= run.no << 24 AND key < (run.no + 1) << 24 ORDER BY key DESC LIMIT 1) >= $2)) `

func unusedArgs(owner journal.Owner, idle journal.Idle, more any) []any {
	return []any{string(owner), idle.Before.UnixMilli(), idle.Now.UnixMilli(), idle.Assistant, more}
}

// Unused implements journal.Store.
func (db *DB) Unused(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Session, error) {
	return read(ctx, db, scanSession, selectSession+`WHERE `+isUnused+`ORDER BY updated_at, id LIMIT $5`,
		unusedArgs(owner, idle, journal.Limit(idle.Limit))...)
}

// Retire implements journal.Store. A session that somebody else works on is left to the next time.
func (db *DB) Retire(ctx context.Context, owner journal.Owner, idle journal.Idle) ([]journal.Tombstone, error) {
	one := idle
	one.Limit = 1
	if found, err := db.Unused(ctx, owner, one); err != nil || len(found) == 0 {
		return nil, err
	}
	var left []journal.Tombstone
	err := db.write(ctx, func(t *tx) (err error) {
		left = nil
		var locked []string
		var unused []journal.Session
		rows(t, pgx.RowTo[string], keep(&locked), `SELECT id FROM session WHERE `+isUnused+`ORDER BY updated_at, id LIMIT $5 FOR UPDATE SKIP LOCKED`,
			unusedArgs(owner, idle, journal.Limit(idle.Limit))...)
		if err := t.send(); err != nil || len(locked) == 0 {
			return err
		}
		t.lockRuns(owner, locked)
		rows(t, scanSession, keep(&unused), selectSession+`WHERE `+isUnused+`AND id = ANY ($5) ORDER BY updated_at, id`, unusedArgs(owner, idle, locked)...)
		if err := t.send(); err != nil {
			return err
		}
		left, err = t.remove(unused, journal.ByRetention, idle.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return left, nil
}

// namedBlobs are the blobs that the runs of some sessions name, with how many of these runs do. SQLite's rows have null where there is none.
const namedBlobs = `(
	SELECT value::bigint AS no, count(*) AS runs
	FROM run, json_array_elements_text(CASE blobs WHEN 'null' THEN '[]' ELSE blobs END::json) AS value WHERE session = ANY ($1) GROUP BY value)`

// remove leaves nothing of sessions that are locked but their tombstones.
func (t *tx) remove(sessions []journal.Session, why journal.Reason, now time.Time) (left []journal.Tombstone, err error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	var ids []string
	for _, s := range sessions {
		tombstone, tombErr := s.Tombstone(why, now)
		err, left, ids = errors.Join(err, tombErr), append(left, tombstone), append(ids, s.ID)
	}
	if err != nil {
		return nil, err
	}
	t.provable(`SELECT FROM tombstone WHERE id = $1`, ids[0])
	for _, remove := range []string{
		`SELECT FROM blob WHERE no IN (SELECT no FROM ` + namedBlobs + ` AS named) ORDER BY owner, hash FOR UPDATE`,
		`UPDATE blob SET runs = blob.runs - named.runs FROM ` + namedBlobs + ` AS named WHERE blob.no = named.no`,
		`DELETE FROM blob WHERE runs = 0 AND no IN (SELECT no FROM ` + namedBlobs + ` AS named)`,
		`DELETE FROM record USING run WHERE session = ANY ($1) AND key >= no << 24 AND key < (no + 1) << 24`,
		`DELETE FROM session WHERE id = ANY ($1)`, // and what names it
	} {
		t.change(nil, remove, ids)
	}
	for _, l := range left {
		t.change(nil, `INSERT INTO tombstone (`+tombstoneColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			l.ID, string(l.Owner), l.Assistant, l.CreatedAt.UnixMilli(), l.UpdatedAt.UnixMilli(), l.DeletedAt.UnixMilli(), l.Runs, string(l.Reason))
	}
	return left, nil
}

// Tombstone implements journal.Store.
func (db *DB) Tombstone(ctx context.Context, owner journal.Owner, id string) (journal.Tombstone, error) {
	found, err := read(ctx, db, scanTombstone, selectTombstone+`WHERE id = $1 AND owner = $2`, id, string(owner))
	return only(found, err, "tombstone of session", id)
}

// Tombstones implements journal.Store.
func (db *DB) Tombstones(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Tombstone, error) {
	q := listing{by: "deleted_at", after: f.After, limit: f.Limit}
	q.where("owner", string(owner))
	q.filter("assistant", f.Assistant)
	return list(ctx, db, scanTombstone, selectTombstone, q)
}
