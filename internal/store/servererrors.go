package store

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

// isLost says whether a connection was lost, and the work may be repeated.
func isLost(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.lost
}

// serverCode is the code of an error of the server's, or "".
func serverCode(err error) string {
	if err == nil {
		return "" // as nearly always; what errors.As is given would be allocated
	}
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return ""
	}
	return failed.Code
}

// isRefusal says whether the server refused a statement, and still serves the connection.
func isRefusal(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.SeverityUnlocalized == "ERROR"
}

// Codes of errors that mean something here. https://www.postgresql.org/docs/current/errcodes-appendix.html has them
// all.
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
	code := serverCode(err)
	return code == deadlockDetected || code == serializationFailure
}

// isFuture says that the server has not given the number of a transaction yet. It lost one that it had given.
func isFuture(err error) bool { return serverCode(err) == invalidParameter }

// explain adds to a failure the database, one of journal's errors and what would fix it. Other errors, and nil, come
// back as they are.
func (s *server) explain(ctx context.Context, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if errors.Is(err, puddle.ErrClosedPool) {
		return errClosed
	}
	if f.unsure {
		return fmt.Errorf("database %s: %w, since the connection was lost while it was committed "+
			"(what the journal has is shown when the server can be reached again): %w", s.name,
			journal.ErrUnsure, f.err)
	}
	code := serverCode(err)
	if over := ctx.Err(); over != nil && (code == "" || code == queryCanceled) {
		return over
	}
	if remedy, as := s.remedyFor(code); as != nil {
		return fmt.Errorf("database %s: %w (%s): %w", s.name, as, remedy, f.err)
	} else if remedy != "" {
		return fmt.Errorf("database %s: %w (%s)", s.name, f.err, remedy)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("database %s: %w (PostgreSQL must run there and take connections from here): %s",
			s.name, journal.ErrUnreachable, oneLine(connect))
	}
	if f.lost || pgconn.Timeout(err) {
		return fmt.Errorf("database %s: %w, the connection was lost (try again): %w",
			s.name, journal.ErrUnreachable, f.err)
	}
	return fmt.Errorf("database %s: %w", s.name, f.err)
}

// remedyFor returns what would fix an error with this code, and journal's error for it; either may be empty.
func (s *server) remedyFor(code string) (remedy string, as error) {
	switch code {
	case lockNotAvailable, deadlockDetected, serializationFailure:
		return fmt.Sprintf("nothing came free in %s: let the other process finish, or end it", s.lockTimeout),
			journal.ErrLocked
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
		return "raise max_connections of the server, or lower pool_max_conns in the address of the database",
			journal.ErrUnreachable
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

// reserve implements dialect: its disk is that of whoever runs it.
func (s *server) reserve() error { return nil }

// spendReserve implements dialect.
func (s *server) spendReserve() bool { return false }

// corruptError implements dialect.
func (s *server) corruptError(err error) error {
	return fmt.Errorf("database %s: %w (restore it from a backup): %w", s.name, journal.ErrCorrupt, err)
}
