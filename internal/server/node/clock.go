package node

import (
	"context"
	"sync/atomic"
	"time"
)

// Clock is the time of a database as this machine can tell it, so that leases mean the same to processes whose clocks
// differ. It is a run.Clock. The zero Clock is the time of this machine.
type Clock struct{ ahead atomic.Int64 } // of this machine's, in nanoseconds

// toleratedOffset is a difference that no lease depends on. Less is not corrected: time that jumps is worse.
const toleratedOffset = 500 * time.Millisecond

// Now implements run.Clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// After implements run.Clock.
func (c *Clock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Set asks what time it is, and says how far the clock was off if that was corrected.
func (c *Clock) Set(
	ctx context.Context, ask func(context.Context) (time.Time, error),
) (corrected time.Duration, err error) {
	asked := time.Now()
	there, err := ask(ctx)
	if err != nil {
		return 0, err
	}
	took := time.Since(asked)
	ahead := there.Sub(asked.Add(took / 2))
	off := ahead - time.Duration(c.ahead.Load())
	if off.Abs() <= max(toleratedOffset, took) {
		return 0, nil
	}
	c.ahead.Store(int64(ahead))
	return off, nil
}
