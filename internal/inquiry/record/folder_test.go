package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

const exampleFile = "session_" + exampleID + "_20251005T143022Z.json"

func openFolder(t testing.TB) *Folder {
	t.Helper()
	return assert.Must(Open(filepath.Join(t.TempDir(), "deep", "sessions")))(t)
}

func write(t testing.TB, f *Folder, s Session) {
	t.Helper()
	assert.NoError(t, f.Write(t.Context(), s))
}

// read gives the session that the one file holds.
func read(t testing.TB, f *Folder) Session {
	t.Helper()
	return assert.Must(Unmarshal([]byte(content(t, filepath.Join(f.path, exampleFile)))))(t)
}

// after is the session of the tests after so many pairs, while it runs.
func after(pairs int) Session {
	s := running()
	s.Pairs, s.CurrentIteration = s.Pairs[:pairs], pairs
	return s
}

func put(t testing.TB, f *Folder, name, text string) {
	t.Helper()
	assert.NoError(t, errors.Join(os.MkdirAll(f.path, 0o700), os.WriteFile(filepath.Join(f.path, name), []byte(text),
		0o600)))
}

// wantFiles wants these files alone, beside the lock.
func wantFiles(t *testing.T, f *Folder, want ...string) {
	t.Helper()
	var got []string
	for _, e := range assert.Must(os.ReadDir(f.path))(t) {
		if e.Name() != lockFile {
			got = append(got, e.Name())
		}
	}
	assert.That(t, fmt.Sprint(got) == fmt.Sprint(want), "the folder has %q, want %q", got, want)
}

func TestASessionIsWrittenAfterEveryPairIntoOneFile(t *testing.T) {
	f := openFolder(t)
	for n := range 4 {
		write(t, f, after(n))
		got := read(t, f)
		assert.That(t, len(got.Pairs) == n && got.Status == Running, "after pair %d it has %d", n, len(got.Pairs))
		wantFiles(t, f, exampleFile)
	}
	write(t, f, completed())
	got := read(t, f)
	assert.That(t, got.Status == Completed && got.AuditResult != nil, "at its end it is %s", got.Status)
	text := content(t, f.Path(got))
	assert.That(t, text == string(assert.Must(Marshal(completed()))(t)), "the file holds\n%s", text)
	info := assert.Must(os.Stat(f.Path(got)))(t)
	assert.That(t, info.Mode().Perm() == 0o600, "the file has the mode %v", info.Mode())
}

func TestTheSameStateAgainChangesNothing(t *testing.T) {
	f := openFolder(t)
	write(t, f, after(2))
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	assert.NoError(t, os.Chtimes(f.Path(after(2)), old, old))
	before := assert.Must(os.Stat(f.Path(after(2))))(t)
	write(t, f, after(2))
	now := assert.Must(os.Stat(f.Path(after(2))))(t)
	assert.That(t, os.SameFile(before, now) && now.ModTime().Equal(old), "the file was written again")
}

func TestAFileNeverGoesBack(t *testing.T) {
	for name, c := range map[string]struct{ first, then Session }{
		"fewer pairs":              {after(3), after(2)},
		"an end that goes on":      {completed(), after(3)},
		"an end that is another":   {completed(), failed()},
		"an end with fewer pairs":  {limited(), failed()},
		"a pair after the one end": {failed(), after(3)},
	} {
		f := openFolder(t)
		write(t, f, c.first)
		before := content(t, f.Path(c.first))
		err := f.Write(t.Context(), c.then)
		stale, ok := errors.AsType[*Stale](err)
		assert.That(t, ok && stale.ID == exampleID && strings.Contains(err.Error(), "another process"), "%s: %v", name, err)
		assert.That(t, content(t, f.Path(c.first)) == before, "%s: the file was changed", name)
	}
}

func TestASessionThatBreaksRulesIsNotWritten(t *testing.T) {
	f := openFolder(t)
	for name, change := range map[string]func(s *Session){
		"hostile id": func(s *Session) { s.ID = "../../../tmp/x" },
		"no id":      func(s *Session) { s.ID = "" },
		"two rules":  func(s *Session) { s.CurrentIteration, s.Pairs[0].Sequence = 4, 7 },
	} {
		s := completed()
		change(&s)
		err := f.Write(t.Context(), s)
		invalid, ok := errors.AsType[*Invalid](err)
		assert.That(t, ok && len(invalid.Violations) != 0 && strings.Contains(err.Error(), "rules"), "%s: %v", name, err)
	}
	_, err := os.Stat(f.path)
	assert.That(t, errors.Is(err, os.ErrNotExist), "a folder was made: %v", err)
	large := completed()
	large.Pairs[2].Answer = strings.Repeat("x", maxSession)
	err = f.Write(t.Context(), large)
	assert.That(t, err != nil && strings.Contains(err.Error(), "bytes"), "a session of %d MB: %.100v", maxSession>>20, err)
}

