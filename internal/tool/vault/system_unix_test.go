//go:build unix

package vault

import (
	"os/signal"
	"strconv"
	"syscall"
)

func makePipe(name string) error { return syscall.Mkfifo(name, 0o666) }

// limitFileSize makes writes beyond a size fail, as they do on a full disk.
func limitFileSize(limit string) error {
	bytes, err := strconv.ParseUint(limit, 10, 64)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGXFSZ)
	var now syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		return err
	}
	now.Cur = bytes
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now)
}
