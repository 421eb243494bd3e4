package sqlite

import (
	"context"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

const selectPending = `SELECT id, owner, session, run, kind, data, created_at, expires_at FROM pending `

func scanPending(r row) journal.Pending {
	return journal.Pending{ID: r.text(0), Owner: journal.Owner(r.text(1)), Session: r.text(2), Run: r.text(3), Kind: r.text(4),
		Data: r.bytes(5), CreatedAt: r.time(6), ExpiresAt: r.time(7)}
}

// Pending implements journal.Store.
func (db *DB) Pending(ctx context.Context, owner journal.Owner, session string, now time.Time) ([]journal.Pending, error) {
	return read(ctx, db, everything, scanPending, selectPending+`
		WHERE session = ? AND owner = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY created_at, id`,
		session, string(owner), now.UnixMilli())
}

func (t tx) insertPending(p journal.Pending) error {
	left, err := t.change(`
		INSERT INTO pending (id, owner, session, run, kind, data, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, id) DO NOTHING`,
		p.ID, string(p.Owner), p.Session, p.Run, p.Kind, notNull(p.Data), p.CreatedAt.UnixMilli(), maybe(p.ExpiresAt))
	if err == nil && left == 0 {
		err = fmt.Errorf("pending row %q: %w", p.ID, journal.ErrExists)
	}
	return err
}

// consume uses up the pending rows that a beginning names, and removes the others of its session.
func (t tx) consume(b journal.Beginning) error {
	for _, id := range b.Consume {
		found, err := rows(t, scanPending, selectPending+`WHERE session = ? AND id = ?`, b.Run.Session, id)
		if err != nil {
			return err
		}
		if len(found) == 0 || !found[0].Open(b.Run.StartedAt) {
			return journal.Consumed(id)
		}
	}
	if b.Session != nil {
		return nil
	}
	return t.run(`DELETE FROM pending WHERE session = ?`, b.Run.Session)
}

// claim takes the keys that a beginning claims.
func (t tx) claim(b journal.Beginning) error {
	for _, key := range b.Claims {
		holder, err := rows(t, firstText, selectHolder, key, string(b.Run.Owner))
		if err != nil {
			return err
		}
		if len(holder) > 0 {
			return &journal.ClaimedError{Key: key, Run: holder[0]}
		}
		if err := t.run(`INSERT INTO claim (owner, key, run) VALUES (?, ?, ?)`, string(b.Run.Owner), key, b.Run.ID); err != nil {
			return err
		}
	}
	return nil
}

const selectHolder = `SELECT run FROM claim WHERE key = ? AND owner = ?`

// Claimed implements journal.Store.
func (db *DB) Claimed(ctx context.Context, owner journal.Owner, key string) (run string, err error) {
	found, err := read(ctx, db, everything, firstText, selectHolder, key, string(owner))
	return only(found, err, "claim", key)
}

// firstText is a row of one text.
func firstText(r row) string { return r.text(0) }
