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

	runColumns = `
	SELECT id, session, owner, assistant, title, status, started_at, ended_at, lease_holder, lease_until, reason, ` + nextRecord

	selectRun     = runColumns + `, NULL FROM run `
	selectSummary = runColumns + `, summary FROM run `
)

func scanRun(row row) (journal.Run, error) {
	var r journal.Run
	var started int64
	var ended, until sql.Null[int64]
	err := row.Scan(&r.ID, &r.Session, &r.Owner, &r.Assistant, &r.Title, &r.Status, &started, &ended,
		&r.LeaseHolder, &until, &r.Reason, &r.Records, (*[]byte)(&r.Summary))
	r.StartedAt, r.EndedAt, r.LeaseUntil = instant(started), maybeInstant(ended), maybeInstant(until)
	return r, err
}

// Begin implements journal.Store.
func (db *DB) Begin(ctx context.Context, b journal.Beginning) error {
	b, err := journal.NewBeginning(b)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		var err error
		if b.Session != nil {
			err = t.insertSession(*b.Session)
		} else {
			err = t.ownsSession(b.Run.Owner, b.Run.Session)
		}
		if err != nil {
			return err
		}
		no, err := t.insertRun(b.Run)
		if err != nil {
			return err
		}
		if err := t.consume(b); err != nil {
			return err
		}
		if err := t.claim(b, no); err != nil {
			return err
		}
		for _, content := range b.Blobs {
			if err := t.linkBlob(no, content); err != nil {
				return err
			}
		}
		if err := t.insertRecords(no, b.Records); err != nil {
			return err
		}
		return t.touch(b.Run.Session, b.Run.StartedAt)
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
	found, err := read(ctx, db, scanRun, selectSummary+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "run", id)
}

// Runs implements journal.Store.
func (db *DB) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error) {
	q := listing{owner: owner, by: "started_at", after: f.After, limit: f.Limit}
	q.where("session", f.Session)
	q.where("assistant", f.Assistant)
	from := selectRun
	if f.Summaries {
		from = selectSummary
	}
	if f.Status == journal.Running {
		from += `INDEXED BY run_running ` // few are running at once
		q.conditions += ` AND status = 'running'`
	} else {
		q.where("status", string(f.Status))
	}
	return list(ctx, db, scanRun, from, q)
}

// Stranded implements journal.Store.
func (db *DB) Stranded(ctx context.Context, now time.Time, limit int) ([]journal.Run, error) {
	return read(ctx, db, scanRun, selectRun+`
		WHERE status = 'running' AND (lease_until IS NULL OR lease_until <= ?)
		ORDER BY lease_until, started_at, id LIMIT ?`, now.UnixMilli(), journal.Limit(limit))
}

// Standing implements journal.Store.
func (db *DB) Standing(ctx context.Context, runs []journal.Key) ([]journal.Standing, error) {
	var standing []journal.Standing
	for _, k := range runs {
		found, err := read(ctx, db, scanStanding, `SELECT status, lease_holder, `+nextRecord+` FROM run WHERE id = ? AND owner = ?`,
			k.Run, string(k.Owner))
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			s.Key = k
			standing = append(standing, s)
		}
	}
	return standing, nil
}

func scanStanding(row row) (s journal.Standing, err error) {
	err = row.Scan(&s.Status, &s.LeaseHolder, &s.Records)
	return s, err
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

// Renew implements journal.Store.
func (db *DB) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	if err := journal.CheckHolder(holder); err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		for _, k := range runs {
			if err := t.exec(`UPDATE run SET lease_until = ? WHERE id = ? AND owner = ? AND lease_holder = ?`,
				until.UnixMilli(), k.Run, string(k.Owner), holder); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) run(owner journal.Owner, id string) (journal.Run, error) {
	found, err := all(t, scanRun, selectRun+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "run", id)
}
