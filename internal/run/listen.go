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

// watched are the runs that are watched here and driven elsewhere or by nobody, and who wants to hear of an owner's runs.
type watched struct {
	mu        sync.Mutex
	runs      map[journal.Key]*followed
	listeners map[*listener]struct{}
	shut      context.CancelFunc // ends listening; nil while nobody watches
	listening bool               // the store tells what is written
}

type listener struct {
	owner journal.Owner
	heard func(run string)
}

// open sees to it that somebody listens to the store. The caller holds the lock.
func (e *Engine) open() {
	w := &e.watched
	if w.shut != nil {
		return
	}
	if w.runs == nil {
		w.runs, w.listeners = map[journal.Key]*followed{}, map[*listener]struct{}{}
	}
	ctx, shut := context.WithCancel(context.Background())
	w.shut = shut
	if a, ok := e.Store.(journal.Announcer); ok {
		go e.listen(ctx, a)
	}
}

// closeUnwatched ends listening if nobody watches any more. The caller holds the lock.
func (w *watched) closeUnwatched() {
	if w.shut != nil && len(w.runs) == 0 && len(w.listeners) == 0 {
		w.shut()
		w.shut, w.listening = nil, false
	}
}

// join adds a watcher of a run; it wants a leave.
func (e *Engine) join(k journal.Key) *followed {
	w := &e.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	e.open()
	r := w.runs[k]
	if r == nil {
		ctx, stop := context.WithCancel(context.Background())
		r = &followed{Key: k, feed: newFeed(), told: make(chan struct{}, 1), stop: stop}
		w.runs[k] = r
		go e.follow(ctx, r)
	}
	r.watchers++
	return r
}

func (w *watched) leave(r *followed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.watchers--; r.watchers == 0 {
		r.stop()
		w.drop(r)
	}
}

// forget makes sure that nobody joins a run any more that is not followed to its end.
func (w *watched) forget(r *followed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(r)
}

func (w *watched) drop(r *followed) {
	if w.runs[r.Key] == r {
		delete(w.runs, r.Key)
	}
	w.closeUnwatched()
}

// Hear calls heard with runs of the owner as they are begun or go on: those of this process, and where the store announces them those
// of others. Not all are told. heard must not block.
func (e *Engine) Hear(owner journal.Owner, heard func(run string)) (stop func()) {
	l := &listener{owner, heard}
	w := &e.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	e.open()
	w.listeners[l] = struct{}{}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.listeners, l)
		w.closeUnwatched()
	}
}

// Listen keeps ready to hear what the store announces, so that who begins to watch need not wait for a connection. stop ends that.
func (e *Engine) Listen() (stop func()) { return e.Hear("", func(string) {}) }

// Announced says whether what happens to runs is told as it happens, so that looking for it need not be done often.
func (e *Engine) Announced() bool {
	e.watched.mu.Lock()
	defer e.watched.mu.Unlock()
	return e.watched.listening
}

// heard wakes who watches a run that is said to be further, or in other hands.
func (w *watched) heard(k journal.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.runs[k]; r != nil {
		select {
		case r.told <- struct{}{}:
		default: // it is told already
		}
	}
	for l := range w.listeners {
		if l.owner == k.Owner {
			l.heard(k.Run)
		}
	}
}

// listen hears what a store announces. After a lost connection it tries again.
func (e *Engine) listen(ctx context.Context, a journal.Announcer) {
	for wait := firstPause; ctx.Err() == nil; wait = min(2*wait, longestPause) {
		began := e.Clock.Now()
		e.watched.listens(ctx, true)
		err := a.Announced(ctx, e.watched.heard)
		e.watched.listens(ctx, false)
		if ctx.Err() != nil {
			return
		}
		if e.Clock.Now().Sub(began) >= longestPause {
			wait = firstPause
		}
		e.Log.Warn("the journal's announcements are not heard any more; it is asked instead", "again_in", wait, "err", err)
		pause(ctx, e.Clock, wait)
	}
}

// listens notes whether the store is listened to, for as long as that is wanted.
func (w *watched) listens(ctx context.Context, on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() == nil {
		w.listening = on
	}
}
