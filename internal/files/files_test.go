package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func rootOf(t testing.TB, contents map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// wantContent wants a file of this text and mode, and no other file beside it.
func wantContent(t *testing.T, root *os.Root, name, want string, mode fs.FileMode) {
	t.Helper()
	f, err := Read(root, name, 1<<20)
	if err != nil || string(f.Content) != want || f.Info.Mode().Perm() != mode {
		t.Errorf("%s holds %q (%v), want %q of mode %v", name, f.Content, err, want, mode)
	}
	if all, err := List(root, filepath.Dir(name)); err != nil || len(all) != 1 {
		t.Errorf("%d names stand there (%v), want one", len(all), err)
	}
}

func reasonOf(err error) Reason {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Reason
	}
	return 0
}

func TestWriteReplacesTheContentAndKeepsTheMode(t *testing.T) {
	root := rootOf(t, map[string]string{"a/x": "old"})
	if err := root.Chmod("a/x", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Write(root, "a/x", []byte("new"), 0); err != nil {
		t.Fatal(err)
	}
	wantContent(t, root, "a/x", "new", 0o640)
	if err := Write(root, "a/x", []byte("newer"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantContent(t, root, "a/x", "newer", 0o600)
}

func TestWriteThatFailsLeavesNothing(t *testing.T) {
	root := rootOf(t, map[string]string{"a/folder/kept": "x"})
	if err := Write(root, "a/folder", []byte("new"), 0); err == nil {
		t.Error("a folder was replaced by a file")
	}
	wantContent(t, root, "a/folder/kept", "x", 0o600)
	if all, err := List(root, "a"); err != nil || len(all) != 1 {
		t.Errorf("%d names are left (%v), want the folder alone", len(all), err)
	}
	if err := Write(root, "../out", []byte("new"), 0); err == nil {
		t.Error("a file outside of the root was written")
	}
}

func TestReplaceFollowsALinkAndMakesFolders(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "deep", "real"), filepath.Join(dir, "link")
	if err := Replace(real, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := Replace(link, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if text, err := os.ReadFile(real); err != nil || string(text) != "two" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestReadIsBounded(t *testing.T) {
	root := rootOf(t, map[string]string{"x": "12345", "empty": ""})
	for limit, want := range map[int]string{3: "123", 5: "12345", 9: "12345"} {
		if f, err := Read(root, "x", limit); err != nil || string(f.Content) != want || f.Cut != (limit < 5) {
			t.Errorf("up to %d bytes: %q, cut %v, %v", limit, f.Content, f.Cut, err)
		}
	}
	if f, err := Read(root, "empty", 3); err != nil || len(f.Content) != 0 || f.Cut || !f.Exists() {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := Read(root, ".", 3); reasonOf(err) != NoFile {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Read(root, "missing", 3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestNoLinksRefusesLinksOnTheWay(t *testing.T) {
	root := rootOf(t, map[string]string{"real/x": "text"})
	if err := root.Symlink("real", "link"); err != nil {
		t.Skip("no symbolic links here")
	}
	for name, want := range map[string]Reason{"real/x": 0, "link/x": Linked, "link": Linked, "real": NoFile} {
		if err := NoLinks(root, name); reasonOf(err) != want {
			t.Errorf("%s: %v, want reason %d", name, err, want)
		}
	}
	if err := MakeFolder(root, "link/y", 0o700); reasonOf(err) != NoFolder {
		t.Errorf("a folder below a link: %v", err)
	}
}

func TestLockHoldsOneAtATime(t *testing.T) {
	root := rootOf(t, nil)
	unlock, err := Lock(t.Context(), root, "lock", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(t.Context(), root, "lock", time.Millisecond); reasonOf(err) != Busy ||
		!strings.Contains(err.Error(), "lock") {
		t.Errorf("a second holder: %v", err)
	}
	unlock()
	again, err := Lock(t.Context(), root, "lock", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestErrorsOfWindowsMeanThoseOfPosix(t *testing.T) {
	wrapped := func(number syscall.Errno) error { return &fs.PathError{Op: "write", Path: "a.md", Err: number} }
	for _, c := range []struct {
		err, target error
		is          bool
	}{
		{wrapped(112), syscall.ENOSPC, true},         // ERROR_DISK_FULL
		{wrapped(10061), syscall.ECONNREFUSED, true}, // WSAECONNREFUSED
		{wrapped(5), syscall.ENOSPC, false},          // ERROR_ACCESS_DENIED
		{wrapped(112), fs.ErrPermission, false},
	} {
		if got := isOnWindows(c.err, c.target); got != c.is {
			t.Errorf("%v is %v: %v, want %v", c.err, c.target, got, c.is)
		}
	}
	if runtime.GOOS != "windows" && Is(wrapped(112), syscall.ENOSPC) {
		t.Error("a number of Windows counts on another system")
	}
}
