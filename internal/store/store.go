// Package store keeps everything that Sibyl keeps in a database: an SQLite file, or a PostgreSQL server. It implements
// journal.Store, user.Store, task.Store, node.Registry and Secrets on both.
//
// What holds for both:
//   - A write is atomic, and on the disk when it returns. Any number of processes may use the database.
//   - Waiting for a lock is bounded, and ends with the context, with nothing written. A commit that was begun runs to
//     its end.
//   - Errors name the database and what would fix it, match journal's errors, and have no password.
//   - Opening brings the tables up to date in one transaction. It refuses what another program or a later build of this
//     one has written.
//   - Where a database can only be read, every write fails with journal.ErrReadOnly.
//
// file.go and server.go say what holds for one of them. Statements are written in PostgreSQL's words.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// Errors of opening.
var (
	ErrNewer   = errors.New("the database was written by a later version of sibyl")
	ErrOlder   = errors.New("the database was written by an earlier build of sibyl")
	ErrForeign = errors.New("the database belongs to another program")
)

var errClosed = errors.New("the database is closed")

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect
	use    sync.RWMutex // held by whoever uses the database, and wholly by Close
	closed chan struct{}
}

// dialect is what the two kinds of databases do differently.
type dialect interface {
	// runRead calls do with a connection, and again if the connection was lost.
	runRead(ctx context.Context, do func(*tx) error) error
	// runWrite calls do in a transaction: all that it wrote is on the disk when writing returns nil, and none of it
	// otherwise, unless the error is journal.ErrUnsure. do may be called again in another transaction, with nothing
	// left of what it did in the first.
	runWrite(ctx context.Context, do func(*tx) error) error
	// databaseName names the database for people, without a password.
	databaseName() string
	copyStatements() copySQL
	// corruptError wraps an error about damaged content.
	corruptError(err error) error
	// now is the time that all processes over the database agree on.
	now(ctx context.Context) (time.Time, error)
	// reserve sees to it that there is room for what runs have under way when the disk fills up; journal.ErrFull if
	// there is none.
	reserve() error
	// spendReserve gives that room free, and tells whether there was any.
	spendReserve() bool
	// announce announces a run to listeners soon.
	announce(run journal.Key)
	close() error
}

// Close waits for what is under way and closes the database. Every later call but Close fails.
func (db *DB) Close() error {
	db.use.Lock()
	isClosed := db.isClosed()
	if !isClosed {
		close(db.closed)
	}
	db.use.Unlock() // a call that waits for it has its error at once
	if isClosed {
		return nil
	}
	return db.close()
}

func (db *DB) isClosed() bool {
	select {
	case <-db.closed:
		return true
	default:
		return false
	}
}

func (db *DB) write(ctx context.Context, do func(*tx) error) error {
	return db.ifOpen(ctx, db.runWrite, do)
}

func (db *DB) read(ctx context.Context, do func(*tx) error) error {
	return db.ifOpen(ctx, db.runRead, do)
}

