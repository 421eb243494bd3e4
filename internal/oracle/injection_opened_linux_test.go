package oracle_test

import (
	"encoding/binary"
	"syscall"
	"testing"
)

// watchOpened counts, from now on, how often a file in one of these folders is opened. The count needs no cooperation
// of whoever opens it.
func watchOpened(t *testing.T, dirs ...string) (opened func() int) {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	if err != nil {
		t.Skipf("no watch can be kept on files: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	for _, dir := range dirs {
		if _, err := syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	return func() int {
		events := make([]byte, 64<<10)
		for {
			n, err := syscall.Read(fd, events)
			if err != nil || n <= 0 {
				return count
			}
			for at := 0; at+syscall.SizeofInotifyEvent <= n; count++ {
				at += syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[at+12:]))
			}
		}
	}
}
