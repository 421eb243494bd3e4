package session

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

func background() context.Context { return context.Background() }

// childEnv holds the order of a process that a test starts of this very program.
const childEnv = "SIBYL_TEST_SESSION"

// order is what such a process does.
type order struct {
	Folder, ID string
	Deed       string // of deeds()
	Kill       int    // the step at which it dies
}

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		var o order
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = o.run()
		}
		if err != nil {
			fmt.Println("failed:", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func (o order) run() error {
	s, err := Open(Config{Folder: o.Folder, Now: func() time.Time { return noon }, Probe: probe})
	if err != nil {
		return err
	}
	n := 0
	s.step = func(string) error {
		if n++; n == o.Kill {
			die()
		}
		return nil
	}
	return deeds()[o.Deed].do(s, o.ID)
}

// die ends this process as kill -9 does: nothing is put in order.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		fmt.Println("could not die:", err)
		os.Exit(4)
	}
	select {}
}

// killed does a deed in a process that dies at a step. done says that the deed has fewer steps.
func killed(t testing.TB, o order) (done bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, assert.Must(os.Executable())(t))
	cmd.Env = append(os.Environ(), childEnv+"="+string(assert.Must(json.Marshal(o))(t)))
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	assert.Require(t, !strings.Contains(string(out), "failed:") && !strings.Contains(string(out), "could not die") &&
		!strings.Contains(string(out), "panic"), "the process did not die as it should: %v\n%s", err, out)
	return false
}

func TestKilledAtAnyStepNothingIsLostAndNothingTwice(t *testing.T) {
	needs.All(t, "many processes")
	for name, d := range deeds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := len(stepsOf(t, d))
			for kill := 1; ; kill++ {
				for _, repairs := range []bool{false, true} {
					s, id := begun(t)
					d.before(t, s, id)
					if killed(t, order{Folder: s.folder, ID: id, Deed: name, Kill: kill}) {
						assert.Require(t, kill == steps+1, "it has %d steps, and was killed at %d", steps, kill-1)
						return
					}
					if repairs {
						assert.Must(s.Repair(t.Context(), id))(t)
						wantRepaired(t, s, id)
					} else if name != "repair" {
						assert.Must(s.Get(t.Context(), id))(t)
					}
					if repairs && !d.repeats {
						continue
					}
					err := d.do(s, id)
					assert.That(t, err == nil || (kill == steps && !d.repeats), "killed at step %d, and done again: %v", kill, err)
					if kill == steps && !d.repeats {
						continue // it was done, and is done once more
					}
					d.done(t, s, id)
					sweepUploads(t, s, id)
					wantWholeBut(t, s, id, "metadata.damaged")
				}
			}
		})
	}
}

// sweepUploads removes what Repair will remove in an hour.
func sweepUploads(t testing.TB, s *Store, id string) {
	t.Helper()
	for _, pattern := range []string{".*.tmp", "*/.*.tmp"} {
		left := assert.Must(filepath.Glob(s.path(id, pattern)))(t)
		for _, name := range left {
			assert.NoError(t, os.Remove(name))
		}
	}
}

// wantWholeBut is wantWhole, with files of a name left out.
func wantWholeBut(t testing.TB, s *Store, id, prefix string) {
	t.Helper()
	for name := range tree(t, s.path(id)) {
		if strings.HasPrefix(name, prefix) {
			assert.NoError(t, os.Remove(s.path(id, name)))
		}
	}
	wantWhole(t, s, id)
}
