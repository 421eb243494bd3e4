package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sibyl/internal/model"
)

// errSilent is a cause with which an exchange ends its own request, beside model.ErrUnanswered and model.ErrEndless.
var errSilent = errors.New("silence in the middle of the answer")

// clock ends an exchange that makes no progress. It belongs to the exchange's goroutine.
type clock struct {
	first, idle time.Duration
	timer       *time.Timer
	waiting     bool
	answered    atomic.Bool // there was progress since the last request
}

func (c *clock) start(end context.CancelCauseFunc, first, idle time.Duration) {
	c.first, c.idle = first, idle
	c.timer = time.AfterFunc(first, func() {
		if c.answered.Load() {
			end(errSilent)
		} else {
			end(model.ErrUnanswered)
		}
	})
	c.waiting = true
}

// noteRequest notes that a request is made, whose answer is still to begin.
func (c *clock) noteRequest() {
	c.answered.Store(false)
	c.waiting = false
	c.awaitProgress()
}

// awaitProgress notes that progress is waited for. If it was before, the wait goes on.
func (c *clock) awaitProgress() {
	if c.waiting {
		return
	}
	c.waiting = true
	if c.answered.Load() {
		c.timer.Reset(c.idle)
	} else {
		c.timer.Reset(c.first)
	}
}

// noteProgress notes that a part of the answer has come. Time is the receiver's until the next wait.
func (c *clock) noteProgress() {
	c.answered.Store(true)
	c.waiting = false
	c.timer.Stop()
}
