package run

import (
	"context"
	"slices"
	"sync"

	"sibyl/internal/journal"
)

// queue gives room to so many runs at once. Those that wait are taken in rotation between their owners, and of one owner in order.
type queue struct {
	mu     sync.Mutex
	free   int
	most   int // 0: no limit
	owners []journal.Owner
	wait   map[journal.Owner][]chan struct{}

	vacancy chan struct{} // holds a token once room has become free that nobody here waits for
}

func newQueue(most int) *queue {
	return &queue{free: most, most: most, wait: map[journal.Owner][]chan struct{}{}, vacancy: make(chan struct{}, 1)}
}

// tryEnter takes room if there is some; every success wants a leave.
func (q *queue) tryEnter() bool {
	if q.most == 0 {
		return true
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free == 0 {
		return false
	}
	q.free--
	return true
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

// enter waits for room; every success wants a leave.
func (q *queue) enter(ctx context.Context, owner journal.Owner) error {
	if q.most == 0 {
		return ctx.Err()
	}
	q.mu.Lock()
	if q.free > 0 {
		q.free--
		q.mu.Unlock()
		return nil
	}
	room := make(chan struct{})
	if len(q.wait[owner]) == 0 {
		q.owners = append(q.owners, owner)
	}
	q.wait[owner] = append(q.wait[owner], room)
	q.mu.Unlock()
	select {
	case <-room:
		return nil
	case <-ctx.Done():
	}
	if !q.withdraw(owner, room) {
		q.leave() // it was given room at the same moment
	}
	return context.Cause(ctx)
}

// withdraw takes back a wait; false if it was given room.
func (q *queue) withdraw(owner journal.Owner, room chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.wait[owner], room)
	if i < 0 {
		return false
	}
	q.wait[owner] = slices.Delete(q.wait[owner], i, i+1)
	if len(q.wait[owner]) == 0 {
		delete(q.wait, owner)
		q.owners = slices.DeleteFunc(q.owners, func(o journal.Owner) bool { return o == owner })
	}
	return true
}

// leave gives the room to the next owner's first, who then comes last.
func (q *queue) leave() {
	if q.most == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.owners) == 0 {
		q.free++
		select {
		case q.vacancy <- struct{}{}:
		default: // it tells of this room too
		}
		return
	}
	owner := q.owners[0]
	q.owners = q.owners[1:]
	close(q.wait[owner][0])
	if q.wait[owner] = q.wait[owner][1:]; len(q.wait[owner]) > 0 {
		q.owners = append(q.owners, owner)
	} else {
		delete(q.wait, owner)
	}
}
