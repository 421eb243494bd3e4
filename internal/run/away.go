package run

import (
	"context"
	"errors"
	"time"

	"sibyl/internal/journal"
)

// awayPause is the time between two tries to reach a journal.
const awayPause = 250 * time.Millisecond

// usualPatience is how long a journal is waited for where no lease says so.
const usualPatience = 8 * time.Second

// whileAway asks the journal for something again while it can't be reached, for so long: it may be back while the run
// is still this process's, and nothing was written.
func whileAway(ctx context.Context, clock Clock, patience time.Duration, ask func() error) error {
	began := clock.Now()
	for {
		err := ask()
		if !errors.Is(err, journal.ErrUnreachable) || clock.Now().Sub(began) >= patience {
			return err
		}
		if pause(ctx, clock, awayPause); ctx.Err() != nil {
			return err
		}
	}
}

// pause lets some time pass, or less if ctx is done before.
func pause(ctx context.Context, clock Clock, d time.Duration) {
	over, stop := clock.After(d)
	defer stop()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
