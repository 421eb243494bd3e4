// Package lineartest compares the cost of work with its size: for tests that something takes time and memory in
// proportion to its size.
//
// It measures the processor time of this process, and uses the least of several tries, so that a busy machine makes no
// difference. Other work in the same process does: such a test must not be parallel.
package lineartest

import (
	"fmt"
	"runtime/metrics"
	"testing"
	"time"

	"sibyl/internal/behaviour/needs"
)

const (
	tries = 3
	most  = 6 // tries, where those before were too slow
	// Sixteen times the size is to take sixteen times as long, or as much memory, and four times what a fourth of it
	// takes. A work that is quadratic takes 256 times and 16 times. Both have to be exceeded: what is free at first, or
	// kept, makes one of them large.
	mostGrowth, mostLast = 64, 8
	// What takes less is not told from noise: the sizes grow until the smallest takes longer, if it does within so many
	// steps.
	leastTime  = 300 * time.Microsecond
	leastBytes = 64 << 10
	steps      = 4
)

// Ratios are how many times as much time and memory sixteen times the size took.
type Ratios struct{ Time, Memory float64 }

func (r Ratios) String() string {
	return fmt.Sprintf("16 times the size takes %.1f times as long and %.1f times the memory", r.Time, r.Memory)
}

// Check does work of the sizes n, 4n and 16n, and fails the test if the largest takes far more time or memory than its
// share. prepare prepares work of a size, unmeasured; work may be called several times, so it must not use its input
// up. If work of size n takes too little to be measured, n is increased.
func Check(t testing.TB, n int, prepare func(size int) (work func())) Ratios {
	t.Helper()
	needs.All(t, "time to measure")
	for range steps {
		work := prepare(n)
		took := timeOf(t, work)
		for range tries - 1 {
			took = min(took, timeOf(t, work))
		}
		if took >= leastTime {
			break
		}
		n *= 3
	}
	works := [3]func(){prepare(n), prepare(4 * n), prepare(16 * n)}
	var took [3]time.Duration
	var memory [3]uint64
	for try := 0; try < tries || try < most && (exceeds(took, leastTime) || exceeds(memory, leastBytes)); try++ {
		for i, work := range works {
			// The larger sizes are done again only where they took too much: what is done once takes no less than its
			// least.
			if i > 0 && try > 0 && try < tries && !exceeds(took, leastTime) && !exceeds(memory, leastBytes) {
				continue
			}
			before := allocated()
			time, bytes := timeOf(t, work), allocated()-before
			if try == 0 {
				took[i], memory[i] = time, bytes
			}
			took[i], memory[i] = min(took[i], time), min(memory[i], bytes)
		}
	}
	r := Ratios{Time: ratio(took[0], took[2], leastTime), Memory: ratio(memory[0], memory[2], leastBytes)}
	if exceeds(took, leastTime) || exceeds(memory, leastBytes) {
		t.Errorf("%s: %v and %v bytes for sizes %d, %d and %d", r, took, memory, n, 4*n, 16*n)
	}
	return r
}

// timeOf is the processor time of a work.
func timeOf(t testing.TB, work func()) time.Duration {
	before := computed(t)
	work()
	return computed(t) - before
}

func ratio[N ~int64 | ~uint64](small, large, least N) float64 {
	return float64(large) / float64(max(small, least))
}

func exceeds[N ~int64 | ~uint64](cost [3]N, least N) bool {
	return ratio(cost[0], cost[2], least) > mostGrowth && ratio(cost[1], cost[2], least) > mostLast
}

// allocated is how many bytes of memory this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
