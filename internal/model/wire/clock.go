package wire

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"sibyl/internal/model"
)

// errSilent is a cause with which an exchange ends its own request, beside model.ErrUnanswered and model.ErrEndless.
var errSilent = errors.New("silence in the middle of the answer")

// clock ends an exchange that makes no progress, or has no end. Its one timer looks when that may be so, and not at every part of a
// stream: most are there already.
type clock struct {
	end                context.CancelCauseFunc
	first, idle, whole time.Duration
	began              time.Time
	since              atomic.Int64 // when the wait for progress began, in ns after began, or nobodyWaits
	answered           atomic.Bool  // there was progress since the last request

	mu    sync.Mutex
	timer *time.Timer // nil once the clock has stopped
}

const nobodyWaits = -1

func (c *clock) start(end context.CancelCauseFunc, first, idle, whole time.Duration) {
	c.end, c.first, c.idle, c.whole, c.began = end, first, idle, whole, time.Now()
	c.mu.Lock()
	c.timer = time.AfterFunc(whole, c.look)
	c.mu.Unlock()
	c.ask()
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// ask notes that a request is made, whose answer is still to begin.
func (c *clock) ask() {
	c.answered.Store(false)
	c.since.Store(nobodyWaits)
	c.wait()
	c.look()
}

// wait notes that progress is waited for. If it was before, the wait goes on.
func (c *clock) wait() {
	if c.since.Load() == nobodyWaits {
		c.since.Store(int64(time.Since(c.began)))
	}
}

// progress notes that a part of the answer has come. Time is the receiver's until the next wait.
func (c *clock) progress() {
	c.since.Store(nobodyWaits)
	if !c.answered.Swap(true) {
		c.look() // silence may be shorter than the wait for the beginning
	}
}

// limit is how long progress may be waited for, and the cause of an end after it.
func (c *clock) limit() (time.Duration, error) {
	if c.answered.Load() {
		return c.idle, errSilent
	}
	return c.first, model.ErrUnanswered
}

// look ends the exchange if it is time, and else comes back when it may be.
func (c *clock) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, since := time.Since(c.began), time.Duration(c.since.Load())
	left, cause := c.limit()
	if since != nobodyWaits {
		left -= now - since
	}
	switch {
	case now >= c.whole:
		c.end(model.ErrEndless)
	case left <= 0:
		c.end(cause)
	case c.timer != nil:
		c.timer.Reset(min(left, c.whole-now))
	}
}
