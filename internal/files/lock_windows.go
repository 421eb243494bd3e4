package files

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// syncNames does nothing: Windows journals names itself and cannot sync a folder.
func syncNames(*os.File) error { return nil }

// TryLock takes the lock on f if it is free. Closing f, or the end of the process, frees it.
func TryLock(f *os.File) (taken bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}
