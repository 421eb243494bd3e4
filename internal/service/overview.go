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
)

// lateness bounds what a stream of all runs makes up for: how far the clocks of nodes may be apart, and how long after
// its start a run may be seen in the journal, together.
const lateness = 30 * time.Second

// mostOlder is how many of the runs that went on before a stream began it tells of: of those that started last.
const mostOlder = mostGoing / 2

// Happening is one thing that happens in the runs of an owner: one of them begins or is found going on, an Update of
// it, or its end. The first one of a stream is its own beginning, of no run: what begins afterwards is told.
type Happening struct {
	Run       string
	Session   string
	Assistant string
	Begun     *Row // how it stood when it was found
	Ended     *Row // how it ended; the State of a run that was removed with its session is “removed”
	Update
	Position Position // where a stream goes on after it
}

// mostReading is how many runs a stream reads at once that had ended before it came to them. Each is in memory until it
// is told to its end, which a client that does not read puts off; runs that go on are in memory once for all streams.
const mostReading = 4

// StateRemoved is the state of a run that is not there any more.
const StateRemoved = "removed"

// How often runs are looked for that begin elsewhere: often where nothing is announced, and seldom where looking only
// finds what was not. Each lookGoing-th time runs that go on are looked for, too, however long ago they started.
const (
	lookOften  = 250 * time.Millisecond
	lookSeldom = 2 * time.Second
	lookGoing  = 10
	lookTime   = 8 * time.Second // for one look
)

// longestFailure is how long looking may fail before a stream ends.
const longestFailure = 10 * time.Second

// How many runs a look asks for: first some, and if these do not reach far enough back, more.
const (
	someRuns = 20
	moreRuns = longestList
)

// mostHeard bounds the runs that were heard of and not looked at yet.
const mostHeard = 64

