package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

const (
	nextRecord = `(SELECT coalesce(max(seq), -1) + 1 FROM record WHERE record.run = run.no)`

	selectRun = `
	SELECT id, session, owner, assistant, title, status, started_at, ended_at, lease_holder, lease_until, ` + nextRecord + `
	FROM run `
)

func scanRun(row row) (journal.Run, error) {
	var r journal.Run
	var started int64
	var ended, until sql.Null[int64]
	err := row.Scan(&r.ID, &r.Session, &r.Owner, &r.Assistant, &r.Title, &r.Status, &started, &ended,
		&r.LeaseHolder, &until, &r.Records)
	r.StartedAt, r.EndedAt, r.LeaseUntil = instant(started), maybeInstant(ended), maybeInstant(until)
	return r, err
}

// Begin implements journal.Store.
func (db *DB) Begin(ctx context.Context, r journal.Run, blobs [][]byte, recs []journal.Record) error {
	r, err := journal.NewRun(r, recs)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		if err := t.ownsSession(r.Owner, r.Session); err != nil {
			return err
		}
		no, err := t.insertRun(r)
		if err != nil {
			return err
		}
		for _, content := range blobs {
			if err := t.linkBlob(no, content); err != nil {
				return err
			}
		}
		if err := t.insertRecords(no, recs); err != nil {
			return err
		}
		return t.touch(r.Session, r.StartedAt)
	})
}

func (t *tx) insertRun(r journal.Run) (no int64, err error) {
	result, err := t.result(`
		INSERT INTO run (id, session, owner, assistant, title, status, started_at, lease_holder, lease_until)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Session, string(r.Owner), r.Assistant, r.Title, string(r.Status), r.StartedAt.UnixMilli(),
		r.LeaseHolder, maybe(r.LeaseUntil))
	if err != nil {
		return 0, err
	}
	if created, err := result.RowsAffected(); err != nil {
		return 0, err
	} else if created == 0 {
		return 0, fmt.Errorf("run %q: %w", r.ID, journal.ErrExists)
	}
	return result.LastInsertId()
}

// Run implements journal.Store.
func (db *DB) Run(ctx context.Context, owner journal.Owner, id string) (journal.Run, error) {
	found, err := read(ctx, db, scanRun, selectRun+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "run", id)
}

// Runs implements journal.Store.
func (db *DB) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error) {
	query, args := selectRun+`WHERE owner = ?`, []any{string(owner)}
	if f.Session != "" {
		query, args = query+` AND session = ?`, append(args, f.Session)
	}
	switch f.Status {
	case "":
	case journal.Running:
		query += ` AND status = 'running'` // as a constant, so that the index of running runs serves
	default:
		query, args = query+` AND status = ?`, append(args, string(f.Status))
	}
	return read(ctx, db, scanRun, query+` ORDER BY started_at DESC, id DESC LIMIT ?`, append(args, journal.Limit(f.Limit))...)
}

// Acquire implements journal.Store.
func (db *DB) Acquire(ctx context.Context, owner journal.Owner, run, holder string, now, until time.Time) error {
	return db.write(ctx, func(t *tx) error {
		r, err := t.run(owner, run)
		if err != nil {
			return err
		}
		if err := r.AllowAcquire(holder, now); err != nil {
			return err
		}
		return t.exec(`UPDATE run SET lease_holder = ?, lease_until = ? WHERE id = ?`, holder, maybe(until), run)
	})
}

// Release implements journal.Store.
func (db *DB) Release(ctx context.Context, owner journal.Owner, run, holder string) error {
	return db.write(ctx, func(t *tx) error {
		if _, err := t.run(owner, run); err != nil {
			return err
		}
		return t.exec(`UPDATE run SET lease_holder = '', lease_until = NULL WHERE id = ? AND lease_holder = ?`, run, holder)
	})
}

func (t *tx) run(owner journal.Owner, id string) (journal.Run, error) {
	found, err := all(t, scanRun, selectRun+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "run", id)
}
