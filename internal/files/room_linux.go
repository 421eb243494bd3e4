package files

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Room refuses a content of so many bytes where the system gives this process no memory for it and for what stands
// beside it: to ask for it anyway would end the process. What is made of a content takes as much again, some times
// over, and memory is taken in large pieces.
func Room(name string, size, beside int64) error {
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
		if used, known := memory(bound.used); known && used+takes > limit.Cur {
			return refuse(NoMemory, "there is not enough memory for %s: reading it takes about %d MB, and this "+
				"process may use %d MB in all (ulimit); raise that limit, or make the file smaller",
				name, takes>>20, limit.Cur>>20)
		}
	}
	return nil
}

// memory is what this process uses, in bytes, by a field of what the system tells.
func memory(field int) (bytes uint64, known bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) <= field {
		return 0, false
	}
	pages, err := strconv.ParseUint(fields[field], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}
