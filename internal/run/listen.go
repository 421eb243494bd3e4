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
	mu    sync.Mutex
	all   map[*listener]struct{}
	shut  context.CancelFunc // ends listening; nil while there are no listeners
	hears Announcements
}

// Announcements says which changes of runs are announced, by any process.
type Announcements int

// The changes that are announced: none; most, so that polling may be rare; or all, so that it is hardly needed.
const (
	AnnouncesNothing Announcements = iota
	AnnouncesMost
	AnnouncesAll
)

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
		all.shut, all.hears = nil, AnnouncesNothing
	}
}

// Listen connects to the store's announcements ahead of time, so that new watchers need not wait. stop ends that.
func (e *Engine) Listen() (stop func()) { return e.Hear("", func(string) {}) }

// Announced reports which changes of runs are announced now.
func (e *Engine) Announced() Announcements {
	e.listeners.mu.Lock()
	defer e.listeners.mu.Unlock()
	return e.listeners.hears
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
		err := a.Announced(ctx, func(all bool) {
			hears := AnnouncesMost
			if all {
				hears = AnnouncesAll
			}
			e.listeners.setHears(ctx, hears)
		}, e.listeners.notify)
		e.listeners.setHears(ctx, AnnouncesNothing)
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

// setHears stores what is announced, unless ctx is done.
func (all *listeners) setHears(ctx context.Context, hears Announcements) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if ctx.Err() == nil {
		all.hears = hears
	}
}
