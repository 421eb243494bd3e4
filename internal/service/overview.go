package service

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// mostLateness is how late a run may appear in the journal and still be found: the difference of the nodes' clocks, and
// the time from its start until the journal shows it, together.
const mostLateness = 30 * time.Second

// mostOlder bounds the runs that were already running when a stream began and that it sends: those that started last.
const mostOlder = mostRunning / 2

// LiveEvent is one event in the runs of an owner: a run begins or is found running, has an Update, or ends. The first
// one of a stream belongs to no run: it says that the stream sends all that begins from now on.
type LiveEvent struct {
	Run       string
	Session   string
	Assistant string
	Begun     *Row // its state when it was found
	Ended     *Row // its state at its end; its cause is CauseRemoved if it was removed with its session
	Update
	Position Position // where a stream that has it continues
}

// mostEndedRead is how many runs that have already ended a stream reads at once. Each stays in memory until all of it
// is sent, which a slow client delays; a run that is running is in memory once for all streams.
const mostEndedRead = 4

// CauseRemoved is the cause of the end of a run that was removed with its session.
const CauseRemoved = "removed"

// How often a stream looks for runs that begin elsewhere: often where the store announces nothing, seldom where it
// announces most, and hardly ever where it announces all. Each lookOlderEvery-th look, and each of the latter, also
// lists the running runs, however long ago they started.
const (
	lookOften      = 250 * time.Millisecond
	lookSeldom     = 2 * time.Second
	lookHardly     = 30 * time.Second
	lookOlderEvery = 10
	lookTimeout    = 8 * time.Second // for one look
)

// longestFailure is how long looking may fail before a stream ends.
const longestFailure = 10 * time.Second

// How many runs a look asks for: first some, and if these do not reach far enough back, more.
const (
	someRuns = 20
	moreRuns = longestList
)

// mostAnnounced bounds the announcements that are not handled yet.
const mostAnnounced = 64

