package code

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

func mkfifo(t *testing.T, name string) {
	t.Helper()
	assert.NoError(t, syscall.Mkfifo(name, 0o644))
}

// Opening a pipe without a writer waits for one: these tests hang if anything opens it in the usual way.
func TestPipesAndDevicesAreNeitherReadNorWaitedFor(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.go": "package a // pipe\n"})
	mkfifo(t, filepath.Join(dir, "pipe.go"))
	mkfifo(t, filepath.Join(dir, ".gitignore"))
	closed := []string{"pipe.go"}
	if err := syscall.Mknod(filepath.Join(dir, "zero.go"), syscall.S_IFCHR|0o644, 1<<8|5); err == nil {
		closed = append(closed, "zero.go") // only root may make one
	}
	for _, name := range closed {
		_, err := call(t, r, "code_read", string(encode(t, ReadArgs{Path: name})))
		assert.That(t, kindOf(err) == tool.Denied, "%s: %v, want denied", name, err)
	}
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "pipe"})
	if d.Files != 1 || !strings.Contains(res.Text, fmt.Sprintf("Skipped: %d × link or special file.", len(closed)+1)) {
		t.Errorf("searched %d files: %s", d.Files, res.Text)
	}
}

func TestPipeSwappedInBetweenLookAndOpenIsNotWaitedFor(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.txt": "", "d/x": ""})
	seenFile := assert.Must(r.root.Lstat("a.txt"))(t)
	seenFolder := assert.Must(r.root.Lstat("d"))(t)
	for _, name := range []string{"a.txt", "d"} {
		assert.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		mkfifo(t, filepath.Join(dir, name))
	}
	if f, _, err := openRegular(r.root, "a.txt", seenFile); err == nil {
		_ = f.Close()
		t.Error("a file swapped for a pipe was opened")
	}
	if d, err := openFolder(r.root, seenFolder); err == nil {
		_ = d.Close()
		t.Error("a folder swapped for a pipe was opened")
	}
}

func TestNoFileStaysOpenAfterACall(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("d%d/e%d/f.go", i%40, i)] = "package f // needle\n"
	}
	r, _ := rootOf(t, files)
	before := openFiles(t)
	data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	data[ReadData](t, r, "code_read", ReadArgs{Path: "d0/e0/f.go"})
	callMap(t, r, `{}`)
	_, _ = call(t, r, "code_read", `{"path":"d0/e0/missing"}`)
	after := openFiles(t)
	assert.That(t, after <= before, "%d files open before, %d after", before, after)
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries := assert.Must(os.ReadDir("/proc/self/fd"))(t)
	return len(entries)
}

func TestFileNamesThatForgeLinesAreSkipped(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"ok.go": "package needle\n"})
	write(t, filepath.Join(dir, "x.go\nforged.go:1  needle"), "package needle\n")
	write(t, filepath.Join(dir, "latin-\xe4.go"), "package needle\n")
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	assert.That(t, d.Matched == 1 && strings.Contains(res.Text, "Not looked at: 2 × unreadable entry."),
		"%d files matched: %s", d.Matched, res.Text)
}
