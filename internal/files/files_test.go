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

	"sibyl/internal/behaviour/assert"
)

func rootOf(t testing.TB, contents map[string]string) *os.Root {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		at := filepath.Join(dir, name)
		assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600)))
	}
	root := assert.Must(os.OpenRoot(dir))(t)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

// wantContent wants a file of this text and mode, and no other file beside it.
func wantContent(t *testing.T, root *os.Root, name, want string, mode fs.FileMode) {
	t.Helper()
	f, err := Read(root, name, 1<<20)
	assert.That(t, err == nil && string(f.Content) == want && f.Info.Mode().Perm() == mode,
		"%s holds %q (%v), want %q of mode %v", name, f.Content, err, want, mode)
	all, err := List(root, filepath.Dir(name))
	assert.That(t, err == nil && len(all) == 1, "%d names stand there (%v), want one", len(all), err)
}

func reasonOf(err error) Reason {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Reason
	}
	return 0
}

func TestWriteReplacesTheContentAndKeepsTheMode(t *testing.T) {
	root := rootOf(t, map[string]string{"a/x": "old"})
	assert.NoError(t, root.Chmod("a/x", 0o640))
	assert.NoError(t, Write(root, "a/x", []byte("new"), 0))
	wantContent(t, root, "a/x", "new", 0o640)
	assert.NoError(t, Write(root, "a/x", []byte("newer"), 0o600))
	wantContent(t, root, "a/x", "newer", 0o600)
}

func TestWriteThatFailsLeavesNothing(t *testing.T) {
	root := rootOf(t, map[string]string{"a/folder/kept": "x"})
	assert.That(t, Write(root, "a/folder", []byte("new"), 0) != nil, "a folder was replaced by a file")
	wantContent(t, root, "a/folder/kept", "x", 0o600)
	all, err := List(root, "a")
	assert.That(t, err == nil && len(all) == 1, "%d names are left (%v), want the folder alone", len(all), err)
	assert.That(t, Write(root, "../out", []byte("new"), 0) != nil, "a file outside of the root was written")
}

func TestReplaceFollowsALinkAndMakesFolders(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "deep", "real"), filepath.Join(dir, "link")
	assert.NoError(t, Replace(real, []byte("one"), 0o600))
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no symbolic links here")
	}
	assert.NoError(t, Replace(link, []byte("two"), 0o600))
	info, err := os.Lstat(link)
	assert.That(t, err == nil && info.Mode()&fs.ModeSymlink != 0, "the link is gone: %v, %v", info, err)
	text, err := os.ReadFile(real)
	assert.That(t, err == nil && string(text) == "two", "%q, %v", text, err)
}

func TestReadIsBounded(t *testing.T) {
	root := rootOf(t, map[string]string{"x": "12345", "empty": ""})
	for limit, want := range map[int]string{3: "123", 5: "12345", 9: "12345"} {
		if f, err := Read(root, "x", limit); err != nil || string(f.Content) != want || f.Cut != (limit < 5) {
			t.Errorf("up to %d bytes: %q, cut %v, %v", limit, f.Content, f.Cut, err)
		}
	}
	f, err := Read(root, "empty", 3)
	assert.That(t, err == nil && len(f.Content) == 0 && !f.Cut && f.Exists(), "%+v, %v", f, err)
	_, err = Read(root, ".", 3)
	assert.That(t, reasonOf(err) == NoFile, "a folder: %v", err)
	_, err = Read(root, "missing", 3)
	assert.That(t, errors.Is(err, fs.ErrNotExist), "a missing file: %v", err)
}

func TestNoLinksRefusesLinksOnTheWay(t *testing.T) {
	root := rootOf(t, map[string]string{"real/x": "text"})
	if err := root.Symlink("real", "link"); err != nil {
		t.Skip("no symbolic links here")
	}
	for name, want := range map[string]Reason{"real/x": 0, "link/x": Linked, "link": Linked, "real": NoFile} {
		err := NoLinks(root, name)
		assert.That(t, reasonOf(err) == want, "%s: %v, want reason %d", name, err, want)
	}
	err := MakeFolder(root, "link/y", 0o700)
	assert.That(t, reasonOf(err) == NoFolder, "a folder below a link: %v", err)
}

func TestLockHoldsOneAtATime(t *testing.T) {
	root := rootOf(t, nil)
	unlock := assert.Must(Lock(t.Context(), root, "lock", time.Minute))(t)
	_, err := Lock(t.Context(), root, "lock", time.Millisecond)
	assert.That(t, reasonOf(err) == Busy && strings.Contains(err.Error(), "lock"), "a second holder: %v", err)
	unlock()
	again := assert.Must(Lock(t.Context(), root, "lock", time.Minute))(t)
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
		assert.Equalf(t, isOnWindows(c.err, c.target), c.is, "%v is %v", c.err, c.target)
	}
	assert.That(t, runtime.GOOS == "windows" || !Is(wrapped(112), syscall.ENOSPC),
		"a number of Windows counts on another system")
}
