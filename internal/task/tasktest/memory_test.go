package tasktest

import (
	"testing"

	"sibyl/internal/task"
)

func TestMemoryKeepsTheGuarantees(t *testing.T) {
	Run(t, func(*testing.T) task.Store { return NewMemory() })
}

func TestMemoryIsSharedByItsUsers(t *testing.T) {
	RunShared(t, func(*testing.T) func() task.Store {
		m := NewMemory()
		return func() task.Store { return m }
	})
}
