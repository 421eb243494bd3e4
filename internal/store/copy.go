package store

// Guarantees of Copy:
//   - It reads the state of one moment, and writes all of it or nothing.
//   - It reads the written rows again, and compares their checksums with those of the source.
//   - It writes only to an empty database, and fails if a process drives a run in the source.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"sibyl/internal/journal"
)

// Errors of Copy.
var (
	ErrNotEmpty = errors.New("the database holds something already")
	ErrInUse    = errors.New("the database is in use")
	ErrDiffers  = errors.New("what was written is not what was read")
)

// Table describes a table of both kinds of databases. Its first Keys columns are unique together, and order its rows.
type Table struct {
	Name    string
	Keys    int
	Columns []string
	Bytes   []string // columns that hold bytes; the others hold text, numbers or NULL
}

// Row has the values of a Table's columns, in order: string, int64, []byte or nil.
type Row = []any

// Database is a database that Copy can read or fill.
type Database interface {
	// ReadAll calls do with a function that returns the rows of a table, ordered by key. All rows are of one moment. A
	// row is overwritten by the next one.
	ReadAll(ctx context.Context, do func(rows func(Table) iter.Seq2[Row, error]) error) error
	// FillAll calls do, which writes rows in the order of Tables, in one transaction. It returns ErrNotEmpty if a table
	// has rows. do may be called again after the transaction of the first call was rolled back.
	FillAll(ctx context.Context, do func(write func(Table, Row) error) error) error
}

// Tables lists the tables that Copy copies; a table comes after those that it refers to. Nodes and duties belong to
// processes, and are not copied.
func Tables() []Table {
	return []Table{
		table("session", 1, "id owner assistant title place created_at updated_at words"),
		table("run", 1, "no id session owner assistant title status started_at ended_at lease_holder lease_until "+
			"tries reason replaces follows blobs summary words counted", "summary"),
		table("used", 4, "owner started_at run model runs input cached output"),
		table("record", 1, "key at kind data", "data"),
		table("blob", 1, "no owner hash runs"),
		table("blob_content", 1, "blob content", "content"),
		table("pending", 2, "session id owner run kind data created_at expires_at", "data"),
		table("claim", 2, "owner key run"),
		table("tombstone", 1, "id owner assistant created_at updated_at deleted_at runs reason"),
		table("person", 1, "name scope created_at revoked_at"),
		table("token", 1, "hash id person kind scope created_at expires_at revoked_at", "hash"),
		table("secret", 1, "name value", "value"),
		table("task", 1, "id owner title description status created_at completed_at version gone"),
		table("task_change", 1, "id owner task key action actor before after undoes at"),
	}
}

func table(name string, keys int, columns string, bytes ...string) Table {
	return Table{name, keys, strings.Fields(columns), bytes}
}

// copySQL has the statements that copying needs besides those that read and write rows.
type copySQL struct {
	moment   []string // the first begins a transaction that sees one moment
	alone    []string // lock the tables against other writers, and lift the transaction's timeouts
	numbered []string // let generated numbers continue after the copied ones
}

func (t *tx) runAll(statements []string) {
	for _, s := range statements {
		t.run(s)
	}
}

var _ Database = (*DB)(nil)

// ReadAll implements Database.
func (db *DB) ReadAll(ctx context.Context, do func(rows func(Table) iter.Seq2[Row, error]) error) error {
	return db.read(ctx, func(t *tx) error {
		t.patience = 0
		moment := db.copyStatements().moment
		t.begin(moment[0])
		t.runAll(moment[1:])
		err := do(t.allRows)
		t.ctx, t.waiting, t.refused = context.WithoutCancel(ctx), nil, nil
		t.run("ROLLBACK") // it only read
		return errors.Join(err, t.send())
	})
}

// errStopRows ends a query early when the loop over allRows breaks off.
var errStopRows = errors.New("enough")

// allRows iterates over the rows of a table, ordered by key. All share one slice. An error comes last, with a nil row.
func (t *tx) allRows(table Table) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		values, into := make(Row, len(table.Columns)), make([]any, len(table.Columns))
		for i := range values {
			into[i] = &values[i]
		}
		take := func(r result) error {
			for r.Next() {
				if err := r.Scan(into...); err != nil {
					return err
				}
				for i, column := range table.Columns {
					if slices.Contains(table.Bytes, column) {
						content, _ := values[i].([]byte)
						values[i] = notNull(content)
					}
				}
				if !yield(values, nil) {
					return errStopRows
				}
			}
			return r.Err()
		}
		query := "SELECT " + strings.Join(table.Columns, ", ") + " FROM " + table.Name + " ORDER BY " +
			strings.Join(table.Columns[:table.Keys], ", ")
		t.waiting = append(t.waiting, statement{text: query, take: take})
		if err := t.send(); err != nil && !errors.Is(err, errStopRows) {
			yield(nil, err)
		}
	}
}

