package cli

import "golang.org/x/sys/unix"

// machineMemory is how many bytes of memory this machine has; 0: it is not known.
func machineMemory() uint64 {
	whole, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return whole
}
