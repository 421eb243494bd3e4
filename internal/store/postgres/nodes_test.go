package postgres

import (
	"testing"

	"sibyl/internal/node/nodetest"
	"sibyl/internal/store/postgres/pgtest"
)

func TestRegistryKeepsTheGuarantees(t *testing.T) {
	p := places{dsn: pgtest.New(t)}
	nodetest.Run(t, func(t *testing.T) nodetest.Store { return p.open(t) })
}
