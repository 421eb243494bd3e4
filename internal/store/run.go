package store

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"sibyl/internal/journal"
)

const (
	runColumns = `
	SELECT id, session, owner, assistant, title, status, started_at, ended_at, lease_holder, lease_until, reason, tries, replaces, follows, ` + nextRecord

	selectRun     = runColumns + `, NULL FROM run `
	selectSummary = runColumns + `, summary FROM run `
)

func scanRun(r row, run *journal.Run) error {
	return r.Scan(&run.ID, &run.Session, &run.Owner, &run.Assistant, &run.Title, &run.Status, millis{&run.StartedAt},
		millis{&run.EndedAt},
		&run.LeaseHolder, millis{&run.LeaseUntil}, &run.Reason, &run.Tries, &run.Replaces, &run.Follows,
		&run.Records, data{&run.Summary})
}

// Run implements journal.Store.
func (db *DB) Run(ctx context.Context, owner journal.Owner, id string) (journal.Run, error) {
	found, err := readRows(ctx, db, scanRun, selectSummary+`WHERE id = $1 AND owner = $2`, id, string(owner))
	return onlyRow(found, err, notFoundError("run", id))
}

// Runs implements journal.Store.
func (db *DB) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]journal.Run, error) {
	q := listing{owner: owner, by: "started_at", after: f.After, limit: f.Limit}
	q.where("session = ", f.Session)
	q.where("assistant = ", f.Assistant)
	from := selectRun
	if f.Summaries {
		from = selectSummary
	}
	if f.Status == journal.Running {
		q.conditions += ` AND status = 'running'`
	} else {
		q.where("status = ", string(f.Status))
	}
	if f.Ended {
		q.conditions += ` AND status <> 'running'`
	}
	q.whereBetween("started_at", f.From, f.To)
	if !f.Asking.IsZero() {
		q.conditions += ` AND id IN (SELECT run FROM pending WHERE owner = $1 AND kind <> ` + q.arg(journal.NoQuestion) +
			` AND (expires_at IS NULL OR expires_at > ` + q.arg(f.Asking.UnixMilli()) + `))`
	}
	return listRows(ctx, db, scanRun, from, q)
}

// Stranded implements journal.Store.
func (db *DB) Stranded(
	ctx context.Context, at journal.LeaseTimes, limit int, without ...string,
) ([]journal.Run, error) {
	args := []any{at.Now.UnixMilli(), millisOrLatest(at.Leases), millisOrLatest(at.Rests), int64(journal.MaxTries),
		int64(journal.Limit(limit))}
	others := ""
	for _, name := range without {
		args = append(args, name)
		others += fmt.Sprintf(" AND assistant <> $%d", len(args))
	}
	return readRows(ctx, db, scanRun, selectRun+`
		LEFT JOIN (
			SELECT owner AS driver, count(*) AS driven FROM run
			WHERE status = 'running' AND lease_until > $1 AND lease_until <= $2 AND lease_holder <> '' GROUP BY owner
		) AS busy ON driver = owner
		WHERE status = 'running' AND tries < $4`+others+`
		AND (lease_until IS NULL OR lease_until <= $1 OR lease_until >
			CASE lease_holder WHEN '' THEN CAST($3 AS bigint) ELSE $2 END)
		ORDER BY coalesce(driven, 0) + row_number() OVER (PARTITION BY owner ORDER BY started_at, id), started_at, id
		LIMIT $5`, args...)
}

// Census implements journal.Store.
func (db *DB) Census(ctx context.Context, at journal.LeaseTimes) ([]journal.Count, error) {
	scan := func(r row, c *journal.Count) error { return r.Scan(&c.Assistant, &c.Stand, &c.Runs, millis{&c.Oldest}) }
	return readRows(ctx, db, scan, `
		SELECT assistant, CASE
			WHEN lease_holder <> '' AND lease_until > $1 AND lease_until <= $2 THEN 'driven'
			WHEN tries >= $4 THEN 'set_aside'
			WHEN lease_holder = '' AND lease_until > $1 AND lease_until <= $3 THEN 'resting'
			ELSE 'waiting' END COLLATE "C" AS stand, count(*), min(started_at)
		FROM run WHERE status = 'running' GROUP BY assistant, stand ORDER BY assistant, stand`,
		at.Now.UnixMilli(), millisOrLatest(at.Leases), millisOrLatest(at.Rests), int64(journal.MaxTries))
}