// WatchAll gives what happens in all runs of an owner, on any node: in those that are running, from their first record,
// and in those that begin later. The happenings of one run come in order, from Begun to Ended; those of different runs
// in any order. It lasts until ctx is done, or the journal fails.
//
// Another stream, in any process, can continue from the Position of any LiveEvent, the first one included: no record,
// step, event, beginning or end is lost or sent twice, as long as clocks and transactions are late by less than half a
// minute together. Text is provisional, as in Watch: a new stream gets the text so far as one piece.
//
// The bounds: of the runs that were running before the first stream began, it sends the 64 that started last. Of those
// that begin it watches 128 at once; more wait until one of them has ended. Of those that began since the Position it
// sends the last thousand. If more than 128 runs begin within half a minute, a stream that continues from a Position
// may miss one that appears late.
func (s *Service) WatchAll(ctx context.Context, owner journal.Owner, from Position) iter.Seq2[LiveEvent, error] {
	return func(yield func(LiveEvent, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		o := &runStream{s: s, owner: owner, position: from, rows: map[string]journal.Run{}, yield: yield,
			updates: make(chan runUpdate), announced: make(chan string, mostAnnounced),
			missed:    make(chan struct{}, 1),
			readSlots: make(chan struct{}, mostEndedRead), lookResults: make(chan lookResult, 1)}
		defer o.background.Wait()
		defer cancel()
		defer s.config.Engine.Hear(owner, o.addAnnounced)()
		if err := o.follow(ctx); err != nil && !errors.Is(err, errEnough) && ctx.Err() == nil {
			yield(LiveEvent{}, err)
		}
	}
}

// errEnough says that the consumer of the stream has stopped.
var errEnough = errors.New("enough was seen")

// runStream is one stream over all runs of an owner. Only its own goroutine changes it.
type runStream struct {
	s     *Service
	owner journal.Owner
	yield func(LiveEvent, error) bool

	position  Position
	rows      map[string]journal.Run // the runs that are watched
	waiting   []journal.Run          // to be watched, by their start
	announced chan string            // runs in which the engine says that something happens
	missed    chan struct{}          // holds a token if more were announced than announced holds
	updates   chan runUpdate         // from the watches of the runs
	readSlots chan struct{}          // a token for each run being read that had ended before

	lookCount        int
	lookPause        time.Duration   // after the last look, by what was announced when it began
	nextLook         *time.Timer     // for the next look; stopped while one is under way
	currentLook      *look           // under way; nil: none is
	lookResults      chan lookResult // of currentLook
	lookWanted       bool            // an announced run is still to be looked for
	lastWantedLook   time.Time       // when the last look for announced runs began
	lastCompleteLook time.Time       // when the last look without an error began, by the clock of runs

	background sync.WaitGroup
}

// runUpdate comes from the watch of one run: an update, its row once it has ended, or an error.
type runUpdate struct {
	run    string
	update Update
	ended  *Row
	err    error
}

// addAnnounced queues a run in which something happens, without waiting: if the queue is full, a look is to find it.
func (o *runStream) addAnnounced(run string) {
	select {
	case o.announced <- run:
	default:
		select {
		case o.missed <- struct{}{}:
		default: // it is known already
		}
	}
}

// follow sends what happens until ctx is done. Looks may fail for a while before it gives up.
func (o *runStream) follow(ctx context.Context) error {
	if err := o.restore(ctx); err != nil {
		return err
	}
	lastSeen := time.Now()
	o.nextLook = time.NewTimer(o.lookPause)
	defer o.nextLook.Stop()
	for {
		if err := o.startWaiting(ctx); err != nil {
			return err
		}
		select {
		case update := <-o.updates:
			if err := o.handleUpdate(update); err != nil {
				return err
			}
		case run := <-o.announced:
			if !o.isKnown(run) {
				o.scheduleLook(ctx)
			}
		case <-o.missed:
			o.scheduleLook(ctx)
		case <-o.nextLook.C:
			o.startLook(ctx)
		case f := <-o.lookResults:
			asked := o.currentLook.startedAt
			o.addFound(f)
			switch {
			case f.err == nil:
				lastSeen = asked
			case asked.Sub(lastSeen) >= longestFailure:
				return f.err
			}
			if o.nextLook.Reset(o.lookPause); o.lookWanted {
				o.scheduleLook(ctx)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isKnown says whether a run was sent, in part or to its end, or waits to be sent.
func (o *runStream) isKnown(run string) bool {
	return o.position.contains(run) || containsRun(o.waiting, run)
}

func containsRun(all []journal.Run, run string) bool {
	return slices.ContainsFunc(all, func(r journal.Run) bool { return r.ID == run })
}

// scheduleLook looks for announced runs: at once, or later if a look is under way or was started a moment ago.
func (o *runStream) scheduleLook(ctx context.Context) {
	o.lookWanted = true
	switch wait := lookOften - time.Since(o.lastWantedLook); {
	case o.currentLook != nil:
	case wait > 0:
		o.nextLook.Reset(wait)
	default:
		o.startLook(ctx)
	}
}

// startLook starts a look in the background, so that a slow journal delays nothing else.
func (o *runStream) startLook(ctx context.Context) {
	o.nextLook.Stop()
	if o.lookWanted {
		o.lookWanted, o.lastWantedLook = false, time.Now()
	}
	o.currentLook = o.newLook()
	l := *o.currentLook
	o.background.Go(func() { o.lookResults <- o.findRuns(ctx, l) })
}

func (o *runStream) lookInterval() time.Duration {
	switch o.s.config.Engine.Announced() {
	case run.AnnouncesAll:
		return lookHardly
	case run.AnnouncesMost:
		return lookSeldom
	}
	return lookOften
}

// restore watches the runs that the Position names, looks for others, and sends the first LiveEvent.
func (o *runStream) restore(ctx context.Context) error {
	if o.position.IsZero() {
		o.position = o.position.withoutBefore(o.s.config.Now().Add(-mostLateness))
		recent, err := o.startedSince(ctx, o.position.since())
		if err != nil {
			return err
		}
		for _, r := range recent {
			if r.Status != journal.Running { // it ended before the stream began
				o.position = o.position.withEnded(r.ID, r.StartedAt)
			}
		}
	}
	var removed []string
	for _, run := range slices.Sorted(maps.Keys(o.position.Running)) {
		row, err := o.s.config.Store.Run(ctx, o.owner, run)
		switch {
		case errors.Is(err, journal.ErrNotFound):
			removed = append(removed, run)
		case err != nil:
			return err
		default:
			o.watchRun(ctx, row, o.position.Running[run])
		}
	}
	o.currentLook = o.newLook()
	f := o.findRuns(ctx, *o.currentLook)
	o.addFound(f)
	err := f.err
	if err == nil {
		err = o.send(LiveEvent{})
	}
	for i := 0; i < len(removed) && err == nil; i++ {
		err = o.sendRemoved(removed[i])
	}
	return err
}

// look is what was known when a look began.
type look struct {
	startedAt         time.Time
	startedAtRunClock time.Time // by the clock of runs
	at                Position
	waiting           []journal.Run
	includesOlder     bool // it also lists running runs, however long ago they started
}

// lookResult is what a look found; with an error, only a part of it.
type lookResult struct {
	runs   []journal.Run
	cutoff time.Time // runs that started before it are not sent
	err    error
}

func (o *runStream) newLook() *look {
	o.lookPause = o.lookInterval()
	l := &look{startedAt: time.Now(), startedAtRunClock: o.s.config.Now(), at: o.position,
		waiting: slices.Clone(o.waiting), includesOlder: o.lookCount%lookOlderEvery == 0 || o.lookPause == lookHardly}
	o.lookCount++
	return l
}

// findRuns lists the runs that may still have to be sent.
func (o *runStream) findRuns(ctx context.Context, l look) (f lookResult) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	f.runs, f.err = o.startedSince(ctx, l.at.since())
	if f.err != nil {
		return f
	}
	if len(f.runs) == moreRuns {
		f.cutoff = f.runs[moreRuns-1].StartedAt.Add(-time.Millisecond)
	}
	if !l.includesOlder {
		return f
	}
	active, err := o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Status: journal.Running, Limit: mostOlder})
	f.runs, f.err = append(f.runs, active...), err
	return f
}

// addFound queues the new runs that a look found. It skips those that were known when the look began: they may have
// ended since.
func (o *runStream) addFound(f lookResult) {
	l := o.currentLook
	o.currentLook = nil
	if f.err == nil {
		o.lastCompleteLook = l.startedAtRunClock
	}
	o.position = o.position.withoutBefore(f.cutoff)
	for _, r := range f.runs {
		place, isWaiting := slices.BinarySearchFunc(o.waiting, r, byStart)
		isOlderWithRoom := r.Status == journal.Running && len(o.position.Running)+len(o.waiting) < mostOlder
		if !isWaiting && !l.wasKnown(r.ID) && !o.position.contains(r.ID) && (o.isRecent(r) || isOlderWithRoom) {
			o.waiting = slices.Insert(o.waiting, place, r)
		}
	}
}

func (l *look) wasKnown(run string) bool { return l.at.contains(run) || containsRun(l.waiting, run) }

// startedSince lists the runs that started after a time, and some before, the latest first.
func (o *runStream) startedSince(ctx context.Context, since time.Time) ([]journal.Run, error) {
	runs, err := o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Limit: someRuns})
	if err == nil && len(runs) == someRuns && runs[someRuns-1].StartedAt.After(since) {
		runs, err = o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Limit: moreRuns})
	}
	return runs, err
}

