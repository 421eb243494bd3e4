package service

import (
	"context"
	"sync"
	"time"

	"sibyl/internal/journal"
)

// How often runs of an owner are looked for that begin elsewhere: often where nothing is announced, and seldom where looking only finds
// what was not. Each lookGoing-th time it is looked for runs that go on, too, however long ago they started.
const (
	lookOften  = 250 * time.Millisecond
	lookSeldom = time.Second
	lookGoing  = 10
	lookTime   = 8 * time.Second // for one look
)

// longestFailure is how long looking may fail before the streams are told.
const longestFailure = 10 * time.Second

// How many runs a look asks for: first some, and if these do not reach far enough back, more.
const (
	someRuns = 20
	moreRuns = longestList
)

// lookouts are those of this process, one for each owner of whom a stream is watched.
type lookouts struct {
	mu     sync.Mutex
	owners map[journal.Owner]*lookout
}

// lookout looks for runs of an owner, for all streams of that owner.
type lookout struct {
	s       *Service
	owner   journal.Owner
	streams int // it belongs to lookouts
	stop    func()
	wake    chan struct{} // holds a token once it is to look at once

	mu    sync.Mutex
	known map[string]int // runs that were seen or heard of, with the number of the look
	looks int
	found []sighting // the last of them
	base  int        // the number of found[0]
	err   error
	more  chan struct{} // closed when something was found, or looking failed
}

// sighting is a run that was not known before, as it was asked for at a time.
type sighting struct {
	journal.Run
	asked time.Time
}

// mostSightings bounds what is kept for streams that do not keep up. One that falls behind looks for itself.
const mostSightings = 1000

// join gives the lookout of an owner; leave is to be called.
func (s *Service) join(owner journal.Owner) (l *lookout, leave func()) {
	s.lookouts.mu.Lock()
	defer s.lookouts.mu.Unlock()
	if s.lookouts.owners == nil {
		s.lookouts.owners = map[journal.Owner]*lookout{}
	}
	l = s.lookouts.owners[owner]
	if l == nil {
		l = &lookout{s: s, owner: owner, wake: make(chan struct{}, 1), known: map[string]int{}, more: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		deaf := s.config.Engine.Hear(owner, l.heard)
		l.stop = func() { deaf(); cancel() }
		s.lookouts.owners[owner] = l
		go l.keepLooking(ctx)
	}
	l.streams++
	return l, func() {
		s.lookouts.mu.Lock()
		defer s.lookouts.mu.Unlock()
		if l.streams--; l.streams == 0 {
			l.stop()
			delete(s.lookouts.owners, owner)
		}
	}
}

// heard has a run looked for that is not known.
func (l *lookout) heard(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[run]; known {
		return
	}
	select {
	case l.wake <- struct{}{}:
	default: // it will look
	}
}

func (l *lookout) keepLooking(ctx context.Context) {
	lastSeen := time.Now()
	for {
		asked := time.Now()
		looking, cancel := context.WithTimeout(ctx, lookTime)
		runs, err := l.look(looking)
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			lastSeen = asked
			l.tell(runs, asked, nil)
		case time.Since(lastSeen) >= longestFailure:
			l.tell(nil, asked, err)
		}
		every := lookOften
		if l.s.config.Engine.Announced() {
			every = lookSeldom
		}
		tick := time.NewTimer(every)
		select {
		case <-tick.C:
		case <-l.wake:
		case <-ctx.Done():
		}
		tick.Stop()
	}
}

// look asks for the runs that may be new.
func (l *lookout) look(ctx context.Context) ([]journal.Run, error) {
	runs, err := l.s.startedSince(ctx, l.owner, l.s.config.Now().Add(-lateness))
	if err != nil || l.looks%lookGoing != 0 {
		return runs, err
	}
	going, err := l.s.config.Store.Runs(ctx, l.owner, journal.Filter{Status: journal.Running, Limit: mostOlder})
	return append(runs, going...), err
}

// startedSince lists the runs that started after a time, and some before, the latest first.
func (s *Service) startedSince(ctx context.Context, owner journal.Owner, since time.Time) ([]journal.Run, error) {
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Limit: someRuns})
	if err == nil && len(runs) == someRuns && runs[someRuns-1].StartedAt.After(since) {
		runs, err = s.config.Store.Runs(ctx, owner, journal.Filter{Limit: moreRuns})
	}
	return runs, err
}

// tell gives the streams what was found. Runs that were not seen for long are forgotten: they are told again if they are seen again, and
// known to the streams.
func (l *lookout) tell(runs []journal.Run, asked time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := len(l.found)
	for _, r := range runs {
		if _, known := l.known[r.ID]; !known {
			l.found = append(l.found, sighting{r, asked})
		}
		l.known[r.ID] = l.looks
	}
	for id, look := range l.known {
		if look < l.looks-2*lookGoing {
			delete(l.known, id)
		}
	}
	l.looks++
	if len(l.found) > found || err != nil {
		l.err = err
		close(l.more)
		l.more = make(chan struct{})
	}
	if n := len(l.found) - mostSightings; n > 0 {
		l.found, l.base = append([]sighting(nil), l.found[n:]...), l.base+n
	}
}

// since gives what was found since a stream asked last: next is for asking again, once more is closed. behind says that some of what was
// found is not kept any more.
func (l *lookout) since(last int) (fresh []sighting, next int, more <-chan struct{}, behind bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := last - l.base
	return append(fresh, l.found[max(0, from):]...), l.base + len(l.found), l.more, from < 0, l.err
}

// now is where a stream begins that looks for itself what there is.
func (l *lookout) now() (next int, more <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.base + len(l.found), l.more
}
