package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"sibyl/internal/behaviour/needs"
)

// bouncerPort is part of the name of PgBouncer's socket.
const bouncerPort = 6432

// PgBouncer starts a PgBouncer before the server for the test, and returns the address through it of the database of a
// DSN. mode is its pool_mode; settings are further lines of its configuration, "name = value".
func (s *Server) PgBouncer(tb testing.TB, dsn, mode string, settings ...string) string {
	tb.Helper()
	needs.Program(tb, "pgbouncer")
	folder, err := s.bouncerFolder()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(folder) })
	users, config := filepath.Join(folder, "users.txt"), filepath.Join(folder, "pgbouncer.ini")
	lines := append([]string{"[databases]", "* = host=" + s.folder, "[pgbouncer]", "listen_addr =",
		"listen_port = " + strconv.Itoa(bouncerPort), "unix_socket_dir = " + folder, "auth_type = trust",
		"auth_file = " + users, "pool_mode = " + mode}, settings...)
	for path, text := range map[string]string{
		users: `"` + superuser + `" ""` + "\n" + `"guest" ""` + "\n", config: strings.Join(lines, "\n") + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { // another user may have to read it
			tb.Fatal(err)
		}
	}
	log := &tail{ready: make(chan struct{})}
	cmd := exec.CommandContext(context.WithoutCancel(tb.Context()), "pgbouncer", config)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = folder, log, attributes()
	started, exited := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // it dies with this thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log says why it ended
		}
		close(exited)
	}()
	if err := <-started; err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case <-exited:
		case <-time.After(patience):
			tb.Errorf("PgBouncer did not end: %s", log)
		}
	})
	address, err := url.Parse(dsn)
	if err != nil {
		tb.Fatal(err)
	}
	q := address.Query()
	q.Set("host", folder)
	q.Set("port", strconv.Itoa(bouncerPort))
	address.RawQuery = q.Encode()
	if err := awaitBouncer(tb.Context(), folder, exited); err != nil {
		tb.Fatalf("%v: %s", err, log)
	}
	return address.String()
}

// bouncerFolder makes a folder for PgBouncer's files. Its path is short, since that of a socket must be.
func (s *Server) bouncerFolder() (string, error) {
	folder, err := os.MkdirTemp(filepath.Dir(s.folder), "sibyl-pgbouncer-")
	if err != nil {
		return "", err
	}
	return folder, own(folder)
}

// awaitBouncer waits until PgBouncer takes connections.
func awaitBouncer(ctx context.Context, folder string, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dsn := "postgres:///postgres?" + url.Values{"host": {folder}, "port": {strconv.Itoa(bouncerPort)},
		"user": {superuser}, "sslmode": {"disable"}}.Encode()
	for {
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-exited:
			return fmt.Errorf("PgBouncer ended instead of taking connections: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("waited for PgBouncer to take connections: %w", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
