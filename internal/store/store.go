// Package store is Sibyl's database: an SQLite file, or a PostgreSQL server. It implements journal.Store, user.Store,
// task.Store, node.Registry and Secrets on both.
//
// Guarantees of both:
//   - A write is atomic, and on the disk when it returns. Any number of processes may use the database.
//   - Waiting for a lock is bounded, and ends with the context, with nothing written. Once a commit begins, the context
//     does not interrupt it.
//   - Errors name the database and what would fix it, match journal's errors, and contain no password.
//   - Opening migrates the tables in one transaction. It refuses tables of other programs, of later versions of this
//     one, and of versions before its first.
//   - If a database can only be read, every write fails with journal.ErrReadOnly.
//
// file.go and server.go list the guarantees of one of them. Statements are PostgreSQL's SQL.
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
	use       sync.RWMutex // read-locked by each call, locked by Close
	closed    chan struct{}
	listening sync.WaitGroup // calls of Announced
}

// dialect has the operations that differ between the two kinds of databases.
type dialect interface {
	// runRead calls do with a connection. It may call do again, for example if the connection was lost.
	runRead(ctx context.Context, do func(*tx) error) error
	// runWrite calls do in a transaction. If it returns nil, all of do's writes are on the disk; otherwise none, except
	// that journal.ErrUnsure means unknown. It may call do again in another transaction: after a rollback, or after a
	// commit whose result is unknown if do set no proof.
	runWrite(ctx context.Context, do func(*tx) error) error
	// databaseName returns the name of the database for messages, without a password.
	databaseName() string
	copyStatements() copySQL
	// corruptError wraps an error as journal.ErrCorrupt, with the database and a remedy.
	corruptError(err error) error
	// now returns the time of the clock that all processes of the database share.
	now(ctx context.Context) (time.Time, error)
	// reserve reserves room for the records of running runs in case the disk fills up. It returns journal.ErrFull if
	// there is none.
	reserve() error
	// spendReserve frees the reserved room. It reports whether a write may find room now: also if the room was freed
	// before, since writes that share a transaction find the disk full together.
	spendReserve() bool
	// announce notifies those that listen about a run, at once or soon.
	announce(run journal.Key)
	// listen calls began once announcements are heard, and heard with each, until ctx is done or an error. all: nothing
	// that is written is missed.
	listen(ctx context.Context, began func(all bool), heard func(journal.Key)) error
	// sharedPlace says what people should know of the place of a file; "" if there is nothing.
	sharedPlace() string
	close() error
}

// Close waits for running calls and closes the database. Later calls fail, except Close, which returns nil.
func (db *DB) Close() error {
	db.use.Lock()
	isClosed := db.isClosed()
	if !isClosed {
		close(db.closed)
	}
	db.use.Unlock() // so that waiting calls fail at once
	if isClosed {
		return nil
	}
	db.listening.Wait()
	return db.close()
}

// SharedPlace says that a file lies where others may write to it, and what that means; "" if it does not.
func (db *DB) SharedPlace() string { return db.sharedPlace() }

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

// tx is a connection in a transaction, or one for reading without a transaction. Statements are queued, and executed in
// order when send or queryRows is called: most writes take one round trip, and one for the commit. If a statement fails
// or a check refuses its rows, the transaction is rolled back.
type tx struct {
	ctx      context.Context
	patience time.Duration // the limit for one send; 0: none
	deliver  func(*tx, []statement) error
	waiting  []statement
	refused  error
	proof    proof
	settings string // a statement for the settings of a transaction, where sessions are shared; else ""
	begun    bool   // the settings were made for all that follows
}

// statement is a queued statement.
type statement struct {
	text string
	args []any
	take func(result) error // reads its rows; nil if they are not needed
}

type row interface{ Scan(into ...any) error }

// result iterates over the rows of a statement.
type result interface {
	row
	Next() bool
	Err() error
}

// proof is the id of a transaction, and a query that finds a row if it was committed.
type proof struct {
	xid   string
	query string
	args  []any
}

// setProof sets a query that finds a row if the transaction was committed. A write without one must be repeatable.
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

// begin queues the statement that begins a transaction.
func (t *tx) begin(text string) {
	t.run(text)
	if t.settings != "" {
		t.run(t.settings)
	}
	t.begun = true
}

// send executes the queued statements. It returns the error of a check that refused rows, else that of a statement.
func (t *tx) send() error {
	all := t.waiting
	t.waiting = nil
	if len(all) == 0 {
		return nil
	}
	if t.settings != "" && !t.begun { // what is sent at once is a transaction
		all = append([]statement{{text: t.settings}}, all...)
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

// requireRow queues a statement that must return a row. If it does not, send fails with otherwise.
func (t *tx) requireRow(otherwise error, text string, args ...any) {
	queryChecked(t, func(row, *struct{}) error { return nil }, func(found []struct{}) error {
		if len(found) == 0 {
			return otherwise
		}
		return nil
	}, text, args...)
}

// queryChecked queues a query. When it is sent, check gets the rows; an error of check fails the transaction.
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

// readRows returns the rows of one query, outside any transaction. It sees every write that has returned.
func readRows[T any](
	ctx context.Context, db *DB, scan func(row, *T) error, query string, args ...any,
) (found []T, err error) {
	err = db.read(ctx, func(t *tx) (err error) {
		found, err = queryRows(t, scan, query, args...)
		return err
	})
	return found, err
}

// Expressions that sqliteWords translates: the keys in the first argument, and the blob numbers of a run, both as rows
// given from JSON; and the id of the transaction.
const (
	eachGiven       = `json_array_elements(CAST($1 AS json)) WITH ORDINALITY AS given (value, key)`
	thisTransaction = `pg_current_xact_id()::text`
	eachBlob        = `json_array_elements_text(CAST(CASE run.blobs WHEN 'null' THEN '[]' ELSE run.blobs END AS json))
		AS given (value)`
)

// scanValue scans a row with one column.
func scanValue[T any](r row, v *T) error { return r.Scan(v) }

// onlyRow returns the first row found; or err, if it is set; or the error otherwise, if there is no row.
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

// driverArgs replaces texts that PostgreSQL refuses by NULL, in args itself, and returns args.
func driverArgs(args []any) []any {
	for i, arg := range args {
		if text, ok := arg.(string); ok && !journal.Plain(text) {
			args[i] = nil
		}
	}
	return args
}

// placeholders returns n placeholders, numbered from from: "$3, $4".
func placeholders(from, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(from+i)
	}
	return strings.Join(all, ", ")
}

// tuples returns placeholders for rows of these types: "(CAST($4 AS text), CAST($5 AS bytea)), ...".
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

func asArgs[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// limitOrAll returns a limit for SQL. If it is not positive, all rows are selected.
func limitOrAll(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// timeOrNull returns the milliseconds of a time for SQL; NULL for the zero time.
func timeOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

// millis scans milliseconds as a time in UTC; NULL as the zero time.
type millis struct{ *time.Time }

// Scan implements sql.Scanner.
func (m millis) Scan(v any) error {
	*m.Time = time.Time{}
	if ms, ok := v.(int64); ok {
		*m.Time = time.UnixMilli(ms).UTC()
	}
	return nil
}

// data scans a copy of bytes; nil for NULL and for no bytes.
type data struct{ *json.RawMessage }

// Scan implements sql.Scanner.
func (d data) Scan(v any) error {
	content, _ := v.([]byte)
	*d.RawMessage = append(json.RawMessage(nil), content...)
	return nil
}

// notNull returns an empty slice for nil, which would be NULL.
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
