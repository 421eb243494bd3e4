// Package pgtest starts real PostgreSQL servers for tests.
//
//   - A server listens on a Unix socket alone, in a folder of its own, so that servers never meet. Everybody who may
//     open the folder is let in as postgres.
//   - It runs the machine's own programs.
//   - It dies with the process that started it, however that ends. What it leaves behind then is removed by the next
//     start.
//   - PostgreSQL refuses to run as root, so there it runs as postgres or nobody.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// patience is how long a step of a server may take, on a machine that does much else.
const patience = 2 * time.Minute

// process holds the server that all tests of a process share.
type process struct {
	mu     sync.Mutex
	server *Server
	failed error // why there is none
}

var shared = sync.OnceValue(func() *process { return &process{} })

// Shared is the server that all tests of the process share. The first call starts it.
func Shared(ctx context.Context) (*Server, error) {
	p := shared()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server == nil && p.failed == nil {
		p.server, p.failed = open(ctx, Options{})
	}
	return p.server, p.failed
}

// New makes an empty database in UTF-8 for a test, on the server that all tests of the process share, and returns its
// address. settings are further options of CREATE DATABASE. The database is dropped after the test.
func New(tb testing.TB, settings ...string) (dsn string) {
	tb.Helper()
	server, err := Shared(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return server.New(tb, settings...)
}

// Suite is all tests of a process, with the server that they share.
type Suite struct{ tests interface{ Run() int } }

// Main returns the tests of m, for a TestMain that wants the server that they share stopped after them:
//
//	func TestMain(m *testing.M) { os.Exit(pgtest.Main(m).Run()) }
func Main(m interface{ Run() int }) Suite { return Suite{m} }

// Run passes the tests, and stops the server.
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

// Options are how a server runs.
type Options struct {
	Durable  bool     // commits wait for the disk
	Settings []string // further ones, as "name=value"
}

// Start starts a server of the test's own, which is stopped after it.
func Start(tb testing.TB, o Options) *Server {
	tb.Helper()
	s, err := open(tb.Context(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.remove)
	return s
}

// New makes an empty database in UTF-8 for a test and returns its address. settings are further options of CREATE
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

// DSN is the address of a database.
func (s *Server) DSN(database string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {s.folder}, "user": {superuser},
		"sslmode": {"disable"}}.Encode()
}

// execute executes a statement outside the databases of tests.
func (s *Server) execute(ctx context.Context, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, s.DSN("postgres"))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }() // what it was opened for is done
	_, err = conn.Exec(ctx, statement)
	return err
}

// Stop stops the server as an operator does: what is under way breaks off.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.stop(fast); err != nil {
		tb.Fatal(err)
	}
}

// Crash ends the server as a crash of it does. What waited for no disk may be lost.
func (s *Server) Crash(tb testing.TB) {
	tb.Helper()
	if err := s.stop(immediate); err != nil {
		tb.Fatal(err)
	}
}

// Restart starts a server again that was stopped.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	if err := s.start(context.WithoutCancel(tb.Context())); err != nil {
		tb.Fatal(err)
	}
}
