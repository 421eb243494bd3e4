//go:build unix

package session

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"testing"
)

var errNoLimit = errors.New("no limit of the size of files here")

// limitFiles makes writes fail beyond so many bytes of a file, as those on a full disk do.
func limitFiles(bytes uint64) error {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: bytes, Max: bytes}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

func TestAFolderThatMayOnlyBeReadIsReadAndSaysSoWhenItIsWritten(t *testing.T) {
	s, id := full(t)
	before := tree(t, s.path(id))
	for _, name := range []string{".locks", id, id + "/audio", id + "/transcripts", id + "/llm_responses", "."} {
		if err := os.Chmod(s.path(name), 0o555); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.Chmod(s.path(name), 0o700) }()
	}
	if err := os.Chmod(s.path(".locks", id), 0o666); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		for _, name := range []string{"audio", "text", "answer"} {
			err := deeds()[name].do(s, id)
			if !errors.Is(err, os.ErrPermission) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := s.Delete(t.Context(), id); !errors.Is(err, os.ErrPermission) {
			t.Errorf("delete: %v", err)
		}
		if _, err := s.New(t.Context(), "", ""); !errors.Is(err, os.ErrPermission) {
			t.Errorf("new: %v", err)
		}
	})
	same(t, "files", tree(t, s.path(id)), before)
	wantWhole(t, s, id)
}

// asNobody does something as a user who owns no file, if this one may write all of them.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Getuid() != 0 {
		do()
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("as root every folder may be written")
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if becomeNobody() {
			do()
		} else {
			t.Log("could not become another user")
		}
	}()
	<-done
}
