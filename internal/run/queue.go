package run

import (
	"context"
	"slices"
	"sync"

	"sibyl/internal/journal"
)

// queue limits how many runs have room at once. Waiting runs get room in rotation between their owners; the runs of one
// owner, in order.
type queue struct {
	mu      sync.Mutex
	free    int
	most    int      // 0: no limit
	waiting []waiter // in the order in which they get room

	vacancy chan struct{} // holds a token once room has become free that nobody here waits for
}

type waiter struct {
	owner journal.Owner
	room  chan struct{}
}

func newQueue(most int) *queue {
	return &queue{free: most, most: most, vacancy: make(chan struct{}, 1)}
}

// freeRoom returns how many more runs have room; less than 0: any number.
func (q *queue) freeRoom() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most == 0 {
		return -1
	}
	return q.free
}

// enter takes room, or waits for it if wait is set; ErrNoRoom if it may not. Each success must be followed by leave.
func (q *queue) enter(ctx context.Context, owner journal.Owner, wait bool) error {
	if q.most == 0 {
		return ctx.Err()
	}
	q.mu.Lock()
	if q.free > 0 || !wait {
		defer q.mu.Unlock()
		if q.free == 0 {
			return ErrNoRoom
		}
		q.free--
		return nil
	}
	w := waiter{owner, make(chan struct{})}
	q.waiting = append(q.waiting, w)
	q.mu.Unlock()
	select {
	case <-w.room:
		return nil
	case <-ctx.Done():
	}
	if !q.withdraw(w) {
		q.leave() // it was given room at the same moment
	}
	return context.Cause(ctx)
}

// withdraw removes a waiter; false if it has room already.
func (q *queue) withdraw(w waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// leave gives the room to the first waiter; the others of its owner then wait behind all other owners.
func (q *queue) leave() {
	if q.most == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		select {
		case q.vacancy <- struct{}{}:
		default: // the waiting token signals this room too
		}
		return
	}
	first := q.waiting[0]
	var own, others []waiter
	for _, w := range q.waiting[1:] {
		if w.owner == first.owner {
			own = append(own, w)
		} else {
			others = append(others, w)
		}
	}
	q.waiting = append(others, own...)
	close(first.room)
}
