package app

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/store/pgtest"
)

// presentEnv has the test binary be a process that makes itself known in a data folder, says its name, and waits for
// its end.
const presentEnv = "SIBYL_APP_TEST_PRESENT"

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveModel()
		return
	}
	if data := os.Getenv(presentEnv); data != "" {
		bePresent(data)
		return
	}
	os.Exit(pgtest.Main(m).Run())
}

func bePresent(data string) {
	p := newPresence(data)
	if _, err := os.Stdout.WriteString(p.holder + "\n"); err != nil {
		os.Exit(1)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // which never comes
}

// present starts a process that makes itself known, and gives its name in leases and a way to kill it.
func present(t *testing.T, data string) (holder string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), presentEnv+"="+data)
	in := assert.Must(cmd.StdinPipe())(t)
	out := assert.Must(cmd.StdoutPipe())(t)
	assert.NoError(t, cmd.Start())
	line := assert.Must(bufio.NewReader(out).ReadString('\n'))(t)
	return strings.TrimSpace(line), func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = in.Close()
	}
}

func TestProcessIsGoneWhenNobodyHoldsItsLock(t *testing.T) {
	if machineID() == unknown {
		t.Skip("this system does not tell where a process runs")
	}
	data := t.TempDir()
	p := newPresence(data)
	defer p.Close()
	other, kill := present(t, data)
	assert.That(t, !p.isGone(other) && !p.isGone(p.holder), "a process that lives is gone")
	elsewhere := newPresence(t.TempDir())
	defer elsewhere.Close()
	_, name, _ := strings.Cut(other, "/")
	inContainer := "c0ffee" + p.place[strings.LastIndexByte(p.place, '-'):] + "/" + name
	otherMachine := strings.TrimSuffix(p.place, p.place[len(p.place)-4:]) + "0bad/" + name
	kill()
	for _, c := range []struct {
		who    *presence
		holder string
		want   bool
	}{
		{p, other, true}, {p, inContainer, true}, {p, otherMachine, false}, {elsewhere, other, false}, {p, "", false},
		{p, name, false},
		{p, p.place + "/", false}, {p, p.place + "/../" + name, false}, {p, p.place + "/never", false},
		{p, unknown + "/" + name, false},
	} {
		assert.Equalf(t, c.who.isGone(c.holder), c.want, "gone(%q)", c.holder)
	}
}

// A process that ends by itself may not have been able to give its leases back. Numbers of processes mean nothing: one
// of a process that is gone may be taken again.
func TestProcessThatEndedByItselfIsGoneWhateverItsNumber(t *testing.T) {
	if machineID() == unknown {
		t.Skip("this system does not tell where a process runs")
	}
	data := t.TempDir()
	p, ended, elsewhere := newPresence(data), newPresence(data), newPresence(t.TempDir())
	defer p.Close()
	defer elsewhere.Close()
	assert.That(t, !p.isGone(ended.holder), "it is gone while it lives")
	ended.Close()
	assert.That(t, p.isGone(ended.holder), "it is not gone, though only its number is taken")
	assert.That(t, !elsewhere.isGone(ended.holder), "it is gone for those of another folder, who can't know")
}

func TestFilesOfProcessesThatAreGoneAreRemovedInTheEnd(t *testing.T) {
	data := t.TempDir()
	p := newPresence(data)
	defer p.Close()
	_, killed := present(t, data)
	killed()
	_, kill := present(t, data)
	defer kill()
	count := func() int {
		all := assert.Must(os.ReadDir(filepath.Join(data, "processes")))(t)
		return len(all)
	}
	n := count()
	assert.Require(t, n == 3, "%d files of 3 processes", n)
	all, _ := os.ReadDir(filepath.Join(data, "processes"))
	for _, one := range all {
		long := time.Now().Add(-2 * keptLocks)
		assert.NoError(t, os.Chtimes(filepath.Join(data, "processes", one.Name()), long, long))
	}
	newPresence(data).Close()
	n = count()
	assert.That(t, n == 3, "%d files of the 2 processes that live, and the one that has just ended", n)
}

func TestFolderThatTakesNoLockLeavesItToTheLease(t *testing.T) {
	data := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(data), "file", "")
	p := newPresence(data)
	defer p.Close()
	assert.That(t, !p.isGone(p.holder) && strings.HasPrefix(p.holder, unknown+"/"),
		"%s, gone: %v", p.holder, p.isGone(p.holder))
}
