package store

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// A witness with elsewhereEnv has the folder of the trial in another folder, as a process does that sees it through
// another mount. The files that sameEnv lists are the same ones there.
const (
	elsewhereEnv = "SIBYL_STORE_TEST_ELSEWHERE"
	sameEnv      = "SIBYL_STORE_TEST_SAME"
)

// misled starts such a witness.
func misled(elsewhere string, same ...string) Again {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), elsewhereEnv+"="+elsewhere, sameEnv+"="+strings.Join(same, " "))
		return cmd
	}
}

// isMisled takes this process to where it is to be a witness.
func isMisled() {
	elsewhere := os.Getenv(elsewhereEnv)
	if elsewhere == "" {
		return
	}
	folder := os.Getenv(trialVariable)
	there := filepath.Join(elsewhere, filepath.Base(folder))
	_ = os.Mkdir(there, 0o700) // a mount has it
	for _, name := range []string{trialLock, trialDatabase} {
		_ = createFile(filepath.Join(folder, name)) // what fails here fails the trial
		if slices.Contains(strings.Fields(os.Getenv(sameEnv)), name) {
			_ = os.Link(filepath.Join(folder, name), filepath.Join(there, name))
		}
		_ = createFile(filepath.Join(there, name))
	}
	_ = os.Setenv(trialVariable, there)
}

// again starts a witness that sees what this process sees.
func again(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, os.Args[0]) }

func isEmpty(t *testing.T, folder string) {
	t.Helper()
	left := assert.Must(os.ReadDir(folder))(t)
	assert.That(t, len(left) == 0, "%v is left", left)
}

func TestFileSystemThatKeepsProcessesApartIsFoundToDoSo(t *testing.T) {
	for name, p := range map[string]place{"on a disk": {}, "on a network": network("1")} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			f := assert.Must(newFile(path, []FileOption{at(p)}))(t)
			assert.NoError(t, f.find(t.Context()))
			assert.NoError(t, f.tryPlace(t.Context(), again))
			isEmpty(t, filepath.Dir(path))
		})
	}
}

func TestFileSystemThatDoesNotKeepProcessesApartIsRefusedAtTheFirstStart(t *testing.T) {
	for name, c := range map[string]struct {
		place place
		same  []string
		words string
	}{
		"no lock is seen":                {place{}, nil, "free for the other"},
		"no lock is seen on a network":   {network("1"), nil, "free for the other"},
		"SQLite's locks are not seen":    {place{}, []string{trialLock}, "does not see"},
		"what SQLite writes is not seen": {place{}, []string{trialLock, trialDatabase}, "does not see"},
		"locks are seen on a network":    {network("1"), []string{trialLock}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			trial := WithTrial(misled(t.TempDir(), c.same...), false)
			if c.words == "" {
				closeDB(t, openAt(t, path, at(c.place), trial))
				return
			}
			for range 2 { // the second start is a first one, too
				_, err := OpenFile(t.Context(), path, at(c.place), trial)
				assert.Require(t, err != nil, "it was opened")
				assert.ErrorIs(t, err, ErrNotHeld)
				assert.Contains(t, "the error", err.Error(), path, c.words)
				isEmpty(t, filepath.Dir(path))
			}
			closeDB(t, openAt(t, path, at(c.place)))
			closeDB(t, openAt(t, path, at(c.place), trial))
			_, err := OpenFile(t.Context(), path, at(c.place), WithTrial(misled(t.TempDir(), c.same...), true))
			assert.ErrorIs(t, err, ErrNotHeld)
		})
	}
}

// Where no process can be started, nothing is known, and nothing refused.
func TestPlaceThatCannotBeTriedIsUsed(t *testing.T) {
	for name, program := range map[string]string{"there is none": "/nowhere/sibyl", "it says something else": "echo"} {
		path := newPath(t)
		none := func(ctx context.Context) *exec.Cmd { return exec.CommandContext(ctx, program, "hello") }
		err := Try(t.Context(), path, none)
		assert.That(t, err != nil, "%s: it was tried", name)
		closeDB(t, openAt(t, path, WithTrial(none, true)))
	}
}