// millisOrLatest returns a time as an upper bound for SQL. The zero time means no bound.
func millisOrLatest(t time.Time) int64 {
	if t.IsZero() {
		return math.MaxInt64
	}
	return t.UnixMilli()
}

// keysJSON encodes keys as JSON pairs of owner and id. It leaves out keys with text that PostgreSQL refuses.
func keysJSON(keys []journal.Key) (string, error) {
	all := [][2]string{}
	for _, k := range keys {
		if journal.Plain(string(k.Owner)) && journal.Plain(k.Run) {
			all = append(all, [2]string{string(k.Owner), k.Run})
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// Snapshots implements journal.Store.
func (db *DB) Snapshots(ctx context.Context, keys []journal.Key) ([]journal.RunSnapshot, error) {
	given, err := keysJSON(keys)
	if err != nil {
		return nil, err
	}
	scan := func(r row, s *journal.RunSnapshot) error {
		return r.Scan(&s.Owner, &s.Run, &s.Status, &s.LeaseHolder, &s.Records)
	}
	return readRows(ctx, db, scan, `
		SELECT run.owner, run.id, status, lease_holder, `+nextRecord+`
		FROM `+eachGiven+` JOIN run ON run.id = given.value ->> 1 AND run.owner = given.value ->> 0 ORDER BY given.key`,
		given)
}

// Acquire implements journal.Store.
func (db *DB) Acquire(ctx context.Context, owner journal.Owner, run, holder string, now, until time.Time) error {
	return db.write(ctx, func(t *tx) error {
		// The run is locked before it is read, since a query that waits for a lock may return rows from before the wait.
		t.lockRun(owner, run)
		check := func(found []journal.Run) error {
			r, err := onlyRow(found, nil, notFoundError("run", run))
			if err == nil {
				err = r.AllowAcquire(holder, now)
			}
			return err
		}
		queryChecked(t, scanRun, check, selectRun+`WHERE id = $1 AND owner = $2`, run, string(owner))
		t.run(`
			UPDATE run SET tries = tries + CASE lease_holder WHEN $2 THEN 0 ELSE 1 END, lease_holder = $2, lease_until = $3
			WHERE id = $1`,
			run, holder, timeOrNull(until))
		return nil
	})
}

// lockRun locks a run against changes by other transactions. The write fails with ErrNotFound if there is no such run.
func (t *tx) lockRun(owner journal.Owner, run string) {
	t.requireRow(notFoundError("run", run), `SELECT id FROM run WHERE id = $1 AND owner = $2 FOR NO KEY UPDATE`, run,
		string(owner))
}

// Settle implements journal.Store.
func (db *DB) Settle(ctx context.Context, owner journal.Owner, run, holder string) error {
	return db.write(ctx, func(t *tx) error {
		t.lockRun(owner, run)
		t.run(`UPDATE run SET tries = 0 WHERE id = $1 AND lease_holder = $2 AND lease_holder <> ''`, run, holder)
		return nil
	})
}

// Release implements journal.Store.
func (db *DB) Release(ctx context.Context, owner journal.Owner, run, holder string, rest time.Time) error {
	err := db.write(ctx, func(t *tx) error {
		t.lockRun(owner, run)
		t.run(`
			UPDATE run SET lease_holder = '', lease_until = $3, tries = greatest(tries - 1, 0)
			WHERE id = $1 AND lease_holder = $2 AND lease_holder <> ''`, run, holder, timeOrNull(rest))
		return nil
	})
	if err == nil {
		db.announce(journal.Key{Owner: owner, Run: run})
	}
	return err
}

// Renew implements journal.Store.
func (db *DB) Renew(ctx context.Context, holder string, keys []journal.Key, until time.Time) error {
	if err := journal.CheckHolder(holder); err != nil {
		return err
	}
	given, err := keysJSON(keys)
	if err != nil {
		return err
	}
	return db.write(ctx, func(t *tx) error {
		t.run(`
			UPDATE run SET lease_until = $3 WHERE no IN (
				SELECT no FROM `+eachGiven+` JOIN run ON run.id = given.value ->> 1 AND run.owner = given.value ->> 0
				WHERE lease_holder = $2 ORDER BY no FOR NO KEY UPDATE OF run)`, given, holder, until.UnixMilli())
		return nil
	})
}
