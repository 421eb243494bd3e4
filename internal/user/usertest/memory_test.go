package usertest

import (
	"testing"

	"sibyl/internal/user"
)

func TestMemoryKeepsTheGuarantees(t *testing.T) {
	Run(t, func(*testing.T) user.Store { return NewMemory() })
}

func TestMemoryIsSharedByItsUsers(t *testing.T) {
	RunShared(t, func(*testing.T) func() user.Store {
		m := NewMemory()
		return func() user.Store { return m }
	})
}
