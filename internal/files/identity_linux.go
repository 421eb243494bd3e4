package files

import (
	"io/fs"
	"syscall"
)

// Identity tells a file from another that took its name with the same time and size, and shows a change whose time was set back.
func Identity(info fs.FileInfo) (number, changed uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino, uint64(s.Ctim.Nano())
	}
	return 0, 0
}
