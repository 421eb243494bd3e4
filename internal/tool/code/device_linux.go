package code

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// deviceOf tells file systems apart; 0 where it can't be told.
func deviceOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev) //nolint:unconvert // it is narrower on some architectures
	}
	return 0
}

// made are the file systems that hold no files of anybody's: what the system says of itself, by the numbers of statfs(2).
func made() []int64 {
	return []int64{
		0x9fa0, 0x62656572, 0x1cd1, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, // proc, sysfs, devpts, cgroup, cgroup2, debugfs, tracefs, securityfs
		0xcafe4a11, 0x6165676c, 0x19800202, 0x62656570, 0x42494e4d, 0x6e736673, 0xde5e81e4, 0x187, // bpf, pstore, mqueue, configfs, binfmt_misc, nsfs, efivarfs, autofs
	}
}

// isMade says that a folder lies in one of these.
func isMade(root *os.Root) bool {
	f, err := root.Open(".")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // opened for reading only
	var s syscall.Statfs_t
	return syscall.Fstatfs(int(f.Fd()), &s) == nil && slices.Contains(made(), int64(s.Type)) //nolint:unconvert // it is narrower on some architectures
}