// WatchAll gives what happens in all runs of an owner, on any node: in those that go on, from their first record, and
// in those that begin while it lasts. Of one run everything comes in order, between its beginning and its end; runs
// have no order among them. It lasts until ctx is done, or the journal fails.
//
// A stream goes on after any Happening of another, its beginning included, by its Position, in any process: no record,
// step, event, beginning or end is lost or told twice, as long as clocks and transactions are late by less than half a
// minute together. Text is provisional, as in Watch: a stream that begins gets what has been said as one piece.
//
// These are the bounds. Of the runs that went on before the first stream began, it tells of the 64 that started last.
// Of those that begin it follows 128 at once; more wait until one of them has ended. Of those that began since the
// Position it makes up for the last thousand. Who begins more than 128 runs within half a minute may, after going on
// in another stream, miss one that appears late.
func (s *Service) WatchAll(ctx context.Context, owner journal.Owner, from Position) iter.Seq2[Happening, error] {
	return func(yield func(Happening, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		o := &overview{s: s, owner: owner, at: from, rows: map[string]journal.Run{}, yield: yield,
			in:    make(chan inbound),
			heard: make(chan string, mostHeard), reading: make(chan struct{}, mostReading), found: make(chan found, 1)}
		defer o.watching.Wait()
		defer cancel()
		defer s.config.Engine.Hear(owner, o.hear)()
		if err := o.follow(ctx); err != nil && !errors.Is(err, errEnough) && ctx.Err() == nil {
			yield(Happening{}, err)
		}
	}
}

// errEnough says that nobody wants more.
var errEnough = errors.New("enough was seen")

// overview is one stream of all runs of an owner. Only its own goroutine changes it.
type overview struct {
	s     *Service
	owner journal.Owner
	yield func(Happening, error) bool

	at      Position
	rows    map[string]journal.Run // of the runs that are watched
	waiting []journal.Run          // for being watched, by their start
	heard   chan string            // runs in which something happens
	in      chan inbound           // from those who watch the runs
	reading chan struct{}          // holds a token for each run that had ended before it was watched, while it is read

	looks    int
	due      *time.Timer // for the next look; stopped while one is under way
	looking  *look       // the one that is under way, or nil
	found    chan found  // by it
	wanted   bool        // something was heard of that is still to be looked for
	wantedAt time.Time   // when the last look began for what was heard of
	seenAt   time.Time   // when the last look began that found all there was, by the clock of runs

	watching sync.WaitGroup
}

// inbound is what comes of one run: an update, its row once it has ended, or an error.
type inbound struct {
	run    string
	update Update
	ended  *journal.Run
	err    error
}

// hear takes in that something happens in a run. Where too much does, looking finds it.
func (o *overview) hear(run string) {
	select {
	case o.heard <- run:
	default:
	}
}

func (o *overview) follow(ctx context.Context) error {
	if err := o.begin(ctx); err != nil {
		return err
	}
	lastSeen := time.Now()
	o.due = time.NewTimer(o.pause())
	defer o.due.Stop()
	for {
		if err := o.admit(ctx); err != nil {
			return err
		}
		select {
		case in := <-o.in:
			if err := o.take(in); err != nil {
				return err
			}
		case run := <-o.heard:
			if !o.knows(run) {
				o.want(ctx)
			}
		case <-o.due.C:
			o.look(ctx)
		case f := <-o.found:
			asked := o.looking.asked
			o.takeIn(f)
			switch {
			case f.err == nil:
				lastSeen = asked
			case asked.Sub(lastSeen) >= longestFailure:
				return f.err
			}
			if o.due.Reset(o.pause()); o.wanted {
				o.want(ctx)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// knows says whether a run is told, or waits for it.
func (o *overview) knows(run string) bool { return o.at.names(run) || waits(o.waiting, run) }

func waits(all []journal.Run, run string) bool {
	return slices.ContainsFunc(all, func(r journal.Run) bool { return r.ID == run })
}

// want has a run be looked for that was heard of: at once, unless that was done a moment ago or a look is under way.
func (o *overview) want(ctx context.Context) {
	o.wanted = true
	switch wait := lookOften - time.Since(o.wantedAt); {
	case o.looking != nil:
	case wait > 0:
		o.due.Reset(wait)
	default:
		o.look(ctx)
	}
}

// look has runs be looked for in the background, so that a slow journal holds up nothing that happens meanwhile.
func (o *overview) look(ctx context.Context) {
	o.due.Stop()
	if o.wanted {
		o.wanted, o.wantedAt = false, time.Now()
	}
	o.looking = o.newLook()
	l := *o.looking
	o.watching.Go(func() { o.found <- o.find(ctx, l) })
}

// pause is how long nothing is looked for.
func (o *overview) pause() time.Duration {
	if o.s.config.Engine.Announced() {
		return lookSeldom
	}
	return lookOften
}

// begin takes up what the Position names, and finds what it does not.
func (o *overview) begin(ctx context.Context) error {
	if o.at.IsZero() {
		o.at = o.at.after(o.s.config.Now().Add(-lateness))
		recent, err := o.startedSince(ctx, o.at.since())
		if err != nil {
			return err
		}
		for _, r := range recent {
			if r.Status != journal.Running { // it ended before the stream began
				o.at = o.at.ended(r.ID, r.StartedAt)
			}
		}
	}
	var gone []string
	for _, run := range slices.Sorted(maps.Keys(o.at.Going)) {
		row, err := o.s.config.Store.Run(ctx, o.owner, run)
		switch {
		case errors.Is(err, journal.ErrNotFound):
			gone = append(gone, run)
		case err != nil:
			return err
		default:
			o.watch(ctx, row, o.at.Going[run])
		}
	}
	o.looking = o.newLook()
	f := o.find(ctx, *o.looking)
	o.takeIn(f)
	err := f.err
	if err == nil {
		err = o.tell(Happening{})
	}
	for i := 0; i < len(gone) && err == nil; i++ {
		err = o.removed(gone[i])
	}
	return err
}

// look is what was known when runs began to be looked for.
type look struct {
	asked   time.Time
	now     time.Time // by the clock of runs
	at      Position
	waiting []journal.Run
	going   bool // runs that go on are looked for, too, however long ago they started
}

// found is what a look found, as far as it came.
type found struct {
	runs  []journal.Run
	since time.Time // what started before it is not made up for
	err   error
}

func (o *overview) newLook() *look {
	l := &look{asked: time.Now(), now: o.s.config.Now(), at: o.at, waiting: slices.Clone(o.waiting),
		going: o.looks%lookGoing == 0}
	o.looks++
	return l
}

// find looks for runs that are still to be told.
func (o *overview) find(ctx context.Context, l look) (f found) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	f.runs, f.err = o.startedSince(ctx, l.at.since())
	if f.err != nil {
		return f
	}
	if len(f.runs) == moreRuns {
		f.since = f.runs[moreRuns-1].StartedAt.Add(-time.Millisecond)
	}
	if !l.going {
		return f
	}
	going, err := o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Status: journal.Running, Limit: mostOlder})
	f.runs, f.err = append(f.runs, going...), err
	return f
}

// takeIn has the runs wait that a look found. One that was known when it began may have ended since.
func (o *overview) takeIn(f found) {
	l := o.looking
	o.looking = nil
	if f.err == nil {
		o.seenAt = l.now
	}
	o.at = o.at.after(f.since)
	for _, r := range f.runs {
		at, waits := slices.BinarySearchFunc(o.waiting, r, byStart)
		isNew := r.StartedAt.After(o.at.since())
		wentOn := r.Status == journal.Running && len(o.at.Going)+len(o.waiting) < mostOlder
		if !waits && !l.knew(r.ID) && !o.at.names(r.ID) && (isNew || wentOn) {
			o.waiting = slices.Insert(o.waiting, at, r)
		}
	}
}

func (l *look) knew(run string) bool { return l.at.names(run) || waits(l.waiting, run) }

// startedSince lists the runs that started after a time, and some before, the latest first.
func (o *overview) startedSince(ctx context.Context, since time.Time) ([]journal.Run, error) {
	runs, err := o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Limit: someRuns})
	if err == nil && len(runs) == someRuns && runs[someRuns-1].StartedAt.After(since) {
		runs, err = o.s.config.Store.Runs(ctx, o.owner, journal.Filter{Limit: moreRuns})
	}
	return runs, err
}

