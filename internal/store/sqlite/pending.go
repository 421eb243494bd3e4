package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

const selectPending = `SELECT id, owner, session, run, kind, data, created_at, expires_at FROM pending `

func scanPending(row row) (journal.Pending, error) {
	var p journal.Pending
	var created int64
	var expires sql.Null[int64]
	err := row.Scan(&p.ID, &p.Owner, &p.Session, &p.Run, &p.Kind, (*[]byte)(&p.Data), &created, &expires)
	p.CreatedAt, p.ExpiresAt = instant(created), maybeInstant(expires)
	return p, err
}

// Pending implements journal.Store.
func (db *DB) Pending(ctx context.Context, owner journal.Owner, session string, now time.Time) ([]journal.Pending, error) {
	return read(ctx, db, scanPending, selectPending+`
		WHERE session = ? AND owner = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at, id`,
		session, string(owner), now.UnixMilli())
}

func (t *tx) insertPending(p journal.Pending) error {
	left, err := t.affected(`
		INSERT INTO pending (id, owner, session, run, kind, data, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, id) DO NOTHING`,
		p.ID, string(p.Owner), p.Session, p.Run, p.Kind, notNull(p.Data), p.CreatedAt.UnixMilli(), maybe(p.ExpiresAt))
	if err == nil && left == 0 {
		err = fmt.Errorf("pending row %q: %w", p.ID, journal.ErrExists)
	}
	return err
}

// consume uses up the pending rows that a beginning names, and removes the others of its session.
func (t *tx) consume(b journal.Beginning) error {
	for _, id := range b.Consume {
		found, err := all(t, scanPending, selectPending+`WHERE session = ? AND id = ?`, b.Run.Session, id)
		if err != nil {
			return err
		}
		if len(found) == 0 || !found[0].Open(b.Run.StartedAt) {
			return journal.Consumed(id)
		}
	}
	return t.exec(`DELETE FROM pending WHERE session = ?`, b.Run.Session)
}

// claim takes the keys that a beginning claims, for the run of that number.
func (t *tx) claim(b journal.Beginning, no int64) error {
	for _, key := range b.Claims {
		holder, err := all(t, scanText, selectHolder, key, string(b.Run.Owner))
		if err != nil {
			return err
		}
		if len(holder) > 0 {
			return &journal.ClaimedError{Key: key, Run: holder[0]}
		}
		if err := t.exec(`INSERT INTO claim (key, owner, run) VALUES (?, ?, ?)`, key, string(b.Run.Owner), no); err != nil {
			return err
		}
	}
	return nil
}

const selectHolder = `SELECT run.id FROM claim JOIN run ON run.no = claim.run WHERE claim.key = ? AND claim.owner = ?`

// Claimed implements journal.Store.
func (db *DB) Claimed(ctx context.Context, owner journal.Owner, key string) (run string, err error) {
	found, err := read(ctx, db, scanText, selectHolder, key, string(owner))
	return only(found, err, "claim", key)
}

func scanText(row row) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}
