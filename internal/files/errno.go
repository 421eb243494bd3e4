package files

import (
	"errors"
	"runtime"
	"slices"
	"syscall"
)

// Is is errors.Is that also holds on Windows for an error of package syscall such as ENOSPC: the system has numbers of
// its own there, which errors.Is does not compare with those.
func Is(err, target error) bool {
	return errors.Is(err, target) || runtime.GOOS == "windows" && isOnWindows(err, target)
}

func isOnWindows(err, target error) bool {
	var posix syscall.Errno
	return errors.As(target, &posix) && slices.ContainsFunc(windowsNumbers()[posix], func(one syscall.Errno) bool {
		return errors.Is(err, one)
	})
}

// windowsNumbers are the error codes of Windows, as its winerror.h has them, that mean one of POSIX.
func windowsNumbers() map[syscall.Errno][]syscall.Errno {
	return map[syscall.Errno][]syscall.Errno{
		syscall.ENOSPC:       {39, 112},       // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
		syscall.EDQUOT:       {1295},          // ERROR_DISK_QUOTA_EXCEEDED
		syscall.EFBIG:        {223},           // ERROR_FILE_TOO_LARGE
		syscall.EROFS:        {19},            // ERROR_WRITE_PROTECT
		syscall.ECONNREFUSED: {1225, 10061},   // ERROR_CONNECTION_REFUSED, WSAECONNREFUSED
		syscall.ECONNRESET:   {64, 10054},     // ERROR_NETNAME_DELETED, WSAECONNRESET
		syscall.EPIPE:        {109, 232, 233}, // ERROR_BROKEN_PIPE, ERROR_NO_DATA, ERROR_PIPE_NOT_CONNECTED
	}
}
