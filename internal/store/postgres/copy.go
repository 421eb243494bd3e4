package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/journal"
	"sibyl/internal/store"
)

var _ store.Database = (*DB)(nil)

// unbounded lets a transaction take as long as it has to. Nobody waits for one that copies.
const unbounded = `SELECT set_config(name, '0', true) FROM unnest(array['statement_timeout', 'idle_in_transaction_session_timeout']) AS name`

// ReadAll implements store.Database.
func (db *DB) ReadAll(ctx context.Context, do func(rows func(store.Table) iter.Seq2[store.Row, error]) error) error {
	conn, err := db.acquire(ctx)
	if err != nil {
		return db.explain(ctx, err)
	}
	defer conn.Release()
	failed := func(err error) error { return db.explain(ctx, &failure{err: err, lost: conn.Conn().IsClosed()}) }
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return failed(err)
	}
	if _, err = tx.Exec(ctx, unbounded); err != nil {
		return failed(err)
	}
	err = do(func(t store.Table) iter.Seq2[store.Row, error] {
		return func(yield func(store.Row, error) bool) {
			for row, err := range all(ctx, tx, t) {
				if err != nil {
					err = failed(err)
				}
				if !yield(row, err) || err != nil {
					return
				}
			}
		}
	})
	return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx))) // of what only read
}

// all gives the rows of a table one by one.
func all(ctx context.Context, tx pgx.Tx, t store.Table) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		rows, err := tx.Query(ctx, "SELECT "+names(t.Columns)+" FROM "+t.Name+" ORDER BY "+names(t.Columns[:t.Keys]))
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			values, err := rows.Values()
			if !yield(values, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
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

// How much is sent at once.
const (
	mostRows  = 500
	mostBytes = 1 << 20
)

// FillAll implements store.Database. Nobody else writes meanwhile.
func (db *DB) FillAll(ctx context.Context, do func(write func(store.Table, store.Row) error) error) error {
	return db.write(ctx, func(t *tx) error {
		t.provable(`SELECT 1 FROM session UNION ALL SELECT 1 FROM tombstone UNION ALL SELECT 1 FROM person UNION ALL SELECT 1 FROM task`)
		t.change(nil, unbounded)
		for _, table := range store.Tables() {
			t.change(nil, "LOCK TABLE "+table.Name+" IN EXCLUSIVE MODE")
		}
		for _, table := range store.Tables() {
			full := fmt.Errorf("database %s, table %s: %w: name an empty one", db.name, table.Name, store.ErrNotEmpty)
			rows(t, pgx.RowTo[int64], none[int64](full), "SELECT 1::bigint FROM "+table.Name+" LIMIT 1")
		}
		if err := t.send(); err != nil {
			return err
		}
		var held int
		err := do(func(table store.Table, values store.Row) error {
			row, size, err := kept(table, values)
			if err != nil {
				return err
			}
			t.change(nil, insertInto(table), row...)
			if held += size; t.batch.Len() < mostRows && held < mostBytes {
				return nil
			}
			held = 0
			return t.send()
		})
		if err != nil {
			return err
		}
		// Numbers go on after those that were given.
		for table, column := range map[string]string{"run": "no", "blob": "no", "task": "id", "task_change": "id"} {
			t.change(nil, "SELECT setval(pg_get_serial_sequence('"+table+"', '"+column+"'), max("+column+")) FROM "+table+" HAVING count(*) > 0")
		}
		return nil
	})
}

func insertInto(t store.Table) string {
	var places []string
	for i := range t.Columns {
		places = append(places, fmt.Sprintf("$%d", i+1))
	}
	return "INSERT INTO " + t.Name + " (" + names(t.Columns) + ") VALUES (" + strings.Join(places, ", ") + ")"
}

// kept is a row that outlives its caller's, and how many bytes there are in it.
func kept(t store.Table, values store.Row) (row store.Row, size int, err error) {
	row = slices.Clone(values)
	for i, value := range row {
		switch v := value.(type) {
		case string:
			if !journal.Plain(v) {
				return nil, 0, fmt.Errorf("column %s is %.50q: PostgreSQL keeps only valid UTF-8 without the character NUL: %w", t.Columns[i].Name, v, journal.ErrInvalid)
			}
			size += len(v)
		case []byte:
			row[i] = notNull(bytes.Clone(v))
			size += len(v)
		}
	}
	return row, size, nil
}
