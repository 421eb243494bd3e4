package council_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"sibyl/internal/journal"
)

var errCrash = errors.New("the process is gone")

// crashing is a journal whose process dies at a write, counted from 1: before it took effect, or after. The beginning of the first run is none. From
// then on nothing that this process does arrives.
type crashing struct {
	journal.Store
	at    int // 0: it lives
	after bool

	mu     sync.Mutex
	begun  bool
	writes int
	dead   bool
}

func (c *crashing) write(do func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return errCrash
	}
	c.writes++
	if c.writes != c.at {
		return do()
	}
	c.dead = true
	if c.after {
		if err := do(); err != nil {
			return err
		}
	}
	return errCrash
}

func (c *crashing) first() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.begun
	c.begun = true
	return !was
}

func (c *crashing) Begin(ctx context.Context, b journal.Beginning) error {
	if c.first() {
		return c.Store.Begin(ctx, b)
	}
	return c.write(func() error { return c.Store.Begin(ctx, b) })
}

func (c *crashing) Append(ctx context.Context, who journal.Owner, id string, recs []journal.Record, end *journal.End) error {
	return c.write(func() error { return c.Store.Append(ctx, who, id, recs, end) })
}

func (c *crashing) Release(ctx context.Context, who journal.Owner, id, holder string, rest time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return errCrash
	}
	return c.Store.Release(ctx, who, id, holder, rest)
}
