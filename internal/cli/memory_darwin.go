package cli

import "golang.org/x/sys/unix"

// machineMemory is the memory of this machine in bytes; 0: unknown.
func machineMemory() uint64 {
	whole, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return whole
}
