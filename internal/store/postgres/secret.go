package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/store"
)

var _ store.Secrets = (*DB)(nil)

// Secret implements store.Secrets.
func (db *DB) Secret(ctx context.Context, name string) ([]byte, error) {
	find := func() ([][]byte, error) {
		return read(ctx, db, pgx.RowTo[[]byte], `SELECT value FROM secret WHERE name = $1`, name)
	}
	found, err := find()
	if err == nil && len(found) == 0 {
		err = db.write(ctx, func(t *tx) error {
			t.change(nil, `INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, store.NewSecret())
			return nil
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
