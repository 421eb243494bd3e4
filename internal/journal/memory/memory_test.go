package memory_test

import (
	"testing"

	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/journal/memory"
)

func TestStoreKeepsTheGuarantees(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Store { return memory.New() })
}

func BenchmarkRuns(b *testing.B) { journaltest.Bench(b, memory.New()) }
