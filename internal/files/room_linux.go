package files

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// CheckMemory refuses a content of size bytes if the system gives this process no memory for it and for beside bytes
// more: allocating it anyway would end the process. Parsing a content takes several times its size, and memory is
// allocated in large pieces.
func CheckMemory(name string, size, beside int64) error {
	const asked, copies, piece = 1 << 20, 4, 64 << 20
	if size+beside < asked {
		return nil
	}
	for _, bound := range []struct{ limit, used int }{{syscall.RLIMIT_AS, 0}, {syscall.RLIMIT_DATA, 5}} {
		var limit syscall.Rlimit
		if syscall.Getrlimit(bound.limit, &limit) != nil || limit.Cur > 1<<62 {
			continue // there is none
		}
		takes := uint64(size)*copies + uint64(beside) + piece
		if used, known := memoryUsed(bound.used); known && used+takes > limit.Cur {
			return refuse(NoMemory, "there is not enough memory for %s: reading it takes about %d MB, and this "+
				"process may use %d MB in all (ulimit); raise that limit, or make the file smaller",
				name, takes>>20, limit.Cur>>20)
		}
	}
	return nil
}

// memoryUsed is how many bytes this process uses, by a field of /proc/self/statm.
func memoryUsed(field int) (bytes uint64, known bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) <= field {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[field], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}
