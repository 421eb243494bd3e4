package code

import "golang.org/x/sys/unix"

// boundMemory bounds what a program that runs may take for itself, in bytes. What it maps of files does not count.
// Where that can't be set, it goes on as it is.
func boundMemory(pid int, most uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
}
