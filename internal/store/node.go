package store

import (
	"context"
	"time"

	"sibyl/internal/server/node"
)

var _ node.Registry = (*DB)(nil)

// Now implements node.Registry. It is the server's clock, or this machine's for a file.
func (db *DB) Now(ctx context.Context) (time.Time, error) { return db.now(ctx) }

// Keep implements node.Registry.
func (db *DB) Keep(ctx context.Context, n node.Node) error {
	return db.write(ctx, func(t *tx) error {
		t.run(`
			INSERT INTO node (holder, name, build, address, started_at, seen_at, most, draining)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (holder) DO UPDATE SET name = excluded.name, build = excluded.build, address = excluded.address,
				started_at = excluded.started_at, seen_at = excluded.seen_at, most = excluded.most, draining = excluded.draining`,
			n.Holder, n.Name, n.Build, n.Address, n.StartedAt.UnixMilli(), n.SeenAt.UnixMilli(), int64(n.Most),
			oneIf(n.Draining))
		return nil
	})
}

// Leave implements node.Registry. It also ends the leases of the holder's running runs.
func (db *DB) Leave(ctx context.Context, holder string) error {
	return db.write(ctx, func(t *tx) error {
		t.run(`DELETE FROM node WHERE holder = $1`, holder)
		t.run(`UPDATE run SET lease_until = NULL WHERE status = 'running' AND lease_holder = $1`, holder)
		return nil
	})
}

// Nodes implements node.Registry. It calls Leave for nodes that are gone.
func (db *DB) Nodes(ctx context.Context, now time.Time) ([]node.Node, error) {
	scan := func(r row, n *node.Node) error {
		return r.Scan(&n.Holder, &n.Name, &n.Build, &n.Address, millis{&n.StartedAt}, millis{&n.SeenAt}, &n.Most,
			&n.Draining, &n.Runs)
	}
	all, err := readRows(ctx, db, scan, `
		SELECT holder, name, build, address, started_at, seen_at, most, draining <> 0,
		       (SELECT count(*) FROM run WHERE status = 'running' AND lease_holder = holder AND lease_until > $1)
		FROM node ORDER BY started_at, holder`, now.UnixMilli())
	if err != nil {
		return nil, err
	}
	return node.RemoveGone(all, now, func(holder string) error { return db.Leave(ctx, holder) })
}

// TakeDuty implements node.Registry.
func (db *DB) TakeDuty(ctx context.Context, name string, now time.Time, every time.Duration) (taken bool, err error) {
	latest := node.LatestDue(now, every).UnixMilli()
	waits, err := readRows(ctx, db, scanValue[string], `SELECT name FROM duty WHERE name = $1 AND due_at > $2 AND due_at <= $3`,
		name, now.UnixMilli(), latest)
	if err != nil || len(waits) > 0 {
		return false, err
	}
	due := now.Add(every).UnixMilli()
	err = db.write(ctx, func(t *tx) error {
		t.setProof(`SELECT 1 FROM duty WHERE name = $1 AND due_at = $2`, name, due)
		queryChecked(t, scanValue[string], func(mine []string) error {
			taken = len(mine) > 0
			return nil
		}, `
			INSERT INTO duty (name, due_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at
			WHERE duty.due_at <= $3 OR duty.due_at > $4 RETURNING name`, name, due, now.UnixMilli(), latest)
		return nil
	})
	return taken && err == nil, err
}
