package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

const (
	tombstoneColumns = `id, owner, assistant, created_at, updated_at, deleted_at, runs, reason`
	selectTombstone  = `SELECT ` + tombstoneColumns + ` FROM tombstone `
)

func scanTombstone(r row, t *journal.Tombstone) error {
	return r.Scan(&t.ID, &t.Owner, &t.Assistant, millis{&t.CreatedAt}, millis{&t.UpdatedAt}, millis{&t.DeletedAt},
		&t.Runs, &t.Reason)
}

// Tombstone implements journal.Store.
func (db *DB) Tombstone(ctx context.Context, owner journal.Owner, id string) (journal.Tombstone, error) {
	found, err := readRows(ctx, db, scanTombstone, selectTombstone+`WHERE id = $1 AND owner = $2`, id, string(owner))
	return onlyRow(found, err, notFoundError("tombstone of session", id))
}

// Tombstones implements journal.Store.
func (db *DB) Tombstones(
	ctx context.Context, owner journal.Owner, f journal.SessionFilter,
) ([]journal.Tombstone, error) {
	q := listing{owner: owner, by: "deleted_at", after: f.After, limit: f.Limit}
	q.where("assistant = ", f.Assistant)
	return listRows(ctx, db, scanTombstone, selectTombstone, q)
}

// DeleteSession implements journal.Store.
func (db *DB) DeleteSession(
	ctx context.Context, owner journal.Owner, id string, why journal.Reason, now time.Time,
) error {
	err := db.write(ctx, func(t *tx) error {
		t.requireRow(errNoSession, `SELECT id FROM session WHERE id = $1 AND owner = $2 FOR UPDATE`, id, string(owner))
		t.lockRuns([]any{id})
		queryChecked(t, scanRun, func(running []journal.Run) error {
			for _, r := range running {
				if err := r.AllowDelete(now); err != nil {
					return fmt.Errorf("session %q: %w", id, err)
				}
			}
			return nil
		}, selectRun+`WHERE session = $1 AND status = 'running'`, id)
		found, err := queryRows(t, scanSession, selectSession+`WHERE id = $1`, id)
		if err != nil {
			return err
		}
		_, err = t.removeSessions(found, why, now)
		return err
	})
	return db.explainNoSession(ctx, owner, id, err)
}

// lockRuns locks the runs of sessions against changes and appends by other transactions.
func (t *tx) lockRuns(sessions []any) {
	t.run(`SELECT no FROM run WHERE session IN (`+placeholders(1, len(sessions))+`) ORDER BY no FOR UPDATE`, sessions...)
}

// isUnused selects sessions last updated before $2, without a running run that is driven or whose last record is newer.
const isUnused = `
	owner = $1 AND updated_at < $2 AND ($4 = '' OR assistant = $4)
	AND NOT EXISTS (
		SELECT 1 FROM run
		WHERE run.session = session.id AND status = 'running'
		  AND (lease_holder <> '' AND lease_until > $3
		       OR (SELECT at FROM record WHERE key >= run.no << 24 AND key < (run.no + 1) << 24 ORDER BY key DESC LIMIT 1) >= $2)) `

func unusedArgs(owner journal.Owner, idle journal.IdleFilter, more ...any) []any {
	return append([]any{string(owner), idle.Before.UnixMilli(), idle.Now.UnixMilli(), idle.Assistant}, more...)
}

// Unused implements journal.Store.
func (db *DB) Unused(ctx context.Context, owner journal.Owner, idle journal.IdleFilter) ([]journal.Session, error) {
	return readRows(ctx, db, scanSession, selectSession+`WHERE `+isUnused+`ORDER BY updated_at, id LIMIT $5`,
		unusedArgs(owner, idle, int64(journal.Limit(idle.Limit)))...)
}

// Retire implements journal.Store. It skips sessions that others have locked.
func (db *DB) Retire(
	ctx context.Context, owner journal.Owner, idle journal.IdleFilter,
) (left []journal.Tombstone, err error) {
	one := idle
	one.Limit = 1
	if found, err := db.Unused(ctx, owner, one); err != nil || len(found) == 0 {
		return nil, err
	}
	err = db.write(ctx, func(t *tx) (err error) {
		left = nil
		found, err := queryRows(t, scanValue[string],
			`SELECT id FROM session WHERE `+isUnused+`ORDER BY updated_at, id LIMIT $5 FOR UPDATE SKIP LOCKED`,
			unusedArgs(owner, idle, int64(journal.Limit(idle.Limit)))...)
		if err != nil || len(found) == 0 {
			return err
		}
		ids := asArgs(found)
		t.lockRuns(ids)
		unused, err := queryRows(t, scanSession,
			selectSession+`WHERE `+isUnused+`AND id IN (`+placeholders(5, len(ids))+`) ORDER BY updated_at, id`,
			unusedArgs(owner, idle, ids...)...)
		if err != nil {
			return err
		}
		left, err = t.removeSessions(unused, journal.ByRetention, idle.Now)
		return err
	})
	if err != nil {
		return nil, err
	}
	return left, nil
}

// removeSessions replaces sessions by tombstones, and removes their runs, records and blobs that no other run has. The
// caller has locked the sessions and their runs.
func (t *tx) removeSessions(
	sessions []journal.Session, why journal.Reason, now time.Time,
) (tombstones []journal.Tombstone, err error) {
	if len(sessions) == 0 {
		return nil, nil
	}
	var ids []any
	for _, s := range sessions {
		tombstone, tombErr := s.Tombstone(why, now)
		err, tombstones, ids = errors.Join(err, tombErr), append(tombstones, tombstone), append(ids, s.ID)
	}
	if err != nil {
		return nil, err
	}
	t.setProof(`SELECT 1 FROM tombstone WHERE id = $1`, ids[0])
	theirs := `session IN (` + placeholders(1, len(ids)) + `)`
	runs, err := queryRows(t, scanValue[int64], `SELECT no FROM run WHERE `+theirs, ids...)
	if err != nil {
		return nil, err
	}
	for _, no := range runs {
		t.run(`DELETE FROM record WHERE key >= $1 AND key < $2`, no<<24, (no+1)<<24)
	}
	t.run(`DELETE FROM used WHERE (owner, started_at, run) IN (SELECT owner, started_at, no FROM run WHERE `+theirs+`)`,
		ids...)
	named := `(
		SELECT CAST(given.value AS bigint) AS no, count(*) AS runs FROM run, ` + eachBlob + ` WHERE ` + theirs + `
		GROUP BY CAST(given.value AS bigint))`
	for _, remove := range []string{
		`SELECT no FROM blob WHERE no IN (SELECT no FROM ` + named + ` AS named) ORDER BY owner, hash FOR UPDATE`,
		`UPDATE blob SET runs = blob.runs - named.runs FROM ` + named + ` AS named WHERE blob.no = named.no`,
		`DELETE FROM blob WHERE runs = 0 AND no IN (SELECT no FROM ` + named + ` AS named)`,
		`DELETE FROM session WHERE id IN (` + placeholders(1, len(ids)) + `)`, // and the rows that refer to it
	} {
		t.run(remove, ids...)
	}
	for _, l := range tombstones {
		t.run(`INSERT INTO tombstone (`+tombstoneColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, l.ID,
			string(l.Owner), l.Assistant,
			l.CreatedAt.UnixMilli(), l.UpdatedAt.UnixMilli(), l.DeletedAt.UnixMilli(), int64(l.Runs), string(l.Reason))
	}
	return tombstones, nil
}
