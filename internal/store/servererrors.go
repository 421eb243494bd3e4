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

// failure is an error of the driver or the server.
type failure struct {
	err    error
	unsent bool // nothing was sent
	lost   bool // the work broke off, and may be repeated
	unsure bool // it is not known whether the write was committed, or whether it is durable
}

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error { return f.err }

// isLost reports whether the connection was lost, and the work may be repeated.
func isLost(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.lost
}

// serverCode returns the SQLSTATE of an error of the server, or "".
func serverCode(err error) string {
	if err == nil {
		return "" // the usual case, without the allocation for errors.As
	}
	var failed *pgconn.PgError
	if !errors.As(err, &failed) {
		return ""
	}
	return failed.Code
}

// isRefusal reports whether the server refused a statement but keeps the connection.
func isRefusal(err error) bool {
	var failed *pgconn.PgError
	return errors.As(err, &failed) && failed.SeverityUnlocalized == "ERROR"
}

// SQLSTATEs that are handled here, of https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	invalidParameter     = "22023"
	protocolViolation    = "08P01"
	noSuchStatement      = "26000"
	duplicateStatement   = "42P05"
	noSuchTable          = "42P01"
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

// isFuture reports whether the server does not know a transaction id yet. It gave the id before a crash and lost it.
func isFuture(err error) bool { return serverCode(err) == invalidParameter }

// explain wraps a failure with the database, what would fix it, and one of journal's errors if one fits. If ctx ended
// the call, it returns ctx's error. It returns errors that are no failure, and nil, unchanged.
func (s *server) explain(ctx context.Context, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if errors.Is(err, puddle.ErrClosedPool) {
		return errClosed
	}
	if errors.Is(err, errPooler) {
		return fmt.Errorf("database %s: %w: %w", s.name, journal.ErrUnreachable, errPooler)
	}
	if f.unsure {
		return fmt.Errorf("database %s: %w, since its commit was not confirmed "+
			"(what the journal has is shown when the server can be reached again): %w", s.name,
			journal.ErrUnsure, f.err)
	}
	code := serverCode(err)
	if over := ctx.Err(); over != nil && (code == "" || code == queryCanceled) {
		return over
	}
	if remedy, as := s.remedyFor(code); as != nil {
		if f.unsent {
			remedy = "nothing was sent; " + remedy
		}
		return fmt.Errorf("database %s: %w (%s): %w", s.name, as, remedy, f.err)
	} else if remedy != "" {
		return fmt.Errorf("database %s: %w (%s)", s.name, f.err, remedy)
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) {
		return fmt.Errorf("database %s: %w (PostgreSQL must run there and take connections from here): %s",
			s.name, journal.ErrUnreachable, oneLine(connect))
	}
	if f.unsent {
		return fmt.Errorf("database %s: %w, nothing was sent (try again): %w", s.name, journal.ErrUnreachable, f.err)
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
		remedy = "the user of the database must have the right to create, read and change its tables"
		if s.ownSchema {
			remedy += ", and to create the schema " + schema + " if it is missing"
		}
		return remedy, nil
	case queryCanceled:
		return fmt.Sprintf("the server ends what takes longer than %s: it may be overloaded", statementTimeout), nil
	case tooManyConnections:
		return "raise max_connections of the server, or lower pool_max_conns in the address of the database",
			journal.ErrUnreachable
	case protocolViolation:
		return "a pooler such as PgBouncer says so, and its log says more; most settings in the address are refused: " +
			"leave them out, or make them with ALTER ROLE … SET", journal.ErrUnreachable
	case noSuchStatement, duplicateStatement, noSuchTable:
		if s.prepares {
			return errNotOwn.Error(), nil
		}
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

// errNotOwn means that a pooler shares sessions, though the DSN asks for prepared statements.
var errNotOwn = errors.New("a pooler shares sessions between connections: leave default_query_exec_mode out of the " +
	"address, or have the pooler keep sessions")

// oneLine returns the text of an error with its lines joined by "; ".
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\t' }), "; ")
}

// reserve implements dialect. It does nothing: the server's disk is not this program's concern.
func (s *server) reserve() error { return nil }

// spendReserve implements dialect. There is no reserve.
func (s *server) spendReserve() bool { return false }

// corruptError implements dialect.
func (s *server) corruptError(err error) error {
	return fmt.Errorf("database %s: %w (restore it from a backup): %w", s.name, journal.ErrCorrupt, err)
}
