package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"sibyl/internal/journal"
)

// read returns the rows of one query. It sees every write that has returned.
func read[T any](ctx context.Context, db *DB, scan pgx.RowToFunc[T], query string, args ...any) ([]T, error) {
	for again := true; ; again = false {
		found, err := readOnce(ctx, db, scan, query, args)
		if !again || !isLost(err) || ctx.Err() != nil {
			return found, db.explain(ctx, err)
		}
		db.pool.Reset()
	}
}

func readOnce[T any](ctx context.Context, db *DB, scan pgx.RowToFunc[T], query string, args []any) ([]T, error) {
	bounded, cancel := context.WithTimeout(ctx, db.patience)
	defer cancel()
	conn, err := db.acquire(bounded)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	rows, err := conn.Query(bounded, query, bound(args)...)
	if err != nil {
		return nil, &failure{err: err, lost: conn.Conn().IsClosed()}
	}
	found, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, &failure{err: err, lost: conn.Conn().IsClosed()}
	}
	return found, nil
}

// bound returns args as the server takes them. No row has a text that the server refuses, and none has NULL.
func bound(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok && !journal.Plain(text) {
			args[i] = nil
		}
	}
	return args
}

// millis scans a time, which is zero where it is NULL.
type millis struct{ *time.Time }

func (m millis) ScanInt64(v pgtype.Int8) error {
	*m.Time = time.Time{}
	if v.Valid {
		*m.Time = time.UnixMilli(v.Int64).UTC()
	}
	return nil
}

// data scans bytes, which are nil where there is none.
type data struct{ *json.RawMessage }

func (d data) ScanBytes(v []byte) error {
	*d.RawMessage = append(json.RawMessage(nil), v...)
	return nil
}

// maybe is the value of a time that may be unset: NULL.
func maybe(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

// notNull keeps a nil slice from becoming NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
