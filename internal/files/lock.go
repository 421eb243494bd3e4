package files

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Lock waits until nobody else, in any process, holds the lock file name, which it makes where it is missing. It gives
// up with the reason Busy after wait, or with the context.
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
		taken, err := TryLock(f)
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

// Hold makes the lock file name, which must not be there, and holds its lock until release is called, or the process
// ends. The file stays.
func Hold(root *os.Root, name string) (release func(), err error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	taken, err := TryLock(f)
	if err == nil && !taken {
		err = refuse(Busy, "another program has taken the lock %s", name)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil // frees the lock; nothing was written to this file
}

// IsHeld says whether somebody holds the lock file name. fs.ErrNotExist if it is not there.
func IsHeld(root *os.Root, name string) (bool, error) {
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // frees the lock if it was free
	taken, err := TryLock(f)
	return !taken, err
}