func (db *DB) ifOpen(ctx context.Context, call func(context.Context, func(*tx) error) error, do func(*tx) error) error {
	db.use.RLock()
	defer db.use.RUnlock()
	switch {
	case db.isClosed():
		return errClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return call(ctx, do)
}

// tx is a connection in a transaction, or one that only reads. Statements are queued, and sent with the next one whose
// rows are needed at once, or at the end: so a write takes one round trip, and one for its commit. They are executed in
// order. After one that fails or is refused, the transaction leaves nothing.
type tx struct {
	ctx      context.Context
	patience time.Duration // with what is sent at once; 0: no bound
	deliver  func(*tx, []statement) error
	waiting  []statement
	refused  error
	proof    proof
}

// statement is a queued SQL statement.
type statement struct {
	text string
	args []any
	take func(result) error // gets its rows; nil: nobody needs them
}

type row interface{ Scan(into ...any) error }

type result interface {
	row
	Next() bool
	Err() error
}

// proof is the number of a transaction, and a query that finds a row if it was committed.
type proof struct {
	xid   string
	query string
	args  []any
}

// setProof sets how to find out whether the transaction was committed. Without it, a repetition does no harm.
func (t *tx) setProof(query string, args ...any) {
	queryChecked(t, scanValue[string], func(xid []string) error {
		t.proof = proof{xid[0], query, args}
		return nil
	}, "SELECT "+thisTransaction)
}

func (t *tx) bounded() (context.Context, context.CancelFunc) {
	if t.patience == 0 {
		return t.ctx, func() {}
	}
	return context.WithTimeout(t.ctx, t.patience)
}

// send executes the queued statements.
func (t *tx) send() error {
	all := t.waiting
	t.waiting = nil
	if len(all) == 0 {
		return nil
	}
	err := t.deliver(t, all)
	if t.refused != nil {
		return t.refused
	}
	return err
}

// run queues a statement whose rows are not needed.
func (t *tx) run(text string, args ...any) {
	t.waiting = append(t.waiting, statement{text: text, args: driverArgs(args)})
}

// requireRow queues a statement that must return a row; otherwise is the error if it does not.
func (t *tx) requireRow(otherwise error, text string, args ...any) {
	queryChecked(t, func(row, *struct{}) error { return nil }, func(found []struct{}) error {
		if len(found) == 0 {
			return otherwise
		}
		return nil
	}, text, args...)
}

// queryChecked queues a query. check gets its rows, and may refuse them with an error.
func queryChecked[T any](t *tx, scan func(row, *T) error, check func([]T) error, query string, args ...any) {
	take := func(r result) error {
		var found []T
		for r.Next() {
			var one T
			if err := scan(r, &one); err != nil {
				return err
			}
			found = append(found, one)
		}
		if err := r.Err(); err != nil {
			return err
		}
		t.refused = check(found)
		return t.refused
	}
	t.waiting = append(t.waiting, statement{query, driverArgs(args), take})
}

// queryRows sends the queued statements and a query, and returns the query's rows.
func queryRows[T any](t *tx, scan func(row, *T) error, query string, args ...any) (found []T, err error) {
	keep := func(all []T) error {
		found = all
		return nil
	}
	queryChecked(t, scan, keep, query, args...)
	return found, t.send()
}

// readRows returns the rows of one query. It sees every write that has returned.
func readRows[T any](
	ctx context.Context, db *DB, scan func(row, *T) error, query string, args ...any,
) (found []T, err error) {
	err = db.read(ctx, func(t *tx) (err error) {
		found, err = queryRows(t, scan, query, args...)
		return err
	})
	return found, err
}

// What SQLite has other words for: the number of the transaction; and the pairs of the first argument and the numbers
// of the blobs of a run, both JSON, as rows of given.
const (
	eachGiven       = `json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS given (value, key)`
	thisTransaction = `pg_current_xact_id()::text`
	eachBlob        = `json_array_elements_text(CAST(CASE run.blobs WHEN 'null' THEN '[]' ELSE run.blobs END AS json))
		AS given (value)`
)

// scanValue scans a row of one value.
func scanValue[T any](r row, v *T) error { return r.Scan(v) }

// onlyRow returns the row that a query found, or otherwise if there is none.
func onlyRow[T any](found []T, err, otherwise error) (T, error) {
	if err == nil && len(found) == 0 {
		err = otherwise
	}
	if err != nil {
		return *new(T), err
	}
	return found[0], nil
}

func notFoundError(kind, id string) error {
	return fmt.Errorf("%s %q: %w", kind, id, journal.ErrNotFound)
}

func existsError(kind, id string) error { return fmt.Errorf("%s %q: %w", kind, id, journal.ErrExists) }

// driverArgs returns args as both drivers take them: no NULL, and no text that PostgreSQL refuses.
func driverArgs(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok && !journal.Plain(text) {
			args[i] = nil
		}
	}
	return args
}

// placeholders lists the placeholders of n arguments, from that number on: "$3, $4".
func placeholders(from, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(from+i)
	}
	return strings.Join(all, ", ")
}

// tuples lists the placeholders of so many rows, from that number on: "(CAST($4 AS text), CAST($5 AS bytea)), ...".
func tuples(from, rows int, types ...string) string {
	var all []string
	for range rows {
		one := make([]string, len(types))
		for i, kind := range types {
			one[i] = fmt.Sprintf("CAST($%d AS %s)", from+i, kind)
		}
		all = append(all, "("+strings.Join(one, ", ")+")")
		from += len(types)
	}
	return strings.Join(all, ", ")
}

// asArgs converts values to arguments.
func asArgs[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// limitOrAll is a limit for SQL; an unset one selects all rows.
func limitOrAll(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// timeOrNull is a time for SQL; the zero time is NULL.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// millis scans a time, which is zero where it is NULL.
type millis struct{ *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(v any) error {
	*m.Time = time.Time{}
	if ms, ok := v.(int64); ok {
		*m.Time = time.UnixMilli(ms).UTC()
	}
	return nil
}

// data scans bytes, which are nil where there is none.
type data struct{ *json.RawMessage }

// Scan implements sql.Scanner.
func (d data) Scan(v any) error {
	content, _ := v.([]byte)
	*d.RawMessage = append(json.RawMessage(nil), content...)
	return nil
}

// notNull keeps a nil slice from becoming NULL.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func oneIf(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
