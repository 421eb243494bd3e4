//go:build unix

package persona

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeIsSkippedAndNotWaitedFor(t *testing.T) {
	dir := folder(t)
	put(t, dir, "a.md", "# A")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Skip("this file system has no pipes:", err)
	}
	l := list(t, New(Config{Dir: dir}))
	if len(l.Oracles) != 1 || len(l.Skipped) != 1 || l.Skipped[0].Reason != "it is no regular file" {
		t.Errorf("%v, skipped %v", namesOf(l), l.Skipped)
	}
}
