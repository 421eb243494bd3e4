//go:build unix

package persona

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAPipeIsSkippedAndNotWaitedFor(t *testing.T) {
	dir := folder(t)
	put(t, dir, "a.md", "# A")
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o644); err != nil {
		t.Skip("this file system has no pipes:", err)
	}
	listed := make(chan Listing, 1)
	go func() {
		l, _ := New(Config{Dir: dir}).List(context.Background())
		listed <- l
	}()
	var l Listing
	select {
	case l = <-listed:
	case <-time.After(time.Minute):
		t.Fatal("the list waited a minute for the pipe")
	}
	if len(l.Oracles) != 1 || len(l.Skipped) != 1 || l.Skipped[0].Reason != "it is not a regular file" {
		t.Errorf("%v, skipped %v", namesOf(l), l.Skipped)
	}
}
