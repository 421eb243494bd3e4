package sqlite

import (
	"context"
	"time"

	"sibyl/internal/node"
)

var _ node.Registry = (*DB)(nil)

// Now implements node.Registry. All processes that have the file open are on this machine.
func (db *DB) Now(context.Context) (time.Time, error) { return time.Now(), db.stands() }

// Keep implements node.Registry.
func (db *DB) Keep(ctx context.Context, n node.Node) error {
	return db.write(ctx, func(t tx) error {
		return t.run(`
			INSERT INTO node (holder, name, build, address, started_at, seen_at, most, draining) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (holder) DO UPDATE SET name = excluded.name, build = excluded.build, address = excluded.address,
				started_at = excluded.started_at, seen_at = excluded.seen_at, most = excluded.most, draining = excluded.draining`,
			n.Holder, n.Name, n.Build, n.Address, n.StartedAt.UnixMilli(), n.SeenAt.UnixMilli(), int64(n.Most), oneIf(n.Draining))
	})
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}

// Leave implements node.Registry.
func (db *DB) Leave(ctx context.Context, holder string) error {
	return db.write(ctx, func(t tx) error { return t.run(`DELETE FROM node WHERE holder = ?`, holder) })
}

// Nodes implements node.Registry.
func (db *DB) Nodes(ctx context.Context, now time.Time) ([]node.Node, error) {
	all, err := read(ctx, db, everything, scanNode, `
		SELECT holder, name, build, address, started_at, seen_at, most, draining,
		       (SELECT count(*) FROM run WHERE status = 'running' AND lease_holder = holder AND lease_until > ?)
		FROM node ORDER BY started_at, holder`, now.UnixMilli())
	if err != nil {
		return nil, err
	}
	return node.Living(all, now, func(holder string) error { return db.Leave(ctx, holder) })
}

func scanNode(r row) node.Node {
	return node.Node{Holder: r.text(0), Name: r.text(1), Build: r.text(2), Address: r.text(3), StartedAt: r.time(4), SeenAt: r.time(5),
		Most: int(r.int(6)), Draining: r.int(7) != 0, Runs: int(r.int(8))}
}

// TakeDuty implements node.Registry.
func (db *DB) TakeDuty(ctx context.Context, name string, now time.Time, every time.Duration) (taken bool, err error) {
	const isDue = `SELECT count(*) FROM duty WHERE name = ? AND due_at > ? AND due_at <= ?`
	latest := node.LatestDue(now, every).UnixMilli()
	waits, err := read(ctx, db, everything, firstInt, isDue, name, now.UnixMilli(), latest)
	if err != nil || waits[0] > 0 {
		return false, err
	}
	err = db.write(ctx, func(t tx) error {
		n, err := t.change(`
			INSERT INTO duty (name, due_at) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at WHERE due_at <= ? OR due_at > ?`,
			name, now.Add(every).UnixMilli(), now.UnixMilli(), latest)
		taken = n > 0
		return err
	})
	return taken, err
}
