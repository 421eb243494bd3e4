//go:build !linux

package code

// boundMemory does nothing here: these systems can't bound a running program.
func boundMemory(int, uint64) {}
