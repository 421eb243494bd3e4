package lineartest

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

// refusing notes that it failed.
type refusing struct {
	testing.TB
	failed bool
}

func (r *refusing) Errorf(string, ...any) { r.failed = true }

func TestWhatIsQuadraticFailsAndWhatIsLinearDoesNot(t *testing.T) {
	sum := 0
	compute := func(n int) {
		for i := range n {
			sum += i ^ sum
		}
	}
	for name, c := range map[string]struct {
		n      int
		work   func(n int)
		refuse bool
	}{
		"linear time":      {1_000_000, compute, false},
		"quadratic time":   {900, func(n int) { compute(n * n) }, true},
		"linear memory":    {1 << 20, func(n int) { compute(1_000_000); sum += len(make([]byte, n)) }, false},
		"quadratic memory": {1 << 8, func(n int) { compute(1_000_000); sum += len(make([]byte, n*n)) }, true},
	} {
		r := &refusing{TB: t}
		ratios := Check(r, c.n, func(n int) func() { return func() { c.work(n) } })
		assert.That(t, r.failed == c.refuse, "%s: it failed: %v; %s", name, r.failed, ratios)
	}
}