// rowsAtOnce is how many rows FillAll queues before it sends them.
const rowsAtOnce = 200

// FillAll implements Database. It locks out other writers, and refuses texts that PostgreSQL would refuse.
func (db *DB) FillAll(ctx context.Context, do func(write func(Table, Row) error) error) error {
	return db.write(ctx, func(t *tx) error {
		t.setProof(`
			SELECT 1 FROM session UNION ALL SELECT 1 FROM tombstone UNION ALL SELECT 1 FROM person UNION ALL SELECT 1 FROM task`)
		t.patience = 0
		t.runAll(db.copyStatements().alone)
		for _, table := range Tables() {
			full := fmt.Errorf("database %s, table %s: %w: name an empty one", db.databaseName(), table.Name, ErrNotEmpty)
			t.requireRow(full, "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM "+table.Name+")")
		}
		if err := t.send(); err != nil {
			return err
		}
		err := do(func(table Table, values Row) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			for i, value := range values {
				if text, ok := value.(string); ok && !journal.Plain(text) {
					return fmt.Errorf("column %s is %.50q: text must be valid UTF-8 without the character NUL: %w",
						table.Columns[i], text, journal.ErrInvalid)
				}
			}
			t.run("INSERT INTO "+table.Name+" ("+strings.Join(table.Columns, ", ")+") VALUES ("+placeholders(1, len(values))+
				")", slices.Clone(values)...)
			if len(t.waiting) < rowsAtOnce {
				return nil
			}
			return t.send()
		})
		t.runAll(db.copyStatements().numbered)
		return err
	})
}

// Copied is the number of rows that were copied from a table.
type Copied struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
}

// Copy copies all rows of from into to, which must be empty, then reads to again and fails with ErrDiffers if it
// differs; what was written stays. It fails with ErrInUse if a process drives a run in from.
func Copy(ctx context.Context, from, to Database, now time.Time) (all []Copied, err error) {
	var sent, kept []tableSum
	err = from.ReadAll(ctx, func(rows func(Table) iter.Seq2[Row, error]) error {
		if err := checkNotDriven(rows, now); err != nil {
			return err
		}
		return to.FillAll(ctx, func(write func(Table, Row) error) (err error) {
			sent, err = sumRows(rows, write)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	err = to.ReadAll(ctx, func(rows func(Table) iter.Seq2[Row, error]) (err error) {
		kept, err = sumRows(rows, func(Table, Row) error { return nil })
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading again what was written: %w", err)
	}
	for i, t := range Tables() {
		if sent[i] != kept[i] {
			return nil, fmt.Errorf("table %s, %d rows: %w", t.Name, sent[i].rows, ErrDiffers)
		}
		all = append(all, Copied{t.Name, sent[i].rows})
	}
	return all, nil
}

// checkNotDriven fails with ErrInUse if a running run has a lease that has not expired.
func checkNotDriven(rows func(Table) iter.Seq2[Row, error], now time.Time) error {
	runs := Tables()[1]
	of := func(row Row, column string) any { return row[slices.Index(runs.Columns, column)] }
	for row, err := range rows(runs) {
		if err != nil {
			return err
		}
		until, leased := of(row, "lease_until").(int64)
		if of(row, "status") == "running" && of(row, "lease_holder") != "" && leased && until > now.UnixMilli() {
			return fmt.Errorf("run %s is driven by %s: %w: stop all that serves or asks there, and try again",
				of(row, "id"), of(row, "lease_holder"), ErrInUse)
		}
	}
	return nil
}

// tableSum is the count and checksum of the rows of a table.
type tableSum struct {
	rows   int64
	digest [sha256.Size]byte
}

// sumRows calls handle with each row of each table, and returns the sums in the order of Tables.
func sumRows(rows func(Table) iter.Seq2[Row, error], handle func(Table, Row) error) ([]tableSum, error) {
	var all []tableSum
	for _, t := range Tables() {
		h, n := sha256.New(), int64(0)
		for row, err := range rows(t) {
			if err != nil {
				return nil, fmt.Errorf("table %s: %w", t.Name, err)
			}
			for _, v := range row {
				h.Write(encodeTyped(v))
			}
			if err := handle(t, row); err != nil {
				return nil, fmt.Errorf("table %s, row %d: %w", t.Name, n+1, err)
			}
			n++
		}
		all = append(all, tableSum{n, [sha256.Size]byte(h.Sum(nil))})
	}
	return all, nil
}

// encodeTyped encodes a value for the checksum, with its type and length, so that different rows never encode alike.
func encodeTyped(v any) []byte {
	var kind byte
	var content []byte
	switch v := v.(type) {
	case string:
		kind, content = 't', []byte(v)
	case []byte:
		kind, content = 'b', v
	case int64:
		kind, content = 'n', binary.BigEndian.AppendUint64(nil, uint64(v))
	}
	return append(binary.BigEndian.AppendUint64([]byte{kind}, uint64(len(content))), content...)
}
