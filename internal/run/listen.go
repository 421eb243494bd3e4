package run

import (
	"context"
	"errors"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// The pauses before listening to the store is tried again.
const (
	firstPause   = 100 * time.Millisecond
	longestPause = 10 * time.Second
)

// listeners are those who want to be called when runs change. While there are any, the engine listens to the store, if
// the store announces what is written.
type listeners struct {
	mu     sync.Mutex
	all    map[*listener]struct{}
	shut   context.CancelFunc // ends listening; nil while there are no listeners
	listen bool               // the store's announcements are listened to
}

type listener struct {
	owner journal.Owner
	heard func(run string)
}

// Hear calls heard with runs of the owner when they begin or have new records: runs of this process, and those of other
// processes if the store announces them. Some changes may be missed. heard must not block.
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

// Listen connects to the store's announcements ahead of time, so that new watchers need not wait. stop ends that.
func (e *Engine) Listen() (stop func()) { return e.Hear("", func(string) {}) }

// Announced reports whether changes of runs are announced, so that polling may be rare.
func (e *Engine) Announced() bool {
	e.listeners.mu.Lock()
	defer e.listeners.mu.Unlock()
	return e.listeners.listen
}

// notify calls the listeners of a run that may have new records or another driver.
func (all *listeners) notify(k journal.Key) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for l := range all.all {
		if l.owner == k.Owner {
			l.heard(k.Run)
		}
	}
}

// listen receives the store's announcements, if there are any. After a lost connection it tries again.
func (e *Engine) listen(ctx context.Context, a journal.Announcer) {
	for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, longestPause) {
		began := e.Clock.Now()
		e.listeners.setListening(ctx, true)
		err := a.Announced(ctx, e.listeners.notify)
		e.listeners.setListening(ctx, false)
		if ctx.Err() != nil || errors.Is(err, journal.ErrUnannounced) {
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

// setListening stores whether the store is listened to, unless ctx is done.
func (all *listeners) setListening(ctx context.Context, listens bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if ctx.Err() == nil {
		all.listen = listens
	}
}
