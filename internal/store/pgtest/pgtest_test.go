package pgtest

import (
	"bufio"
	"context"
	"fmt"
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
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// The test binary started with roleEnv starts a server, says where it is, and waits for its end.
const roleEnv = "SIBYL_PGTEST_TEST_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) == "" {
		goleak.VerifyTestMain(Main(m))
		return
	}
	s, err := open(context.Background(), Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.folder)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // which never comes
}

func ask(t *testing.T, dsn, query string) (answer string) {
	t.Helper()
	conn := assert.Must(pgx.Connect(t.Context(), dsn))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	assert.NoError(t, conn.QueryRow(t.Context(), query).Scan(&answer))
	return answer
}

func do(t *testing.T, dsn, statement string) {
	t.Helper()
	conn := assert.Must(pgx.Connect(t.Context(), dsn))(t)
	defer func() { _ = conn.Close(t.Context()) }()
	assert.Must(conn.Exec(t.Context(), statement))(t)
}

func TestEachTestHasADatabaseOfItsOwnThatIsDropped(t *testing.T) {
	needs.All(t, "PostgreSQL")
	var names []string
	for range 2 {
		t.Run("test", func(t *testing.T) {
			dsn := New(t, "LOCALE 'C'")
			names = append(names, ask(t, dsn, `SELECT current_database()::text`))
			do(t, dsn, `CREATE TABLE x ()`)
		})
	}
	assert.That(t, names[0] != names[1], "two tests have %s", names[0])
	for _, name := range names {
		assert.That(t, ask(t, New(t), `SELECT count(*)::text FROM pg_database WHERE datname = '`+name+`'`) == "0",
			"%s is still there", name)
	}
}

func TestServerKeepsWhatItHasOverRestarts(t *testing.T) {
	s := Start(t, Options{Durable: true, Settings: []string{"work_mem=1234kB"}})
	dsn := s.New(t)
	if got := ask(t, dsn, `SELECT concat_ws(' ', current_setting('fsync'), current_setting('work_mem'), current_setting('listen_addresses'))`); got != "on 1234kB " {
		t.Errorf("the settings are %q", got)
	}
	do(t, dsn, `CREATE TABLE x ()`)
	for _, end := range []func(testing.TB){s.Stop, s.Crash} {
		end(t)
		_, err := pgx.Connect(t.Context(), dsn)
		assert.That(t, err != nil, "it takes connections when it has stopped")
		s.Restart(t)
		n := ask(t, dsn, `SELECT count(*)::text FROM x`)
		assert.That(t, n == "0", "the table has %s rows", n)
	}
}

func TestServerDiesWithItsProcessAndItsFolderIsSweptByTheNext(t *testing.T) {
	needs.All(t, "PostgreSQL")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=start")
	cmd.Stderr = os.Stderr
	stdout := assert.Must(cmd.StdoutPipe())(t)
	assert.Must(cmd.StdinPipe())(t)
	assert.NoError(t, cmd.Start())
	folder := assert.Must(bufio.NewReader(stdout).ReadString('\n'))(t)
	folder = strings.TrimSpace(folder)
	if got := ask(t, (&Server{folder: folder}).DSN("postgres"),
		`SELECT current_setting('data_directory')`); got != filepath.Join(folder, "data") {
		t.Fatalf("the server's data are in %q, want the folder data of %s", got, folder)
	}
	server := processOf(t, filepath.Join(folder, "data", "postmaster.pid"))
	assert.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	for deadline := time.Now().Add(patience); server.Signal(syscall.Signal(0)) == nil; runtime.Gosched() {
		assert.Require(t, !time.Now().After(deadline), "waited for the server to end")
	}
	Start(t, Options{})
	_, err := os.Stat(folder)
	assert.That(t, os.IsNotExist(err), "the folder %s is there still, error %v", folder, err)
}

// processOf is the process that a file names in its first line.
func processOf(t *testing.T, file string) *os.Process {
	t.Helper()
	text := assert.Must(os.ReadFile(file))(t)
	line, _, _ := strings.Cut(string(text), "\n")
	pid := assert.Must(strconv.Atoi(line))(t)
	p := assert.Must(os.FindProcess(pid))(t)
	return p
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	needs.All(t, "PostgreSQL")
	s, err := open(t.Context(), Options{Settings: []string{"shared_buffers=nonsense"}})
	if err == nil {
		s.remove()
	}
	assert.That(t, err != nil && strings.Contains(err.Error(), "shared_buffers"),
		"error is %v, want what the server says", err)
}
