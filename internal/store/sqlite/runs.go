package sqlite

import (
	"context"
	"fmt"
	"math"
	"time"

	"sibyl/internal/journal"
)

const (
	runColumns = `
	SELECT id, session, owner, assistant, title, status, started_at, ended_at, lease_holder, lease_until, reason, tries, ` + nextRecord

	selectRun     = runColumns + `, NULL FROM run `
	selectSummary = runColumns + `, summary FROM run `
)

func scanRun(r row) journal.Run {
	return journal.Run{ID: r.text(0), Session: r.text(1), Owner: journal.Owner(r.text(2)), Assistant: r.text(3), Title: r.text(4),
		Status: journal.Status(r.text(5)), StartedAt: r.time(6), EndedAt: r.time(7), LeaseHolder: r.text(8), LeaseUntil: r.time(9),
		Reason: r.text(10), Tries: int(r.int(11)), Records: r.int(12), Summary: r.bytes(13)}
}

// Begin implements journal.Store.
func (db *DB) Begin(ctx context.Context, b journal.Beginning) error {
	b, err := journal.NewBeginning(b)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		if err := t.beginIn(b); err != nil {
			return err
		}
		if err := t.insertRun(b.Run, b.Blobs); err != nil {
			return err
		}
		if err := t.consume(b); err != nil {
			return err
		}
		if err := t.claim(b); err != nil {
			return err
		}
		return t.append(b.Run.Owner, b.Run.ID, b.Records)
	})
}

// beginIn makes the session of a beginning, or sees to it that it is there.
func (t tx) beginIn(b journal.Beginning) error {
	if b.Session != nil {
		return t.insertSession(*b.Session, b.Run.StartedAt)
	}
	moved, err := t.change(`UPDATE session SET updated_at = max(updated_at, ?) WHERE id = ? AND owner = ?`,
		b.Run.StartedAt.UnixMilli(), b.Run.Session, string(b.Run.Owner))
	if err == nil && moved == 0 {
		err = t.absent(b.Run.Owner, b.Run.Session)
	}
	return err
}

func (t tx) insertRun(r journal.Run, contents [][]byte) error {
	blobs, err := t.keepBlobs(r.Owner, contents)
	if err != nil {
		return err
	}
	no, added, err := t.insert(`
		INSERT INTO run (id, session, owner, assistant, title, status, started_at, lease_holder, lease_until, blobs)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`,
		r.ID, r.Session, string(r.Owner), r.Assistant, r.Title, string(r.Status), r.StartedAt.UnixMilli(),
		r.LeaseHolder, maybe(r.LeaseUntil), blobs)
	if err == nil && !added {
		err = fmt.Errorf("run %q: %w", r.ID, journal.ErrExists)
	}
	if err == nil {
		t.known.keepRunning(r.ID, place{r.Owner, no, 0})
	}
	return err
}

