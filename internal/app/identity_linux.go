package app

import (
	"os"
	"strconv"
	"syscall"
)

// identity tells a folder from all others of the machine as long as it runs; "" if it can't be told.
func identity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return strconv.FormatUint(uint64(s.Dev), 36) + "." + strconv.FormatUint(s.Ino, 36) //nolint:unconvert // of another size on other processors
}
