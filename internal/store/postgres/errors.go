package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/puddle/v2"

	"sibyl/internal/journal"
)

// failure is an error of the driver's or the server's, and not of what was asked for.
type failure struct {
	err    error
	lost   bool // with its connection, and it may be tried again
	unsure bool // whether it was written is not known
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// isLost says that a connection was lost, and that what it was to do may be done again.
func isLost(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.lost
}

// codeOf is the code of an error of the server's, or "".
func codeOf(err error) string {
	if err == nil {
		return "" // as nearly always; what errors.As is given would be allocated
	}
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return ""
	}
	return failed.Code
}

// isRefusal says that the server carried out nothing of a statement, and goes on to serve the connection.
func isRefusal(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.SeverityUnlocalized == "ERROR"
}

// Codes of errors that mean something here. https://www.postgresql.org/docs/current/errcodes-appendix.html has them all.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	invalidParameter     = "22023"
	notInRepertoire      = "22021"
	untranslatable       = "22P05"
	lockNotAvailable     = "55P03"
	queryCanceled        = "57014"
	diskFull             = "53100"
	tooManyConnections   = "53300"
	readOnlyTransaction  = "25006"
	insufficient         = "42501"
	dataCorrupted        = "XX001"
	indexCorrupted       = "XX002"
	undefinedFile        = "58P01"
	ioError              = "58030"
	undefinedDatabase    = "3D000"
	invalidAuthorization = "28000"
	invalidPassword      = "28P01"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
)

func isDeadlock(err error) bool {
	code := codeOf(err)
	return code == deadlockDetected || code == serializationFailure
}

// isFuture says that the server has not given the number of a transaction yet. It lost one that it had given.
func isFuture(err error) bool { return codeOf(err) == invalidParameter }

// explain adds to a failure the database, one of journal's errors and what would fix it. Other errors, and nil, come back as they are.
func (db *DB) explain(ctx context.Context, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if errors.Is(err, puddle.ErrClosedPool) {
		return errClosed
	}
	if f.unsure {
		return fmt.Errorf("database %s: %w, since the connection was lost while it was committed "+
			"(what the journal has is shown when the server can be reached again): %w", db.name, journal.ErrUnsure, f.err)
	}
	code := codeOf(err)
	if over := ctx.Err(); over != nil && (code == "" || code == queryCanceled) {
		return over
	}
	if remedy, as := db.meaning(code); as != nil {
		return fmt.Errorf("database %s: %w (%s): %w", db.name, as, remedy, f.err)
	} else if remedy != "" {
		return fmt.Errorf("database %s: %w (%s)", db.name, f.err, remedy)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("database %s: %w (PostgreSQL must run there and take connections from here): %s", db.name, journal.ErrUnreachable, oneLine(connect))
	}
	if f.lost || pgconn.Timeout(err) {
		return fmt.Errorf("database %s: %w, the connection was lost (try again): %w", db.name, journal.ErrUnreachable, f.err)
	}
	return fmt.Errorf("database %s: %w", db.name, f.err)
}

// meaning returns what would fix an error of a code, if that is known, and journal's error for it, if it has one.
func (db *DB) meaning(code string) (remedy string, as error) {
	switch code {
	case lockNotAvailable, deadlockDetected, serializationFailure:
		return fmt.Sprintf("nothing came free in %s: let the other process finish, or end it", db.lockTimeout), journal.ErrLocked
	case diskFull:
		return "free some on the server's disk", journal.ErrFull
	case readOnlyTransaction:
		return "it is a standby, or set to be read only: name the server that is written to", journal.ErrReadOnly
	case dataCorrupted, indexCorrupted, undefinedFile:
		return "restore it from a backup", journal.ErrCorrupt
	case notInRepertoire, untranslatable:
		return "text must be valid UTF-8 without the character NUL", journal.ErrInvalid
	case insufficient:
		return "the user of the database must have the right to create, read and change its tables", nil
	case queryCanceled:
		return fmt.Sprintf("the server ends what takes longer than %s: it may be overloaded", statementTimeout), nil
	case tooManyConnections:
		return "raise max_connections of the server, or lower pool_max_conns in the address of the database", journal.ErrUnreachable
	case ioError:
		return "check the server's disk", nil
	case undefinedDatabase:
		return "make it: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0", nil
	case invalidAuthorization, invalidPassword:
		return "check the user and the password, and pg_hba.conf of the server", nil
	case adminShutdown, crashShutdown, cannotConnectNow:
		return "the server is stopping or starting: try again", journal.ErrUnreachable
	}
	return "", nil
}

// oneLine is the text of an error that may tell of several tries.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
}

func corrupt(db *DB, err error) error {
	return fmt.Errorf("database %s: %w (restore it from a backup): %w", db.name, journal.ErrCorrupt, err)
}

func notFound(kind, id string) error {
	return fmt.Errorf("%s %q: %w", kind, id, journal.ErrNotFound)
}

// only returns the one row that a query by id has found.
func only[T any](found []T, err error, kind, id string) (T, error) {
	if err == nil && len(found) == 0 {
		err = notFound(kind, id)
	}
	if err != nil {
		return *new(T), err
	}
	return found[0], nil
}
