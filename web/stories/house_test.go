package stories

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/config"
	"sibyl/internal/server/user"
)

// server is the program as it serves, with a folder of code and one of notes.
type server struct {
	dir, origin string
	env         []string
	serving     *exec.Cmd
	ended       chan error
	said        *safeBuffer
	db          app.Database
	users       *user.Service
}

// launch starts a server that keeps everything in dir. settings are lines of its configuration beside where it listens
// and its folders; storing is what its environment says of its store.
func launch(dir, settings string, storing ...string) (*server, error) {
	listen, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{dir: dir, origin: "http://" + listen, said: &safeBuffer{}}
	for name, text := range map[string]string{
		"code/lease.go": "package lease\n\n// Acquire takes the lease of a run, if nobody holds it or its holder " +
			"is dead.\nfunc Acquire(run string) error {\n\treturn nil\n}\n",
		"notes/house.md": "# Boiler\n\nThe plumber who mended the boiler is Dana Reyes, phone 555-0100.\n",
		// A story asks for more in a minute than a person does.
		"config.yaml": fmt.Sprintf("server:\n  listen: %s\n  limits:\n    requests: 100000\n  folders:\n    code: %s\n"+
			"    notes: %s\n%s", listen, filepath.Join(dir, "code"), filepath.Join(dir, "notes"), settings),
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text),
			0o600)); err != nil {
			return nil, err
		}
	}
	s.env = append([]string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "SIBYL_CONFIG=" + filepath.Join(dir,
		"config.yaml"), "SIBYL_DATA=" + filepath.Join(dir, "data"), "XDG_CACHE_HOME=" + caches},
		storing...)
	if err := s.openDatabase(); err != nil {
		return nil, err
	}
	if err := s.serve(); err != nil {
		return nil, errors.Join(err, s.end())
	}
	return s, nil
}

// openDatabase opens what the program keeps everything in.
func (s *server) openDatabase() error {
	cfg, err := config.Load(config.Options{Environ: s.env})
	if err != nil {
		return err
	}
	if s.db, err = app.OpenDatabase(context.Background(), cfg); err != nil {
		return err
	}
	s.users = user.New(s.db, time.Now)
	return nil
}

// serve begins to serve, and waits until requests are answered.
func (s *server) serve() error {
	s.serving = exec.Command(program, "serve")
	s.serving.Env, s.serving.Dir, s.serving.Stderr = s.env, s.dir, s.said
	if err := s.serving.Start(); err != nil {
		s.serving = nil
		return err
	}
	s.ended = make(chan error, 1)
	go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(s.serving, s.ended)
	until := time.Now().Add(patience)
	for {
		if answer, err := http.Get(s.origin + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-s.ended:
			s.serving = nil
			return fmt.Errorf("the server ended: %w\n%s", err, s.said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			return fmt.Errorf("the server takes no requests within %s\n%s", patience, s.said.String())
		}
	}
}

// kill ends the server at once, as a crash would.
func (s *server) kill() {
	if s.serving != nil {
		_ = s.serving.Process.Kill()
		<-s.ended
		s.serving = nil
	}
}

// end ends the server for good.
func (s *server) end() error {
	s.kill()
	return s.db.Close()
}

// common is the server that stories share who need none of their own; endCommon ends it.
var common, endCommon = shared()

func shared() (get func() (*server, error), end func() error) {
	var started *server
	get = sync.OnceValues(func() (*server, error) {
		dir, err := os.MkdirTemp("", "stories-common")
		if err != nil {
			return nil, err
		}
		started, err = launch(dir, "")
		return started, err
	})
	return get, func() error {
		if started == nil {
			return nil
		}
		return errors.Join(started.end(), os.RemoveAll(started.dir))
	}
}

// guests counts those of the common server.
var guests atomic.Int64

// house is a server as one user has it.
type house struct {
	testing.TB
	*server
	user, token string
	own         bool
}

// open gives a user of the server that stories share. Other stories run beside this one.
func open(t testing.TB) *house {
	t.Helper()
	needs.All(t, "Chromium")
	if onPostgres() { // where each story has a database, which ends with it
		return openWith(t, "")
	}
	beside(t)
	s := assert.Must(common())(t)
	h := &house{TB: t, server: s, user: fmt.Sprint("guest-", guests.Add(1))}
	h.token = h.admits(h.user, user.Write)
	return h
}

// openWith starts a server of the story's own, with lines of its configuration beside where it listens and its folders.
// Its user is local.
func openWith(t testing.TB, settings string) *house {
	t.Helper()
	needs.All(t, "Chromium")
	beside(t)
	return openAlone(t, settings)
}

// openAlone is openWith for a story that measures: none runs beside it.
func openAlone(t testing.TB, settings string) *house {
	t.Helper()
	needs.All(t, "Chromium")
	s := assert.Must(launch(t.TempDir(), settings, storing(t)...))(t)
	t.Cleanup(func() { assert.Nil(t, s.end()) })
	h := &house{TB: t, server: s, user: "local", own: true}
	h.token = h.admits(h.user, user.Write)
	return h
}

// sibyl runs a command of the program and gives what it prints.
func (h *house) sibyl(args ...string) string {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Dir = h.env, h.dir
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	err := c.Run()
	assert.Require(h, err == nil, "sibyl %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	return out.String()
}

// admits adds a user, and gives a token of theirs for programs.
func (h *house) admits(name string, scope user.Scope) (token string) {
	h.Helper()
	_, token, err := h.users.Add(context.Background(), name, scope, time.Hour)
	assert.NoError(h, err)
	return token
}

// revokes ends all that the user of the house may do.
func (h *house) revokes() {
	h.Helper()
	assert.NoError(h, h.users.Revoke(context.Background(), h.user))
}

// signIn is an address that signs in once.
func (h *house) signIn(user string) string {
	h.Helper()
	_, secret, err := h.users.Invite(context.Background(), user)
	assert.NoError(h, err)
	return h.origin + "/#" + secret
}

// sends asks the server for something as another program of the user does, and gives what it answers.
func (h *house) sends(method, path string, body any) string {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request := assert.Must(http.NewRequestWithContext(ctx, method, h.origin+path, strings.NewReader(inJSON(body))))(h)
	request.Header.Set("Authorization", "Bearer "+h.token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	assert.NoError(h, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	assert.Require(h, err == nil && answer.StatusCode < http.StatusBadRequest,
		"%s %s: %s %v\n%s", method, path, answer.Status, err, text)
	return string(text)
}

// hasTasks adds tasks.
func (h *house) hasTasks(titles ...string) {
	h.Helper()
	for _, title := range titles {
		h.sends("POST", "/api/tasks", map[string]any{"title": title})
	}
}

// start has a server of the story's own serve again.
func (h *house) start() {
	h.Helper()
	assert.NoError(h, h.serve())
}

// stop ends a server of the story's own, as a crash would.
func (h *house) stop() {
	h.Helper()
	assert.Require(h, h.own, "other stories use this server")
	h.kill()
}

// database does something with what the program keeps everything in.
func (h *house) database(use func(app.Database) error) {
	h.Helper()
	assert.NoError(h, use(h.db))
}

// freePort is an address of loopback that nobody listens to. It is none of those that the system gives out by itself,
// so that it stays free until a server listens there, and while one is away.
func freePort() (string, error) {
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("no port is free")
}
