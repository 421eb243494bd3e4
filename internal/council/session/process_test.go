package session

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func background() context.Context { return context.Background() }

// childEnv holds the order of a process that a test starts of this very program.
const childEnv = "SIBYL_TEST_SESSION"

// order is what such a process does.
type order struct {
	Folder, ID string
	Deed       string // of deeds(); "": it adds texts and audio in turns
	Kill       int    // the step at which it dies; 0: none
	Count      int    // of what it adds
	Whose      string // to tell contents apart
	Limit      uint64 // bytes that a file may have; 0: any
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
	if o.Limit > 0 {
		if err := limitFiles(o.Limit); err != nil {
			return err
		}
	}
	n := 0
	s.step = func(string) error {
		if n++; n == o.Kill {
			die()
		}
		return nil
	}
	if o.Deed != "" {
		return deeds()[o.Deed].do(s, o.ID)
	}
	for i := range o.Count {
		if i%2 == 0 {
			_, err = s.AddText(background(), o.ID, fmt.Sprintf("words %d of %s", i, o.Whose))
		} else {
			_, err = s.AddAudio(background(), o.ID, "memo.ogg", strings.NewReader(fmt.Sprintf("sound %d of %s", i, o.Whose)))
		}
		if err != nil {
			return err
		}
		fmt.Println("added", i)
	}
	return nil
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

// child prepares a process. It ends with the test.
func child(t testing.TB, o order) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, must(os.Executable())(t))
	cmd.Env = append(os.Environ(), childEnv+"="+string(must(json.Marshal(o))(t)))
	return cmd
}

// killed does a deed in a process that dies at a step. done says that the deed has fewer steps.
func killed(t testing.TB, o order) (done bool) {
	t.Helper()
	out, err := child(t, o).CombinedOutput()
	if err == nil {
		return true
	}
	if strings.Contains(string(out), "failed:") || strings.Contains(string(out), "could not die") || strings.Contains(string(out), "panic") {
		t.Fatalf("the process did not die as it should: %v\n%s", err, out)
	}
	return false
}

func TestKilledAtAnyStepNothingIsLostAndNothingTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	for name, d := range deeds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := len(stepsOf(t, d))
			for kill := 1; ; kill++ {
				for _, repairs := range []bool{false, true} {
					s, id := begun(t)
					d.before(t, s, id)
					if killed(t, order{Folder: s.folder, ID: id, Deed: name, Kill: kill}) {
						if kill != steps+1 {
							t.Fatalf("it has %d steps, and was killed at %d", steps, kill-1)
						}
						return
					}
					if repairs {
						must(s.Repair(t.Context(), id))(t)
						wantRepaired(t, s, id)
					} else if name != "repair" {
						must(s.Get(t.Context(), id))(t)
					}
					if repairs && !d.repeats {
						continue
					}
					if err := d.do(s, id); err != nil && !(kill == steps && !d.repeats) {
						t.Errorf("killed at step %d, and done again: %v", kill, err)
					}
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
		left := must(filepath.Glob(s.path(id, pattern)))(t)
		for _, name := range left {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// wantWholeBut is wantWhole, with files of a name left out.
func wantWholeBut(t testing.TB, s *Store, id, prefix string) {
	t.Helper()
	for name := range tree(t, s.path(id)) {
		if strings.HasPrefix(name, prefix) {
			if err := os.Remove(s.path(id, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantWhole(t, s, id)
}

func TestProcessesThatAddAtOnceLoseNothing(t *testing.T) {
	s, id := begun(t)
	const each = 12
	var all []*exec.Cmd
	for _, whose := range []string{"one", "two"} {
		cmd := child(t, order{Folder: s.folder, ID: id, Count: each, Whose: whose})
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	for i := range each {
		must(s.SaveResponse(t.Context(), id, answer(fmt.Sprint("op", i), "an answer")))(t)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v", err)
		}
	}
	m := wantWhole(t, s, id)
	same(t, "entries and answers", []int{len(m.Audio), len(m.Answers)}, []int{2 * each, each})
	for i, e := range m.Audio {
		same(t, "sequence", e.Sequence, i+1)
	}
}

func TestKilledInTheMiddleOfManyAddsWhatWasAddedIsThere(t *testing.T) {
	for _, after := range []int{1, 4, 9} {
		s, id := begun(t)
		cmd := child(t, order{Folder: s.folder, ID: id, Count: 1000, Whose: "it"})
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, said := bufio.NewScanner(out), 0
		for lines.Scan() {
			if said++; said == after {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if cmd.Wait() == nil {
			t.Fatal("it was not killed")
		}
		must(s.Repair(t.Context(), id))(t)
		m := wantRepaired(t, s, id)
		if n := len(m.Audio); n < said || n > said+1 {
			t.Errorf("%d entries after %d that were said to be added", n, said)
		}
		for i, e := range m.Audio {
			same(t, "sequence", e.Sequence, i+1)
		}
	}
}

func TestAFileThatCannotGrowLeavesTheSessionAsItWas(t *testing.T) {
	s, id := begun(t)
	before := tree(t, s.path(id))
	out, err := child(t, order{Folder: s.folder, ID: id, Deed: "audio", Limit: 50_000}).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "failed:") || !strings.Contains(string(out), "memo.ogg") {
		if strings.Contains(string(out), errNoLimit.Error()) {
			t.Skip(errNoLimit)
		}
		t.Errorf("%v: %s", err, out)
	}
	same(t, "files", tree(t, s.path(id)), before)
}
