package run

import (
	"context"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// The pauses before listening to the store is tried again.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// listeners are who wants to hear of runs. While there are any, the store is listened to if it announces what is
// written.
type listeners struct {
	mu     sync.Mutex
	all    map[*listener]struct{}
	shut   context.CancelFunc // ends listening; nil while nobody wants to hear
	listen bool               // the store tells what is written
}

type listener struct {
	owner journal.Owner
	heard func(run string)
}

// Hear calls heard with runs of the owner as they are begun or go on: those of this process, and where the store
// announces them those of others. Not all are told. heard must not block.
func (e *Engine) Hear(owner journal.Owner, heard func(run string)) (stop func()) {
	l := &listener{owner, heard}
	all := &e.listeners
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.shut == nil {
		ctx, shut := context.WithCancel(context.Background())
		all.shut, all.all = shut, map[*listener]struct{}{}
		if a, ok := e.Store.(journal.Announcer); ok {
			go e.listen(ctx, a)
		}
	}
	all.all[l] = struct{}{}
	return func() { all.remove(l) }
}

func (all *listeners) remove(l *listener) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.all, l)
	if all.shut != nil && len(all.all) == 0 {
		all.shut()
		all.shut, all.listen = nil, false
	}
}

// Listen keeps ready to hear what the store announces, so that who begins to watch need not wait for a connection. stop
// ends that.
func (e *Engine) Listen() (stop func()) { return e.Hear("", func(string) {}) }

// Announced says whether what happens to runs is told as it happens, so that looking for it need not be done often.
func (e *Engine) Announced() bool {
	e.listeners.mu.Lock()
	defer e.listeners.mu.Unlock()
	return e.listeners.listen
}

// tell wakes who wants to hear of a run that is said to be further, or in other hands.
func (all *listeners) tell(k journal.Key) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for l := range all.all {
		if l.owner == k.Owner {
			l.heard(k.Run)
		}
	}
}

// listen hears what a store announces. After a lost connection it tries again.
func (e *Engine) listen(ctx context.Context, a journal.Announcer) {
	for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, longestPause) {
		began := e.Clock.Now()
		e.listeners.note(ctx, true)
		err := a.Announced(ctx, e.listeners.tell)
		e.listeners.note(ctx, false)
		if ctx.Err() != nil {
			return
		}
		if e.Clock.Now().Sub(began) >= longestPause {
			wait = firstPause
		}
		e.Log.Warn("the journal's announcements are not heard any more; it is asked instead", "again_in", wait,
			"err", err)
		pause(ctx, e.Clock, wait)
	}
}

// note keeps whether the store is listened to, for as long as that is wanted.
func (all *listeners) note(ctx context.Context, listens bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if ctx.Err() == nil {
		all.listen = listens
	}
}