// Run implements journal.Store.
func (db *DB) Run(ctx context.Context, owner journal.Owner, id string) (journal.Run, error) {
	found, err := read(ctx, db, everything, scanRun, selectSummary+`WHERE id = ? AND owner = ?`, id, string(owner))
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
func (db *DB) Stranded(ctx context.Context, at journal.When, limit int) ([]journal.Run, error) {
	return read(ctx, db, journal.Limit(limit), scanRun, selectRun+`
		LEFT JOIN (
			SELECT owner AS driver, count(*) AS driven FROM run
			WHERE status = 'running' AND lease_until > ?1 AND lease_until <= ?2 AND lease_holder <> '' GROUP BY owner
		) ON driver = owner
		WHERE status = 'running' AND tries < ?4
		AND (lease_until IS NULL OR lease_until <= ?1 OR lease_until > CASE lease_holder WHEN '' THEN ?3 ELSE ?2 END)
		ORDER BY coalesce(driven, 0) + row_number() OVER (PARTITION BY owner ORDER BY started_at, id), started_at, id`,
		at.Now.UnixMilli(), latest(at.Leases), latest(at.Rests), int64(journal.MaxTries))
}

// Census implements journal.Store. The order of the cases is that of journal.Run.Stands.
func (db *DB) Census(ctx context.Context, at journal.When) ([]journal.Count, error) {
	scan := func(r row) journal.Count {
		return journal.Count{Assistant: r.text(0), Stand: journal.Stand(r.text(1)), Runs: int(r.int(2)), Oldest: r.time(3)}
	}
	return read(ctx, db, everything, scan, `
		SELECT assistant, CASE
			WHEN lease_holder <> '' AND lease_until > ?1 AND lease_until <= ?2 THEN 'driven'
			WHEN tries >= ?4 THEN 'set_aside'
			WHEN lease_holder = '' AND lease_until > ?1 AND lease_until <= ?3 THEN 'resting'
			ELSE 'waiting' END AS stand, count(*), min(started_at)
		FROM run WHERE status = 'running' GROUP BY assistant, stand ORDER BY assistant, stand`,
		at.Now.UnixMilli(), latest(at.Leases), latest(at.Rests), int64(journal.MaxTries))
}

// latest is the value of a time that is the last there is: none is later than one that is not set.
func latest(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.UnixMilli()
}

// Standing implements journal.Store.
func (db *DB) Standing(ctx context.Context, runs []journal.Key) ([]journal.Standing, error) {
	var standing []journal.Standing
	err := db.lend(ctx, func(c *conn) error {
		standing = nil
		for _, k := range runs {
			found, err := rowsOf(ctx, c, everything, func(r row) journal.Standing {
				return journal.Standing{Key: k, Status: journal.Status(r.text(0)), LeaseHolder: r.text(1), Records: r.int(2)}
			}, `SELECT status, lease_holder, `+nextRecord+` FROM run WHERE id = ? AND owner = ?`, []any{k.Run, string(k.Owner)})
			if err != nil {
				return err
			}
			standing = append(standing, found...)
		}
		return nil
	})
	return standing, db.explain(err)
}

// Acquire implements journal.Store.
func (db *DB) Acquire(ctx context.Context, owner journal.Owner, run, holder string, now, until time.Time) error {
	return db.write(ctx, func(t tx) error {
		r, err := t.theRun(owner, run)
		if err != nil {
			return err
		}
		if err := r.AllowAcquire(holder, now); err != nil {
			return err
		}
		r = r.Taken(holder, until)
		return t.run(`UPDATE run SET lease_holder = ?, lease_until = ?, tries = ? WHERE id = ?`, r.LeaseHolder, maybe(until), int64(r.Tries), run)
	})
}

// Settle implements journal.Store.
func (db *DB) Settle(ctx context.Context, owner journal.Owner, run, holder string) error {
	return db.write(ctx, func(t tx) error {
		if _, err := t.theRun(owner, run); err != nil || holder == "" {
			return err
		}
		return t.run(`UPDATE run SET tries = 0 WHERE id = ? AND lease_holder = ?`, run, holder)
	})
}

// Release implements journal.Store.
func (db *DB) Release(ctx context.Context, owner journal.Owner, run, holder string, rest time.Time) error {
	return db.write(ctx, func(t tx) error {
		if _, err := t.theRun(owner, run); err != nil || holder == "" {
			return err
		}
		return t.run(`UPDATE run SET lease_holder = '', lease_until = ?, tries = max(tries - 1, 0) WHERE id = ? AND lease_holder = ?`, maybe(rest), run, holder)
	})
}

// Renew implements journal.Store.
func (db *DB) Renew(ctx context.Context, holder string, runs []journal.Key, until time.Time) error {
	if err := journal.CheckHolder(holder); err != nil {
		return err
	}
	return db.write(ctx, func(t tx) error {
		for _, k := range runs {
			if err := t.run(`UPDATE run SET lease_until = ? WHERE id = ? AND owner = ? AND lease_holder = ?`,
				until.UnixMilli(), k.Run, string(k.Owner), holder); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t tx) theRun(owner journal.Owner, id string) (journal.Run, error) {
	found, err := rows(t, scanRun, selectRun+`WHERE id = ? AND owner = ?`, id, string(owner))
	return only(found, err, "run", id)
}
