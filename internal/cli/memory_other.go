//go:build !linux && !darwin

package cli

// machineMemory is the memory of this machine in bytes: 0, which means unknown.
func machineMemory() uint64 { return 0 }
