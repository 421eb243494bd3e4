//go:build !linux && !darwin

package cli

// machineMemory is how many bytes of memory this machine has; 0: it is not known.
func machineMemory() uint64 { return 0 }
