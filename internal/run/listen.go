package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// How often the runs are looked at that others drive and somebody here watches: often where nothing is announced, and seldom where
// looking only finds what was not.
const (
	pollEvery  = 200 * time.Millisecond
	pollSeldom = time.Second
)

// How long listening has to last before it is relied on, and the pauses before it is tried again.
const (
	reliedOnAfter = time.Second
	firstPause    = 100 * time.Millisecond
	longestPause  = 10 * time.Second
)

// standingAtOnce is how many runs are looked at with one query.
const standingAtOnce = 200

// watched are the runs that are watched here and driven elsewhere or by nobody, and who wants to hear of an owner's runs.
type watched struct {
	mu        sync.Mutex
	runs      map[journal.Key]*followed
	listeners map[*listener]struct{}
	ears      *ears // nil while nobody watches
}

type listener struct {
	owner journal.Owner
	heard func(run string)
}

// ears are one time of looking and listening.
type ears struct {
	shut    context.CancelFunc
	since   time.Time // when listening began; zero while nobody listens
	doubted bool      // a look found what was not announced, and nothing was heard since
}

// open sees to it that somebody looks and listens. The caller holds the lock.
func (e *Engine) open() {
	w := &e.watched
	if w.ears != nil {
		return
	}
	ctx, shut := context.WithCancel(context.Background())
	w.ears = &ears{shut: shut}
	if w.runs == nil {
		w.runs, w.listeners = map[journal.Key]*followed{}, map[*listener]struct{}{}
	}
	go e.poll(ctx, w.ears)
	if a, ok := e.Store.(journal.Announcer); ok {
		go e.listen(ctx, w.ears, a)
	}
}

// shut ends looking and listening if nobody watches any more. The caller holds the lock.
func (w *watched) shut() {
	if w.ears != nil && len(w.runs) == 0 && len(w.listeners) == 0 {
		w.ears.shut()
		w.ears = nil
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
		r = &followed{Key: k, feed: newFeed(), told: make(chan struct{}, 1), stop: stop, over: true} // until its row says otherwise
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
	w.shut()
}

// mayBeOver says whether the row of a run is to be asked.
func (w *watched) mayBeOver(r *followed) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return r.over
}

// read notes how far a run was read.
func (w *watched) read(r *followed, next int64) {
	w.mu.Lock()
	r.next, r.heard, r.over = next, false, false
	w.mu.Unlock()
}

// tell wakes who reads the run.
func (r *followed) tell() {
	select {
	case r.told <- struct{}{}:
	default: // it is told already
	}
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
		w.shut()
	}
}

// Listen keeps ready to hear what the store announces, so that who begins to watch need not wait for a connection. stop ends that.
func (e *Engine) Listen() (stop func()) { return e.Hear("", func(string) {}) }

// Announced says whether what happens to runs is told as it happens, so that looking for it need not be done often.
func (e *Engine) Announced() bool {
	w := &e.watched
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ears != nil && w.ears.reliable(e.Clock.Now())
}

func (a *ears) reliable(now time.Time) bool {
	return !a.since.IsZero() && now.Sub(a.since) >= reliedOnAfter && !a.doubted
}

// heard wakes who watches a run that is said to be further, or in other hands.
func (w *watched) heard(k journal.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r := w.runs[k]; r != nil {
		r.heard = true
		r.tell()
	}
	for l := range w.listeners {
		if l.owner == k.Owner {
			l.heard(k.Run)
		}
	}
}

// listen hears what a store announces. After a lost connection it tries again.
func (e *Engine) listen(ctx context.Context, own *ears, a journal.Announcer) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began := e.Clock.Now()
		e.watched.listening(own, began)
		err := a.Announced(ctx, func(k journal.Key) {
			e.watched.heard(k)
			e.watched.rely(own)
		})
		e.watched.listening(own, time.Time{})
		if ctx.Err() != nil {
			return
		}
		if e.Clock.Now().Sub(began) >= longestPause {
			pause = firstPause
		}
		e.Log.Warn("the journal's announcements are not heard any more; it is asked instead", "again_in", pause, "err", err)
		again, stop := e.Clock.After(pause)
		select {
		case <-again:
		case <-ctx.Done():
			stop()
			return
		}
	}
}

func (w *watched) listening(own *ears, since time.Time) {
	w.mu.Lock()
	own.since, own.doubted = since, false
	w.mu.Unlock()
}

func (w *watched) rely(own *ears) {
	w.mu.Lock()
	own.doubted = false
	w.mu.Unlock()
}

// poll looks at the watched runs, of which announcements may be missed.
func (e *Engine) poll(ctx context.Context, own *ears) {
	for {
		every := pollEvery
		if e.Announced() {
			every = pollSeldom
		}
		tick, stop := e.Clock.After(every)
		select {
		case <-tick:
		case <-ctx.Done():
			stop()
			return
		}
		for keys := range slices.Chunk(e.watched.keys(), standingAtOnce) {
			asking, cancel := context.WithTimeout(ctx, e.Lease)
			standing, err := e.Store.Standing(asking, keys)
			cancel()
			e.watched.look(own, keys, standing, err)
		}
	}
}

func (w *watched) keys() []journal.Key {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := make([]journal.Key, 0, len(w.runs))
	for k := range w.runs {
		keys = append(keys, k)
	}
	return keys
}

// look wakes who reads runs that are further, or not there any more; all, where looking failed: they ask themselves, and tell why it
// fails.
func (w *watched) look(own *ears, keys []journal.Key, all []journal.Standing, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := make(map[journal.Key]journal.Standing, len(all))
	for _, s := range all {
		found[s.Key] = s
	}
	for _, k := range keys {
		r := w.runs[k]
		if r == nil {
			continue
		}
		s, there := found[k]
		further := s.Records > r.next
		if further && !r.heard {
			own.doubted = true
		}
		over := !there || s.Status != journal.Running
		r.over = r.over || over
		if further || over || err != nil {
			r.tell()
		}
	}
}
