package files

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Lock waits until nobody else, in any process, holds the lock file name, which it makes where it is missing. It gives up with the reason
// Busy after wait, or with the context.
func Lock(ctx context.Context, root *os.Root, name string, wait time.Duration) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	over := time.NewTimer(wait)
	defer over.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		taken, err := tryLock(f)
		if taken {
			return func() { _ = f.Close() }, nil // frees the lock; nothing was written to this file
		}
		if err == nil {
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
				err = ctx.Err()
			case <-over.C:
				err = refuse(Busy, "another program has held the lock %s for %s", name, wait)
			}
		} else {
			err = fmt.Errorf("lock %s: %w", name, err)
		}
		_ = f.Close()
		return nil, err
	}
}
