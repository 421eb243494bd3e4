package code

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
