package run

import (
	"context"
	"slices"
	"sync"

	"sibyl/internal/journal"
)

// queue gives room to so many runs at once. Those that wait are taken in rotation between their owners, and of one
// owner in order.
type queue struct {
	mu      sync.Mutex
	free    int
	most    int      // 0: no limit
	waiting []waiter // in the order in which they are taken

	vacancy chan struct{} // holds a token once room has become free that nobody here waits for
}

type waiter struct {
	owner journal.Owner
	room  chan struct{}
}

func newQueue(most int) *queue {
	return &queue{free: most, most: most, vacancy: make(chan struct{}, 1)}
}

// left is how many more have room; less than 0: any number.
func (q *queue) left() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most == 0 {
		return -1
	}
	return q.free
}

// enter takes room, or waits for it; ErrNoRoom if there is none and it must not wait. Every success wants a leave.
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

// withdraw takes back a wait; false if it was given room.
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

// leave gives the room to the first that waits; the others of its owner wait behind those of all other owners then.
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
		default: // it tells of this room too
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