func (o *runStream) isRecent(r journal.Run) bool { return r.StartedAt.After(o.position.since()) }

func byStart(a, b journal.Run) int { return a.Cursor().Compare(b.Cursor()) }

// startWaiting sends the beginnings of waiting runs and watches them, as long as fewer than mostRunning are watched.
func (o *runStream) startWaiting(ctx context.Context) error {
	for len(o.waiting) > 0 && len(o.position.Running) < mostRunning {
		r := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.rows[r.ID] = r
		o.position = o.position.withRunning(r.ID, Place{})
		row, err := o.s.newRow(ctx, r)
		if err == nil {
			err = o.send(LiveEvent{Run: r.ID, Begun: &row})
		}
		if err != nil {
			return err
		}
		o.watchRun(ctx, r, Place{})
	}
	return nil
}

// watchRun watches a run from a place on in a goroutine, which sends its updates, then its row, to o.updates.
func (o *runStream) watchRun(ctx context.Context, r journal.Run, from Place) {
	o.rows[r.ID] = r
	deliver := func(in runUpdate) bool {
		in.run = r.ID
		select {
		case o.updates <- in:
			return true
		case <-ctx.Done():
			return false
		}
	}
	o.background.Go(func() {
		if r.Status != journal.Running {
			select {
			case o.readSlots <- struct{}{}:
				defer func() { <-o.readSlots }()
			case <-ctx.Done():
				return
			}
		}
		for u, err := range o.s.watch(ctx, r, from) {
			if !deliver(runUpdate{update: u, err: err}) || err != nil {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		ended, err := o.s.Run(ctx, r.Owner, r.ID)
		deliver(runUpdate{ended: &ended, err: err})
	})
}

func (o *runStream) handleUpdate(in runUpdate) error {
	switch {
	case errors.Is(in.err, journal.ErrNotFound):
		return o.sendRemoved(in.run)
	case in.err != nil:
		return in.err
	case in.ended != nil:
		return o.sendEnd(*in.ended)
	}
	o.position = o.position.withRunning(in.run, in.update.After)
	return o.send(LiveEvent{Run: in.run, Update: in.update})
}

// sendRemoved sends the end of a run that was removed.
func (o *runStream) sendRemoved(id string) error {
	r, known := o.rows[id]
	if !known {
		r = journal.Run{ID: id, Owner: o.owner}
	}
	return o.sendEnd(Row{Run: r, Companion: o.s.isCompanion(r.Assistant), Standing: run.Standing{State: run.StateEnded,
		Cause: CauseRemoved}})
}

func (o *runStream) sendEnd(r Row) error {
	o.position = o.position.withEnded(r.ID, r.StartedAt)
	err := o.send(LiveEvent{Run: r.ID, Session: r.Session, Assistant: r.Assistant, Ended: &r})
	delete(o.rows, r.ID)
	return err
}

// send yields a happening with its Position. The time of that Position stays before the start of any waiting run and
// before the last complete look, so that a stream which continues from it finds what was not sent yet.
func (o *runStream) send(h LiveEvent) error {
	since := o.lastCompleteLook.Add(-mostLateness)
	if i := slices.IndexFunc(o.waiting, o.isRecent); i >= 0 {
		if before := o.waiting[i].StartedAt.Add(-time.Millisecond); before.Before(since) {
			since = before
		}
	}
	o.position = o.position.withoutBefore(since)
	r := o.rows[h.Run]
	h.Session, h.Assistant, h.Position = cmp.Or(h.Session, r.Session), cmp.Or(h.Assistant, r.Assistant), o.position
	if !o.yield(h, nil) {
		return errEnough
	}
	return nil
}
