package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/journal"
)

// mounted mounts a folder a second time, as another machine does: locks and memory of one mount are not seen through
// the other.
func mounted(t *testing.T, folder string) string {
	t.Helper()
	mount := t.TempDir()
	before := assert.Must(os.Stat(mount))(t).Sys().(*syscall.Stat_t).Dev
	cmd := exec.CommandContext(t.Context(), "bindfs", "-f", folder, mount)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // it unmounts first
	cmd.Stderr = os.Stderr
	assert.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() }) // it was ended
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(10 * time.Millisecond) {
		now := assert.Must(os.Stat(mount))(t).Sys().(*syscall.Stat_t).Dev
		if now != before {
			return mount
		}
		assert.Require(t, time.Now().Before(deadline), "bindfs has mounted nothing within 10 s")
	}
}

func TestOfTwoMountsOfAFolderOneIsRefusedAndNothingIsLost(t *testing.T) {
	needs.Program(t, "bindfs")
	disk := t.TempDir()
	one, two := filepath.Join(mounted(t, disk), "sibyl.db"), filepath.Join(mounted(t, disk), "sibyl.db")
	refused := func(where, path string) {
		t.Helper()
		db, err := OpenFile(t.Context(), path, WithBusyTimeout(0))
		if err == nil {
			closeDB(t, db)
		}
		assert.ErrorIsf(t, err, ErrShared, "%s", where)
	}
	whole := func(path string) (n int64) {
		t.Helper()
		db := openAt(t, path)
		defer closeDB(t, db)
		sound(t, db)
		for _, s := range assert.Must(db.Sessions(t.Context(), "ada", journal.SessionFilter{Limit: 1_000_000}))(t) {
			recs := assert.Must(db.Records(t.Context(), "ada", "run of "+s.ID, 0))(t)
			if len(recs) == 4 {
				n++
			}
		}
		return n
	}
	var acknowledged int64
	for round, path := range []string{one, two, one} {
		c := startChild(t, "write", path, string(rune('a'+round)))
		c.goOn(t)
		first, ok := c.number(t)
		assert.Require(t, ok && first == 1, "the child ended by itself")
		refused("through one mount", one)
		refused("through the other", two)
		refused("where the disk is", filepath.Join(disk, "sibyl.db"))
		acknowledged += killAfter(t, c, 20)
		other := two
		if path == two {
			other = one
		}
		refused("through the other, after a crash", other)
		n := whole(path) // nobody has to remove anything
		assert.That(t, n >= acknowledged, "round %d: %d are whole, %d were acknowledged", round, n, acknowledged)
		assert.Equalf(t, whole(other), n, "through the other mount")
	}
}

func TestLocksThatTwoMountsDoNotShareAreFoundByTheTrial(t *testing.T) {
	needs.Program(t, "bindfs")
	disk := t.TempDir()
	one, two := mounted(t, disk), mounted(t, disk)
	path := filepath.Join(one, "sibyl.db")
	assert.NoError(t, Try(t.Context(), path, again))
	assert.ErrorIs(t, Try(t.Context(), path, misled(two)), ErrNotHeld)
	isEmpty(t, disk)
}
