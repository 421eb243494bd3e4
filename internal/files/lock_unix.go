//go:build unix

package files

import (
	"errors"
	"os"
	"syscall"
)

// syncNames makes the names in an open folder durable. Some network file systems cannot, and say so.
func syncNames(folder *os.File) error {
	err := folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// TryLock takes the lock on f if it is free. Closing f, or the end of the process, frees it.
func TryLock(f *os.File) (taken bool, err error) {
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) ||
		errors.Is(err, syscall.EACCES) { // what Linux says of a lock that a server of SMB refuses
		return false, nil
	}
	return err == nil, err
}
