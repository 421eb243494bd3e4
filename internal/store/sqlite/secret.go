package sqlite

import (
	"context"

	"sibyl/internal/store"
)

var _ store.Secrets = (*DB)(nil)

// Secret implements store.Secrets.
func (db *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	find := func() ([][]byte, error) {
		return read(ctx, db, everything, func(r row) []byte { return r.bytes(0) }, `SELECT value FROM secret WHERE name = ?`, name)
	}
	found, err := find()
	if err == nil && len(found) == 0 {
		err = db.write(ctx, func(t tx) error {
			return t.run(`INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, store.NewSecret())
		})
		if err == nil {
			found, err = find()
		}
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
