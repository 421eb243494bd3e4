package code

import "golang.org/x/sys/unix"

// boundMemory bounds the memory of a running program, in bytes. Mapped files do not count. A failure is ignored.
func boundMemory(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
}
