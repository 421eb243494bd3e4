package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"sibyl/internal/store"
)

var _ store.Database = (*DB)(nil)

// ReadAll implements store.Database.
func (db *DB) ReadAll(ctx context.Context, do func(rows func(store.Table) iter.Seq2[store.Row, error]) error) error {
	return db.explain(db.lend(ctx, func(c *conn) (err error) {
		if _, err := c.exec("BEGIN"); err != nil {
			return err
		}
		defer func() {
			_, endErr := c.exec("COMMIT") // of what only read
			err = errors.Join(err, endErr)
		}()
		return do(func(t store.Table) iter.Seq2[store.Row, error] { return c.all(ctx, t) })
	}))
}

// all gives the rows of a table one by one.
func (c *conn) all(ctx context.Context, t store.Table) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		stmt, err := c.prepared("SELECT " + names(t.Columns) + " FROM " + t.Name + " ORDER BY " + names(t.Columns[:t.Keys]))
		if err != nil {
			yield(nil, err)
			return
		}
		rows, err := stmt.QueryContext(context.Background(), nil)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close() //nolint:errcheck // what it would say was said by Next
		values, out := make(row, len(t.Columns)), make(store.Row, len(t.Columns))
		for {
			err := ctx.Err()
			if err == nil {
				err = rows.Next(values)
			}
			if errors.Is(err, io.EOF) {
				return
			}
			for i, v := range values {
				if out[i] = v; t.Columns[i].Kind == store.Bytes {
					out[i] = notNull(values.bytes(i))
				}
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

func names(columns []store.Column) string {
	var all []string
	for _, c := range columns {
		all = append(all, c.Name)
	}
	return strings.Join(all, ", ")
}

// FillAll implements store.Database.
func (db *DB) FillAll(ctx context.Context, do func(write func(store.Table, store.Row) error) error) error {
	return db.write(ctx, func(t tx) error {
		t.known.forget()
		for _, table := range store.Tables() {
			found, err := rows(t, firstInt, "SELECT count(*) FROM (SELECT 1 FROM "+table.Name+" LIMIT 1)")
			if err != nil {
				return err
			}
			if found[0] > 0 {
				return fmt.Errorf("database %s, table %s: %w: name an empty one", db.path, table.Name, store.ErrNotEmpty)
			}
		}
		return do(func(table store.Table, values store.Row) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return t.run("INSERT INTO "+table.Name+" ("+names(table.Columns)+") VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
		})
	})
}
