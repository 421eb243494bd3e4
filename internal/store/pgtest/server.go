package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const superuser = "postgres"

// Signals that stop a server: fast shuts down cleanly, immediate does not.
const (
	fast      = syscall.SIGINT
	immediate = syscall.SIGQUIT
)

// Server is a PostgreSQL server with its own folder, or a standby of one. Only New, Create and DSN are safe for
// concurrent use.
type Server struct {
	bin     string // the folder of the programs
	options Options
	folder  string   // holds the data and the socket
	lock    *os.File // locked while the folder is in use

	mu     sync.Mutex
	exited chan struct{} // closed when the process started last has exited; nil before the first start
	kill   func(os.Signal) error
	log    *tail
}

// prefix begins the names of servers' folders. They are short, since paths of sockets must be.
const (
	prefix   = "sibyl-pg-"
	lockFile = "lock"
)

// open makes a server and starts it. It also removes the folders of servers whose processes were killed.
func open(ctx context.Context, o Options) (s *Server, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*patience)
	defer cancel()
	s = &Server{options: o}
	if s.bin, err = find(ctx); err != nil {
		return nil, err
	}
	root := "/tmp"
	if short := os.TempDir(); len(short) < 40 {
		root = short
	}
	sweep(ctx, root)
	if err = s.makeFolder(ctx, root); err == nil {
		err = s.initialize(ctx)
	}
	if err == nil {
		err = s.start(ctx)
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// makeFolder makes and locks the server's folder. It gets its final name last, so that sweep never finds it unlocked.
func (s *Server) makeFolder(ctx context.Context, root string) (err error) {
	if s.folder, err = os.MkdirTemp(root, "new-"+prefix); err != nil {
		return err
	}
	if s.lock, err = lock(ctx, filepath.Join(s.folder, lockFile), os.O_CREATE); err != nil {
		return err
	}
	if err := own(s.folder); err != nil {
		return err
	}
	name := filepath.Join(root, strings.TrimPrefix(filepath.Base(s.folder), "new-"))
	if err := os.Rename(s.folder, name); err != nil {
		return err
	}
	s.folder = name
	return nil
}

// sweep removes the folders of servers whose processes were killed.
func sweep(ctx context.Context, root string) {
	left, err := filepath.Glob(filepath.Join(root, prefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range left {
		ended, cancel := context.WithCancel(ctx)
		cancel() // so that lock does not wait
		if held, err := lock(ended, filepath.Join(folder, lockFile), 0); err == nil {
			// The locked file is removed last, so that a later sweep can remove what this one can't.
			if os.RemoveAll(filepath.Join(folder, "data")) == nil {
				_ = os.RemoveAll(folder)
			}
			_ = held.Close()
		}
	}
}

func (s *Server) data() string { return filepath.Join(s.folder, "data") }

func (s *Server) initialize(ctx context.Context) error {
	if s.options.primary != nil {
		return s.run(ctx, "pg_basebackup", "-D", s.data(), "-h", s.options.primary.folder, "-U", superuser, "-R",
			"--checkpoint=fast", "--no-sync")
	}
	return s.run(ctx, "initdb", "-D", s.data(), "-U", superuser, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
}

// run runs a program to its end.
func (s *Server) run(ctx context.Context, name string, args ...string) error {
	cmd := s.command(ctx, name, args...)
	cmd.Dir = s.folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s of %s: %w: %s", name, s.bin, err, out)
	}
	return nil
}

// start starts the server and returns when it takes connections.
func (s *Server) start(ctx context.Context) error {
	args := []string{"-D", s.data(), "-k", s.folder, "-c", "listen_addresses=", "-c", "max_connections=300", "-c",
		"jit=off",
		"-c", "lc_messages=C"}
	if !s.options.Durable {
		args = append(args, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	for _, setting := range s.options.Settings {
		args = append(args, "-c", setting)
	}
	// The server must outlive ctx.
	cmd := s.command(context.WithoutCancel(ctx), "postgres", args...)
	cmd.Dir, cmd.WaitDelay = s.folder, patience
	log := &tail{ready: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = log, log
	started, exited := make(chan error), make(chan struct{})
	go func() {
		// The server dies with the thread that started it. That thread lives while it is locked to this goroutine.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the log says why it ended
		}
		close(exited)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	s.mu.Lock()
	s.exited, s.kill, s.log = exited, cmd.Process.Signal, log
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-log.ready:
		return nil
	case <-exited:
		return fmt.Errorf("PostgreSQL ended instead of taking connections: %s", log)
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("PostgreSQL took no connections: %w: %s", ctx.Err(), log), s.stop(immediate))
	}
}

func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.exited:
		return false
	default:
		return s.exited != nil
	}
}

// stop sends the signal how, then stronger ones, and returns when the server has exited. It may never have started.
func (s *Server) stop(how os.Signal) error {
	s.mu.Lock()
	exited, kill, log := s.exited, s.kill, s.log
	s.mu.Unlock()
	if exited == nil {
		return nil
	}
	for _, signal := range []os.Signal{how, immediate, os.Kill} {
		if err := kill(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop PostgreSQL: %w", err)
		}
		select {
		case <-exited:
			return nil
		case <-time.After(patience):
		}
	}
	return fmt.Errorf("PostgreSQL did not end %v after it was killed: %s", patience, log)
}

// remove stops the server and removes its folder. It ignores errors; a later open removes what is left.
func (s *Server) remove() {
	_ = s.stop(immediate)
	_ = os.RemoveAll(s.folder)
	if s.lock != nil {
		_ = s.lock.Close()
	}
}

// tail keeps the end of a server's log.
type tail struct {
	mu    sync.Mutex
	lines []byte
	ready chan struct{} // closed when the server accepts connections
	said  bool
}

const longestTail = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, p...)
	if !t.said && (bytes.Contains(t.lines, []byte("ready to accept connections")) ||
		bytes.Contains(t.lines, []byte("ready to accept read-only connections"))) {
		t.said = true
		close(t.ready)
	}
	if over := len(t.lines) - longestTail; over > 0 {
		t.lines = append(t.lines[:0], t.lines[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.lines))
}

// command prepares a call of a PostgreSQL program, as a user that is not root.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = attributes()
	return cmd
}