func byStart(a, b journal.Run) int { return a.Cursor().Compare(b.Cursor()) }

// admit begins to tell of the runs for which there is a place.
func (o *overview) admit(ctx context.Context) error {
	for len(o.waiting) > 0 && len(o.at.Going) < mostGoing {
		r := o.waiting[0]
		o.waiting = o.waiting[1:]
		o.rows[r.ID] = r
		o.at = o.at.with(r.ID, Place{})
		if err := o.tell(Happening{Run: r.ID, Begun: &Row{Run: r, State: o.s.State(r)}}); err != nil {
			return err
		}
		o.watch(ctx, r, Place{})
	}
	return nil
}

// watch has what happens in a run come in, from a place on.
func (o *overview) watch(ctx context.Context, r journal.Run, from Place) {
	o.rows[r.ID] = r
	send := func(in inbound) bool {
		in.run = r.ID
		select {
		case o.in <- in:
			return true
		case <-ctx.Done():
			return false
		}
	}
	o.watching.Go(func() {
		if r.Status != journal.Running {
			select {
			case o.reading <- struct{}{}:
				defer func() { <-o.reading }()
			case <-ctx.Done():
				return
			}
		}
		for u, err := range o.s.watch(ctx, r, from) {
			if !send(inbound{update: u, err: err}) || err != nil {
				return
			}
		}
		if ctx.Err() != nil {
			return
		}
		ended, err := o.s.config.Store.Run(ctx, r.Owner, r.ID)
		send(inbound{ended: &ended, err: err})
	})
}

func (o *overview) take(in inbound) error {
	switch {
	case errors.Is(in.err, journal.ErrNotFound):
		return o.removed(in.run)
	case in.err != nil:
		return in.err
	case in.ended != nil:
		return o.end(Row{Run: *in.ended, State: o.s.State(*in.ended)})
	}
	o.at = o.at.with(in.run, in.update.After)
	return o.tell(Happening{Run: in.run, Update: in.update})
}

// removed tells the end of a run that is not there any more.
func (o *overview) removed(run string) error {
	r, known := o.rows[run]
	if !known {
		r = journal.Run{ID: run, Owner: o.owner}
	}
	return o.end(Row{Run: r, State: StateRemoved})
}

func (o *overview) end(r Row) error {
	o.at = o.at.ended(r.ID, r.StartedAt)
	err := o.tell(Happening{Run: r.ID, Session: r.Session, Assistant: r.Assistant, Ended: &r})
	delete(o.rows, r.ID)
	return err
}

// tell hands a happening on. Runs that wait, and the time since the last look, hold back the time from which on runs
// are new, so that a stream which goes on from there finds what is not told yet.
func (o *overview) tell(h Happening) error {
	since := o.seenAt.Add(-lateness)
	if i := slices.IndexFunc(o.waiting, func(r journal.Run) bool { return r.StartedAt.After(o.at.since()) }); i >= 0 {
		if before := o.waiting[i].StartedAt.Add(-time.Millisecond); before.Before(since) {
			since = before
		}
	}
	o.at = o.at.after(since)
	r := o.rows[h.Run]
	h.Session, h.Assistant, h.Position = cmp.Or(h.Session, r.Session), cmp.Or(h.Assistant, r.Assistant), o.at
	if !o.yield(h, nil) {
		return errEnough
	}
	return nil
}
