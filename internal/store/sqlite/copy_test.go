package sqlite

import (
	"context"
	"testing"

	"sibyl/internal/store/storetest"
)

// described is a database that tells its columns.
type described struct{ *DB }

func (d described) Schema(ctx context.Context) ([]string, error) {
	return read(ctx, d.DB, everything, func(r row) string { return r.text(0) + "." + r.text(1) }, `
		SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
		WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`)
}

func TestDatabaseIsCopiedWhole(t *testing.T) {
	open := func(t *testing.T) storetest.Database { return described{openAt(t, newPath(t), unsynced)} }
	storetest.Run(t, open, open)
}
