package cli

import (
	"os"
	"strconv"
	"strings"
)

// machineMemory is the memory of this machine, or the limit of its container if that is less, in bytes; 0: unknown.
func machineMemory() uint64 {
	var whole uint64
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kilobytes, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")),
				10, 64)
			whole = kilobytes << 10
		}
	}
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if bound, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			whole = min(whole, bound)
		}
	}
	return whole
}
