package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"sibyl/internal/model"
)

// errSilent is a cause with which a call ends its own request, besides model.ErrUnanswered and model.ErrEndless.
var errSilent = errors.New("silence in the middle of the answer")

// clock ends a call that makes no progress. It belongs to the call's goroutine.
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

// noteRequest notes that a request is sent, and begins to wait for its answer.
func (c *clock) noteRequest() {
	c.answered.Store(false)
	c.waiting = false
	c.awaitProgress()
}

// awaitProgress starts the time in which progress has to come, unless it is running already.
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

// noteReading notes that the request is being read, for which the time until an answer begins starts anew.
func (c *clock) noteReading() {
	c.waiting = false
	c.timer.Stop()
}

// noteProgress notes that a part of the answer has come, and stops the time until the next awaitProgress: the receiver
// may take long.
func (c *clock) noteProgress() {
	c.answered.Store(true)
	c.waiting = false
	c.timer.Stop()
}