func TestADamagedFileIsWrittenAnew(t *testing.T) {
	whole := string(assert.Must(Marshal(completed()))(t))
	for name, text := range map[string]string{
		"empty":         "",
		"cut off":       whole[:len(whole)/2],
		"a broken rule": strings.Replace(whole, `"iterationLimit": 5`, `"iterationLimit": 2`, 1),
		"too large":     `{"x":"` + strings.Repeat("x", maxSession) + `"}`,
	} {
		f := openFolder(t)
		put(t, f, exampleFile, text)
		write(t, f, completed())
		got := read(t, f)
		assert.That(t, got.Status == Completed && got.IterationLimit == 5, "%s: it is not written anew", name)
	}
}

func TestOneSessionHasOneFile(t *testing.T) {
	f := openFolder(t)
	write(t, f, after(1))
	moved := after(1)
	moved.StartTime = start.Add(-time.Hour)
	err := f.Write(t.Context(), moved)
	assert.That(t, err != nil && strings.Contains(err.Error(), exampleFile), "a second file: %v", err)
	wantFiles(t, f, exampleFile)
}

func TestASymbolicLinkIsNotWrittenOver(t *testing.T) {
	f := openFolder(t)
	write(t, f, completed())
	s := completed()
	s.ID = strings.Replace(exampleID, "3f2b", "aaaa", 1)
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.Symlink(outside, f.Path(s)); err != nil {
		t.Skip("no symbolic links here")
	}
	err := f.Write(t.Context(), s)
	assert.That(t, err != nil && strings.Contains(err.Error(), "symbolic link"), "a link is written over: %v", err)
}

func TestACancelledContextWritesNothing(t *testing.T) {
	f := openFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.ErrorIsf(t, f.Write(ctx, completed()), context.Canceled, "write")
}

// writeAll writes all states of the session, and reads it in between: what it reads never goes back and is always
// whole.
func writeAll(f *Folder, failed func(format string, args ...any)) {
	seen := 0
	for n := range 5 {
		s := completed()
		if n < 4 {
			s = after(n)
		}
		var stale *Stale
		if err := f.Write(context.Background(), s); err != nil && !errors.As(err, &stale) {
			failed("write %d: %v", n, err)
		}
		text, err := os.ReadFile(filepath.Join(f.path, exampleFile))
		var got Session
		if err == nil {
			got, err = Unmarshal(text)
		}
		if err != nil || len(got.Pairs) < seen || len(got.Pairs) < min(n, 3) {
			failed("after pair %d: %d pairs after %d, %v", n, len(got.Pairs), seen, err)
		}
		seen = len(got.Pairs)
	}
}

// childEnv holds the folder of a process that a test starts of this very program.
const childEnv = "SIBYL_TEST_RECORD"

func TestMain(m *testing.M) {
	folder := os.Getenv(childEnv)
	if folder == "" {
		os.Exit(m.Run())
	}
	f, err := Open(folder)
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(3)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range 5 {
				writeAll(f, func(format string, args ...any) { fmt.Printf("failed: "+format+"\n", args...) })
			}
		})
	}
	all.Wait()
	os.Exit(0)
}

func TestProcessesOfSeveralWritersLeaveTheLatestState(t *testing.T) {
	f := openFolder(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			cmd := exec.CommandContext(ctx, assert.Must(os.Executable())(t))
			cmd.Env = append(os.Environ(), childEnv+"="+f.path)
			out, err := cmd.CombinedOutput()
			assert.That(t, err == nil && !strings.Contains(string(out), "failed"), "%v: %s", err, out)
		})
	}
	all.Wait()
	got := read(t, f)
	assert.That(t, got.Status == Completed, "it is %s after %d pairs", got.Status, len(got.Pairs))
	wantFiles(t, f, exampleFile)
}
