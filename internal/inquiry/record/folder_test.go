package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const exampleFile = "session_" + exampleID + "_20251005T143022Z.json"

func openFolder(t testing.TB) *Folder {
	t.Helper()
	return must(Open(filepath.Join(t.TempDir(), "deep", "sessions")))(t)
}

func write(t testing.TB, f *Folder, s Session) {
	t.Helper()
	if err := f.Write(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// after is the session of the tests after so many pairs, while it runs.
func after(pairs int) Session {
	s := running()
	s.Pairs, s.CurrentIteration = s.Pairs[:pairs], pairs
	return s
}

func put(t testing.TB, f *Folder, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(f.path, 0o700), os.WriteFile(filepath.Join(f.path, name), []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// wantFiles wants these files alone, beside the lock.
func wantFiles(t *testing.T, f *Folder, want ...string) {
	t.Helper()
	var got []string
	for _, e := range must(os.ReadDir(f.path))(t) {
		if e.Name() != lockFile {
			got = append(got, e.Name())
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
}

func TestASessionIsWrittenAfterEveryPairIntoOneFile(t *testing.T) {
	f := openFolder(t)
	for n := range 4 {
		write(t, f, after(n))
		got := must(f.Read(t.Context(), exampleID))(t)
		if len(got.Pairs) != n || got.Status != Running {
			t.Errorf("after pair %d it has %d", n, len(got.Pairs))
		}
		wantFiles(t, f, exampleFile)
	}
	write(t, f, completed())
	got := must(f.Read(t.Context(), strings.ToUpper(exampleID)))(t)
	if got.Status != Completed || got.AuditResult == nil {
		t.Errorf("at its end it is %s", got.Status)
	}
	if text := content(t, f.Path(got)); text != string(must(Marshal(completed()))(t)) {
		t.Errorf("the file holds\n%s", text)
	}
	if info := must(os.Stat(f.Path(got)))(t); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v", info.Mode())
	}
	names := must(f.List(t.Context()))(t)
	if fmt.Sprint(names) != fmt.Sprint([]string{exampleFile}) {
		t.Errorf("the list is %q", names)
	}
}

func TestTheSameStateAgainChangesNothing(t *testing.T) {
	f := openFolder(t)
	write(t, f, after(2))
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(f.Path(after(2)), old, old); err != nil {
		t.Fatal(err)
	}
	before := must(os.Stat(f.Path(after(2))))(t)
	write(t, f, after(2))
	now := must(os.Stat(f.Path(after(2))))(t)
	if !os.SameFile(before, now) || !now.ModTime().Equal(old) {
		t.Error("the file was written again")
	}
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
		if stale, ok := errors.AsType[*Stale](err); !ok || stale.ID != exampleID || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%s: %v", name, err)
		}
		if content(t, f.Path(c.first)) != before {
			t.Errorf("%s: the file was changed", name)
		}
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
		if invalid, ok := errors.AsType[*Invalid](err); !ok || len(invalid.Violations) == 0 || !strings.Contains(err.Error(), "rules") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(f.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
	large := completed()
	large.Pairs[2].Answer = strings.Repeat("x", maxSession)
	if err := f.Write(t.Context(), large); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a session of %d MB: %.100v", maxSession>>20, err)
	}
}

func TestHostileIDsNameNoFile(t *testing.T) {
	f := openFolder(t)
	write(t, f, completed())
	put(t, f, "session_x_20251005T143022Z.json", "{}")
	put(t, f, "../secret.json", "secret")
	for _, id := range []string{"", "x", "..", "../secret", "*", exampleID + "/", exampleID[:35], "session_" + exampleID, exampleID + "\x00", strings.Repeat("a", 1<<20), "3f2b8c1e-9d4a-4b6f-8a7e-5c1d2e3f4a5c"} {
		if _, err := f.Read(t.Context(), id); !errors.Is(err, ErrNotFound) || len(err.Error()) > 200 {
			t.Errorf("%.60q: %.300v", id, err)
		}
	}
}

func TestADamagedFileIsANamedErrorAndIsWrittenAnew(t *testing.T) {
	whole := string(must(Marshal(completed()))(t))
	other := completed()
	other.ID = "3f2b8c1e-9d4a-4b6f-8a7e-5c1d2e3f4a5c"
	for name, c := range map[string]struct{ text, want string }{
		"empty":           {"", "is empty"},
		"cut off":         {whole[:len(whole)/2], "is no JSON"},
		"of no object":    {"[1]", "an object is expected"},
		"another type":    {strings.Replace(whole, `"iterationLimit": 5`, `"iterationLimit": "5"`, 1), "iterationLimit"},
		"a broken rule":   {strings.Replace(whole, `"iterationLimit": 5`, `"iterationLimit": 4`, 1), "4/1 is less than 5"},
		"a lost member":   {strings.Replace(whole, `"iterationLimit": 5,`, ``, 1), `missing properties: ["iterationLimit"]`},
		"another session": {string(must(Marshal(other))(t)), "holds another session"},
		"too large":       {`{"x":"` + strings.Repeat("x", maxSession) + `"}`, "is larger than 16 MB"},
		"zeros":           {strings.Repeat("\x00", 4096), "is no JSON"},
	} {
		f := openFolder(t)
		put(t, f, exampleFile, c.text)
		_, err := f.Read(t.Context(), exampleID)
		damaged, ok := errors.AsType[*Damaged](err)
		if !ok || !strings.Contains(err.Error(), c.want) || damaged.File != exampleFile || damaged.ID != exampleID || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v, want “%s”", name, err, c.want)
		}
		write(t, f, completed())
		if got := must(f.Read(t.Context(), exampleID))(t); got.Status != Completed {
			t.Errorf("%s: it is not written anew", name)
		}
	}
}

func TestOneSessionHasOneFile(t *testing.T) {
	f := openFolder(t)
	write(t, f, after(1))
	moved := after(1)
	moved.StartTime = start.Add(-time.Hour)
	if err := f.Write(t.Context(), moved); err == nil || !strings.Contains(err.Error(), exampleFile) {
		t.Errorf("a second file: %v", err)
	}
	wantFiles(t, f, exampleFile)
	put(t, f, FileName(moved), string(must(Marshal(moved))(t)))
	_, err := f.Read(t.Context(), exampleID)
	if damaged, ok := errors.AsType[*Damaged](err); !ok || !strings.Contains(damaged.Reason, "not the only one") {
		t.Errorf("two files: %v", err)
	}
}

func TestNothingButSessionFilesIsListed(t *testing.T) {
	f := openFolder(t)
	if names, err := f.List(t.Context()); err != nil || names != nil {
		t.Errorf("a folder that is not there: %q, %v", names, err)
	}
	write(t, f, completed())
	for _, name := range []string{"notes.txt", "session_x_20251005T143022Z.json", "session_" + exampleID + ".json", "session_" + exampleID + "_20251305T143022Z.json",
		"." + exampleFile + ".ABC.tmp", exampleFile + "~", strings.Replace(exampleFile, "3f2b", "3F2B", 1)} {
		put(t, f, name, "{}")
	}
	outside := filepath.Join(t.TempDir(), "outside.json")
	if err := os.WriteFile(outside, must(Marshal(completed()))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	linked := strings.Replace(exampleID, "3f2b", "aaaa", 1)
	if err := os.Symlink(outside, filepath.Join(f.path, strings.Replace(exampleFile, exampleID, linked, 1))); err != nil {
		t.Skip("no symbolic links here")
	}
	names := must(f.List(t.Context()))(t)
	if fmt.Sprint(names) != fmt.Sprint([]string{exampleFile}) {
		t.Errorf("the list is %q", names)
	}
	if _, err := f.Read(t.Context(), linked); !errors.Is(err, ErrNotFound) {
		t.Errorf("a link is read: %v", err)
	}
	s := completed()
	s.ID = linked
	if err := f.Write(t.Context(), s); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("a link is written over: %v", err)
	}
}

func TestACancelledContextWritesNothing(t *testing.T) {
	f := openFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Write(ctx, completed()); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if _, err := f.Read(ctx, exampleID); !errors.Is(err, context.Canceled) {
		t.Errorf("read: %v", err)
	}
	if _, err := f.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
}

func TestManyWritersLeaveTheLatestState(t *testing.T) {
	f := openFolder(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { writeAll(f, t.Errorf) })
	}
	all.Wait()
	if got := must(f.Read(t.Context(), exampleID))(t); got.Status != Completed {
		t.Errorf("it is %s after %d pairs", got.Status, len(got.Pairs))
	}
	wantFiles(t, f, exampleFile)
}

// writeAll writes all states of the session, and reads it in between: what it reads never goes back and is always whole.
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
		got, err := f.Read(context.Background(), exampleID)
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
	for range 10 {
		writeAll(f, func(format string, args ...any) { fmt.Printf("failed: "+format+"\n", args...) })
	}
	os.Exit(0)
}

func TestTwoProcessesLeaveTheLatestState(t *testing.T) {
	f := openFolder(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			cmd := exec.CommandContext(ctx, must(os.Executable())(t))
			cmd.Env = append(os.Environ(), childEnv+"="+f.path)
			if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "failed") {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if got := must(f.Read(t.Context(), exampleID))(t); got.Status != Completed {
		t.Errorf("it is %s after %d pairs", got.Status, len(got.Pairs))
	}
	wantFiles(t, f, exampleFile)
}

func TestASessionIsJSONOfItsFileAnywhere(t *testing.T) {
	s := must(Unmarshal([]byte(content(t, "testdata/examples.json"))))(t)
	shown := must(json.Marshal(map[string]Session{"s": s}))(t)
	if !strings.Contains(string(shown), `"x-note":"kept"`) {
		t.Errorf("it is shown as %s", shown)
	}
	var back map[string]Session
	if err := json.Unmarshal(shown, &back); err != nil || back["s"].ID != s.ID || len(back["s"].Pairs) != 3 {
		t.Errorf("%v: %+v", err, back)
	}
}

func BenchmarkList10000(b *testing.B) {
	f := openFolder(b)
	for i := range 10_000 {
		put(b, f, strings.Replace(exampleFile, "3f2b8c1e", fmt.Sprintf("%08x", i), 1), "")
	}
	for b.Loop() {
		if names := must(f.List(b.Context()))(b); len(names) != 10_000 {
			b.Fatal(len(names))
		}
	}
}

func BenchmarkWriteAfterAPair(b *testing.B) {
	f := openFolder(b)
	n := 0
	for b.Loop() {
		s := after(3)
		s.Pairs[2].Answer = fmt.Sprint(n)
		n++
		write(b, f, s)
	}
}
