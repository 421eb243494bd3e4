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
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func do(t *testing.T, dsn, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
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
	if names[0] == names[1] {
		t.Errorf("two tests have %s", names[0])
	}
	for _, name := range names {
		if n := ask(t, New(t), `SELECT count(*)::text FROM pg_database WHERE datname = '`+name+`'`); n != "0" {
			t.Errorf("%s is still there", name)
		}
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
		if _, err := pgx.Connect(t.Context(), dsn); err == nil {
			t.Error("it takes connections when it has stopped")
		}
		s.Restart(t)
		if n := ask(t, dsn, `SELECT count(*)::text FROM x`); n != "0" {
			t.Errorf("the table has %s rows", n)
		}
	}
}

func TestServerDiesWithItsProcessAndItsFolderIsSweptByTheNext(t *testing.T) {
	needs.All(t, "PostgreSQL")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleEnv+"=start")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	folder, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	folder = strings.TrimSpace(folder)
	if got := ask(t, (&Server{folder: folder}).DSN("postgres"),
		`SELECT current_setting('data_directory')`); got != filepath.Join(folder, "data") {
		t.Fatalf("the server's data are in %q, want the folder data of %s", got, folder)
	}
	server := processOf(t, filepath.Join(folder, "data", "postmaster.pid"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	for deadline := time.Now().Add(patience); server.Signal(syscall.Signal(0)) == nil; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("waited for the server to end")
		}
	}
	Start(t, Options{})
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder %s is there still, error %v", folder, err)
	}
}

// processOf is the process that a file names in its first line.
func processOf(t *testing.T, file string) *os.Process {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestServerThatCannotStartSaysWhy(t *testing.T) {
	needs.All(t, "PostgreSQL")
	s, err := open(t.Context(), Options{Settings: []string{"shared_buffers=nonsense"}})
	if err == nil {
		s.remove()
	}
	if err == nil || !strings.Contains(err.Error(), "shared_buffers") {
		t.Errorf("error is %v, want what the server says", err)
	}
}
