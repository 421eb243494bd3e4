package code

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// Git would read each of these until there is no memory left, or wait for a writer.
func TestHistoryIsNotReadWhereAPartOfTheRepositoryHasNoEnd(t *testing.T) {
	zero := func(t *testing.T, name string) {
		_ = os.Remove(name)
		link(t, "/dev/zero", name)
	}
	pipe := func(t *testing.T, name string) {
		_ = os.Remove(name)
		mkfifo(t, name)
	}
	vast := func(t *testing.T, name string) {
		_ = os.Remove(name)
		write(t, name, "")
		if err := os.Truncate(name, 1<<40); err != nil {
			t.Skip(err)
		}
	}
	for _, name := range []string{"HEAD", "config", "info/attributes", "info/exclude", "refs/heads/evil",
		"refs/heads/deep/evil", "evil", "shallow"} {
		for how, put := range map[string]func(*testing.T, string){"a link to a device": zero, "a pipe": pipe,
			"vast": vast} {
			t.Run(name+" is "+how, func(t *testing.T) {
				r, dir := committedRoot(t)
				part := filepath.Join(dir, ".git", filepath.FromSlash(name))
				assert.NoError(t, os.MkdirAll(filepath.Dir(part), 0o700))
				put(t, part)
				for _, args := range []string{`{}`, `{"what":"diff"}`, `{"commit":"evil"}`} {
					res, err := call(t, r, "code_history", args)
					assert.That(t, kindOf(err) == tool.Unavailable, "%s: %v\n%s", args, err, res.Text)
				}
			})
		}
	}
}

func TestHistoryIsReadBesideWhatOtherProgramsKeepInTheRepository(t *testing.T) {
	r, dir := committedRoot(t)
	link(t, t.TempDir(), filepath.Join(dir, ".git", "lfs"))
	link(t, "/nowhere", filepath.Join(dir, ".git", "hooks", "pre-push"))
	socket := assert.Must(syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0))(t)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	t.Chdir(filepath.Join(dir, ".git"))
	assert.NoError(t, syscall.Bind(socket, &syscall.SockaddrUnix{Name: "fsmonitor--daemon.ipc"}))
	callHistory(t, r, `{}`, []string{"lease: begin", "lease: say that it waits"}, nil)
}

// A file that is small in the repository, and large when git reads it.
func TestHistoryOfALargeFileTakesLittleMemory(t *testing.T) {
	r, dir := committedRoot(t)
	name := filepath.Join(dir, "large.txt")
	for i := range 2 {
		text := bytes.Repeat(fmt.Appendf(nil, "line of the commit %d\n", i), 40<<20/21)
		assert.NoError(t, os.WriteFile(name, text, 0o600))
		gitIn(t, dir, "add", "large.txt")
		gitIn(t, dir, "commit", "-q", "-m", "large: change it all")
	}
	res, err := call(t, r, "code_history", `{"what":"diff","commit":"HEAD"}`)
	assert.That(t, err == nil && !strings.Contains(res.Text, "line of the commit") &&
		strings.Contains(res.Text, "large.txt"), "%v\n%.2000s", err, res.Text)
}

// gitIs has another program stand for git, with a pipe beside it.
func gitIs(t *testing.T, script string) (g *repository, pipe string) {
	t.Helper()
	bin := t.TempDir()
	pipe = filepath.Join(bin, "pipe")
	mkfifo(t, pipe)
	write(t, filepath.Join(bin, "git"), "#!/bin/sh\n"+script)
	assert.NoError(t, os.Chmod(filepath.Join(bin, "git"), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return &repository{root: bin, top: bin, dir: bin}, pipe
}

func TestHistoryStopsWhereAProgramOutlivesGit(t *testing.T) {
	g, pipe := gitIs(t, `cat "${0%git}pipe" &`)
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan *os.File, 1)
	go func() {
		held, _ := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for its reader, which has git's output
		cancel()
		opened <- held
	}()
	_, _, err := g.runGit(ctx, "log")
	assert.That(t, errors.Is(err, context.Canceled), "%v", err)
	assert.NoError(t, (<-opened).Close())
}

func TestGitThatFailsIsToldApartFromWhatIsNotInTheRepository(t *testing.T) {
	for script, want := range map[string]tool.Kind{
		"exit 128\n": tool.Failed, "kill -9 $$\n": tool.Unavailable, "exit 0\n": "",
	} {
		g, _ := gitIs(t, script)
		_, _, err := g.runGit(t.Context(), "log")
		assert.That(t, kindOf(err) == want, "%q: %v", script, err)
	}
	g, _ := gitIs(t, "exit 0\n")
	g.root += "/gone"
	_, _, err := g.runGit(t.Context(), "log")
	assert.That(t, kindOf(err) == tool.Unavailable && !strings.Contains(err.Error(), g.root), "%v", err)
}

func TestTimeOutOfGitIsToldAsThat(t *testing.T) {
	r, _ := committedRoot(t)
	g, err := r.openRepository(t.Context())
	assert.NoError(t, err)
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	_, err = g.resolveCommit(late, "HEAD")
	_, shallow := g.shallowCommits(late)
	h := &history{repository: g, path: "a/b"}
	submodule := h.findSubmodule(late)
	for _, err := range []error{err, shallow, submodule} {
		assert.That(t, kindOf(err) == tool.Timeout, "%v", err)
	}
}

func TestProgramsAreEndedThatTakeMoreMemoryThanTheyMay(t *testing.T) {
	cmd := exec.Command("sh", "-c", `read go; head -c 300000000 /dev/zero | tail -c 200000000 >/dev/null; echo "$?"`)
	in := assert.Must(cmd.StdinPipe())(t)
	out := &bytes.Buffer{}
	cmd.Stdout = out
	assert.NoError(t, cmd.Start())
	boundMemory(cmd.Process.Pid, 32<<20)
	_, err := in.Write([]byte("go\n"))
	assert.NoError(t, errors.Join(err, cmd.Wait()))
	assert.That(t, strings.TrimSpace(out.String()) != "0", "a program that was bounded to 32 MB held 200")
}

func TestWhatGitPrintedIsReadHoweverLongAgoItEnded(t *testing.T) {
	g, _ := gitIs(t, "(sleep 1.2; echo late) &\n")
	out, _, err := g.runGit(t.Context(), "log")
	assert.That(t, err == nil && string(out) == "late\n", "%q, %v", out, err)
}
