package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
)

const pendingColumns = `id, owner, session, run, kind, data, created_at, expires_at`

func scanPending(r pgx.CollectableRow) (p journal.Pending, err error) {
	return p, r.Scan(&p.ID, &p.Owner, &p.Session, &p.Run, &p.Kind, data{&p.Data}, millis{&p.CreatedAt}, millis{&p.ExpiresAt})
}

// Pending implements journal.Store.
func (db *DB) Pending(ctx context.Context, owner journal.Owner, session string, now time.Time) ([]journal.Pending, error) {
	return read(ctx, db, scanPending, `SELECT `+pendingColumns+` FROM pending
		WHERE session = $1 AND owner = $2 AND (expires_at IS NULL OR expires_at > $3) ORDER BY created_at, id`,
		session, string(owner), now.UnixMilli())
}

// leave adds the pending rows that a run leaves to its session.
func (t *tx) leave(left []journal.Pending) {
	var ids, kinds []string
	var contents [][]byte
	var expiries []*int64
	for _, p := range left {
		ids, kinds = append(ids, p.ID), append(kinds, p.Kind)
		contents, expiries = append(contents, notNull(p.Data)), append(expiries, maybe(p.ExpiresAt))
	}
	check := func(added []string) error {
		for _, id := range ids {
			if !slices.Contains(added, id) {
				return fmt.Errorf("pending row %q: %w", id, journal.ErrExists)
			}
		}
		return nil
	}
	rows(t, pgx.RowTo[string], check, `
		INSERT INTO pending (`+pendingColumns+`)
		SELECT given.id, run.owner, run.session, run.id, given.kind, given.data, $3, given.expires_at
		FROM run, unnest($4::text[], $5::text[], $6::bytea[], $7::bigint[]) AS given (id, kind, data, expires_at)
		WHERE run.id = $1 AND run.owner = $2
		ON CONFLICT (session, id) DO NOTHING RETURNING id`,
		left[0].Run, string(left[0].Owner), left[0].CreatedAt.UnixMilli(), ids, kinds, contents, expiries)
}

// Claimed implements journal.Store.
func (db *DB) Claimed(ctx context.Context, owner journal.Owner, key string) (run string, err error) {
	found, err := read(ctx, db, pgx.RowTo[string], `SELECT run FROM claim WHERE key = $1 AND owner = $2`, key, string(owner))
	return only(found, err, "claim", key)
}
