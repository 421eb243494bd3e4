// Package pgtest starts real PostgreSQL servers for tests.
//
//   - A server listens only on a Unix socket in its own folder, so that servers do not conflict. Whoever can open the
//     folder may connect as postgres, without a password.
//   - It uses the PostgreSQL that is installed.
//   - On Linux, it is killed when the process that started it ends in any way. The next start removes what it left.
//   - PostgreSQL refuses to run as root. If the tests do, it runs as postgres or nobody.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/needs"
)

// patience limits each step of a server. It is long, since the machine may be busy.
const patience = 2 * time.Minute

// process holds the server that all tests of a process share.
type process struct {
	mu     sync.Mutex
	server *Server
	failed error // why the server could not be started; it is not tried again
}

var shared = sync.OnceValue(func() *process { return &process{} })

// Shared returns the server that all tests of the process share. The first call starts it; Main stops it.
func Shared(ctx context.Context) (*Server, error) {
	p := shared()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil && p.failed == nil {
		p.server, p.failed = open(ctx, Options{})
	}
	return p.server, p.failed
}

// New makes an empty database in UTF-8 for a test, on the shared server, and returns its DSN. settings are further
// options of CREATE DATABASE. The database is dropped after the test, unless the server has stopped.
func New(tb testing.TB, settings ...string) (dsn string) {
	tb.Helper()
	needs.All(tb, "PostgreSQL")
	server, err := Shared(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return server.New(tb, settings...)
}

// Suite runs the tests of a process, then stops their shared server.
type Suite struct{ tests interface{ Run() int } }

// Main returns a Suite of m's tests, for a TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m).Run()) }
func Main(m interface{ Run() int }) Suite { return Suite{m} }

// Run runs the tests, removes the shared server if there is one, and returns the exit code.
func (s Suite) Run() int {
	defer func() {
		p := shared()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.server != nil {
			p.server.remove()
		}
	}()
	return s.tests.Run()
}

// Options are the options of a server.
type Options struct {
	Durable  bool     // commits wait for the disk
	Settings []string // of PostgreSQL, as "name=value"

	primary *Server // whose standby it is
}

// Start starts a server for this test alone, and removes it after the test.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	needs.All(tb, "PostgreSQL")
	s, err := open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.remove)
	return s
}

// Standby starts a standby of the server, and removes it after the test. From then on commits wait for it: with
// synchronous_commit=on, until it has written them.
func (s *Server) Standby(tb testing.TB) *Server {
	tb.Helper()
	o := s.options
	o.primary = s
	standby := Start(tb, o)
	s.await(tb, "replication", `SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE state = 'streaming')`)
	for _, statement := range []string{`ALTER SYSTEM SET synchronous_standby_names = '*'`, `SELECT pg_reload_conf()`} {
		if err := s.execute(tb.Context(), statement); err != nil {
			tb.Fatal(err)
		}
	}
	s.await(tb, "a synchronous standby",
		`SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')`)
	return standby
}

// Promote makes a standby a primary. It waits for no standby of its own.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	for _, statement := range []string{`SELECT pg_promote()`, `ALTER SYSTEM SET synchronous_standby_names = ''`,
		`SELECT pg_reload_conf()`} {
		if err := s.execute(context.WithoutCancel(tb.Context()), statement); err != nil {
			tb.Fatal(err)
		}
	}
	s.await(tb, "the server to wait for no standby", `SELECT current_setting('synchronous_standby_names') = ''`)
}

// await waits until a query in the database postgres gives true.
func (s *Server) await(tb testing.TB, what, query string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }() // it only read
	for {
		var is bool
		if err := conn.QueryRow(ctx, query).Scan(&is); err != nil {
			tb.Fatalf("waited for %s: %v", what, err)
		}
		if is {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// New makes an empty database in UTF-8 for a test, and returns its DSN. settings are further options of CREATE
// DATABASE. The database is dropped after the test, unless the server has stopped.
func (s *Server) New(tb testing.TB, settings ...string) (dsn string) {
	tb.Helper()
	name, err := s.Create(tb.Context(), settings...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if !s.running() {
			return
		}
		if err := s.execute(context.WithoutCancel(tb.Context()), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			tb.Errorf("drop the database: %v", err)
		}
	})
	return s.DSN(name)
}

// Create makes an empty database in UTF-8 that lasts as long as the server, and returns its name.
func (s *Server) Create(ctx context.Context, settings ...string) (name string, err error) {
	name = "test_" + strings.ToLower(rand.Text()[:12])
	if err := s.execute(ctx, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'UTF8' "+strings.Join(settings,
		" ")); err != nil {
		return "", fmt.Errorf("make a database: %w", err)
	}
	return name, nil
}

// DSN returns the DSN of a database on this server; with others, on the one of them that is written to.
func (s *Server) DSN(database string, others ...*Server) string {
	values := url.Values{"host": {s.folder}, "user": {superuser}, "sslmode": {"disable"}}
	for _, other := range others {
		values.Set("host", values.Get("host")+","+other.folder)
		values.Set("target_session_attrs", "read-write")
	}
	return "postgres:///" + database + "?" + values.Encode()
}

// execute executes a statement in the database postgres.
func (s *Server) execute(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // the statement is done
	_, err = conn.Exec(ctx, statement)
	return err
}

// Stop stops the server as an operator does: it rolls back open transactions and closes connections.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.stop(fast); err != nil {
		tb.Fatal(err)
	}
}

// Log returns the end of what the server has logged since it was started.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Crash ends the server without a clean shutdown. Commits that did not wait for the disk may be lost.
func (s *Server) Crash(tb testing.TB) {
	tb.Helper()
	if err := s.stop(immediate); err != nil {
		tb.Fatal(err)
	}
}

// Kill ends the server as a machine does that loses its power.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if err := s.stop(os.Kill); err != nil {
		tb.Fatal(err)
	}
}

// Restart starts the server again after Stop, Crash or Kill.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.start(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
}
