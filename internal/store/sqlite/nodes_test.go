package sqlite

import (
	"testing"

	"sibyl/internal/node/nodetest"
)

func TestRegistryKeepsTheGuarantees(t *testing.T) {
	nodetest.Run(t, func(t *testing.T) nodetest.Store { return openAt(t, newPath(t), unsynced) })
}
