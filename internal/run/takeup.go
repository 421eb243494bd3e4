package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// ResumeOption says how a run is taken up.
type ResumeOption int

const (
	Forced ResumeOption = iota // one that is set aside, too: it is tried once more
	AtOnce                     // it waits for no room: ErrNoRoom if there is none
	// a process has found it by itself: one that was taken up in vain again and again rests, and is ErrSetAside
	Unasked
)

// Resume takes up a run that nobody drives: it folds the records and performs what is outstanding. It waits for room as
// Start does. ErrIncompatible if this build can't; the run stays open then, for the build that wrote it or for Cancel.
func (e *Engine) Resume(ctx context.Context, owner journal.Owner, id string, how ...ResumeOption) (*Live, error) {
	if err := e.enter(ctx, owner, !slices.Contains(how, AtOnce)); err != nil {
		return nil, err
	}
	return e.resume(ctx, journal.Key{Owner: owner, Run: id}, how, e.exit)
}

// resume takes up a run, for which there is room. exit is called when it is driven no longer, or after an error.
func (e *Engine) resume(ctx context.Context, k journal.Key, how []ResumeOption, exit func()) (live *Live, err error) {
	err = e.takeOver(ctx, k, func() (rest time.Time, err error) {
		d, err := e.settled(ctx, k, func(r journal.Run) error { return mayTry(r, slices.Contains(how, Forced)) })
		if err != nil {
			return rest, err
		}
		if slices.Contains(how, Unasked) && d.takenInVain() >= inVain {
			return e.Clock.Now().Add(setAside), fmt.Errorf("run %s was taken up %d times and came no further: %w",
				d.ID, inVain, ErrSetAside)
		}
		d.exit = exit
		live, err = d.start(ctx, true)
		return rest, err
	})
	if err != nil {
		exit()
	}
	return live, err
}

// settled folds the records of a run whose lease this process has, gives a driver that stands at their end, and notes
// in the store that reading them was survived. dare says whether they may be read; ErrIncompatible if this build can't
// go on with them.
func (e *Engine) settled(ctx context.Context, k journal.Key, dare func(journal.Run) error) (*driver, error) {
	r, err := e.Store.Run(ctx, k.Owner, k.Run)
	if err == nil {
		err = dare(r)
	}
	if err != nil {
		return nil, err
	}
	recs, a, tree, err := e.recorded(ctx, r.Owner, r.ID)
	if err != nil {
		return nil, err
	}
	d := e.newDriver(a, tree, r)
	if err := d.takeIn(recs); err != nil {
		return nil, e.why(r.ID, recs, err)
	}
	d.base = d.f.now
	return d, e.Store.Settle(ctx, k.Owner, k.Run, e.Holder)
}

// mayTry says whether a run of which this process has just taken the lease may be gone on with: whoever took it up
// before may have died of reading it.
func mayTry(r journal.Run, force bool) error {
	if r.Tries <= journal.MaxTries || force {
		return nil
	}
	return fmt.Errorf("%w: %s; ‘sibyl run resume --force %s’ tries again, ‘sibyl run stop %s’ ends it", ErrSetAside,
		WhySetAside(r).Text, r.ID, r.ID)
}

const whySetAside bt.Reason = "run.set_aside: run {run} was taken up {tries} times, and each time the program ended " +
	"before it had read the run's records"

// Reasons are the sentences that say why a run of any assistant rests.
func Reasons() []bt.Reason { return []bt.Reason{whySetAside, bt.TwoSentences} }

// WhySetAside says why a run is set aside.
func WhySetAside(r journal.Run) bt.Why { return whySetAside.With(r.ID, journal.MaxTries) }

// foldable says whether it is safe to go through a run's records for somebody who only looks: not while nobody knows
// that whoever took it up survived that.
func (e *Engine) foldable(ctx context.Context, owner journal.Owner, id string) error {
	r, err := e.Store.Run(ctx, owner, id)
	switch {
	case err != nil:
		return err
	case r.SetAside():
		return mayTry(journal.Run{ID: id, Tries: r.Tries + 1}, false)
	case r.Tries > 0:
		return fmt.Errorf("run %s: %w", id, errUnsettled)
	}
	return nil
}

// errUnsettled says that a run was taken up, and has not settled since.
var errUnsettled = errors.New(
	"it is being resumed, or the program that tried ended before it had read the run's records; try again later")

// Errors of runs that a process looks for by itself.
var (
	ErrNoRoom   = errors.New("this process drives as many runs as it may")
	ErrSetAside = errors.New("the run is set aside")
)

// How long nobody takes up by itself a run that could not go on: one that is suspended the longer, the more often it
// was suspended since it last came further; one that so many processes took up in vain is set aside.
const (
	firstRest   = time.Minute
	longestRest = time.Hour
	inVain      = 5
	setAside    = 24 * time.Hour
)

// Submit records a run and drives it, as Start does, if this process has room; else the run waits for any process that
// has: Live is nil then. If ctx is cancelled before the run is recorded, there is none; after that it goes on.
func (e *Engine) Submit(ctx context.Context, s Spec) (journal.Key, *Live, error) {
	a, tree, err := e.startable(s)
	if err != nil {
		return journal.Key{}, nil, err
	}
	if err := e.enter(ctx, s.Owner, false); errors.Is(err, ErrNoRoom) {
		b, err := e.beginning(s, true)
		if err != nil {
			return journal.Key{}, nil, err
		}
		k := journal.Key{Owner: s.Owner, Run: b.Run.ID}
		if err = e.keep(ctx, b); err == nil {
			e.listeners.tell(k)
		}
		return k, nil, err
	} else if err != nil {
		return journal.Key{}, nil, err
	}
	live, err := e.begin(ctx, context.WithoutCancel(ctx), a, tree, s, e.exit)
	if err != nil {
		return journal.Key{}, nil, err
	}
	return live.key(), live, nil
}

// TakeUp resumes a run that a process has found by itself, if there is room.
func (e *Engine) TakeUp(ctx context.Context, k journal.Key) (*Live, error) {
	return e.Resume(ctx, k.Owner, k.Run, AtOnce, Unasked)
}

// restIfBroken has a run rest that can't go on here: what keeps it from going on, such as an end that the journal does
// not take, would do so again at once. A journal that is away or locked may be back for the next one.
func (d *driver) restIfBroken(ctx context.Context) {
	if d.err == nil || errors.Is(d.err, ErrLeft) || lostBy(d.err) != LostBroken {
		return
	}
	d.e.Log.WarnContext(ctx, "a run can't go on here", "run_id", d.ID, "err", logged(d.err))
	if !isAway(d.err) {
		d.rest = d.e.Clock.Now().Add(firstRest)
	}
}

// isAway says that the journal may be back a moment later.
func isAway(err error) bool {
	return errors.Is(err, journal.ErrUnreachable) || errors.Is(err, journal.ErrUnsure) ||
		errors.Is(err, journal.ErrLocked)
}

// Vacancy tells of room that may have become free, for whoever looks for runs.
func (e *Engine) Vacancy() <-chan struct{} { return e.room.vacancy }

// Room is how many more runs this process may drive; less than 0: any number.
func (e *Engine) Room() int { return e.room.left() }

// takenInVain is how often the run was taken up since it last came further, or was left in order.
func (d *driver) takenInVain() (n int) {
	for _, r := range slices.Backward(d.view.Records()) {
		if r.Kind != KindResume {
			break
		}
		n++
	}
	return n
}

// restOfSuspended is how long the run rests that was just suspended.
func (d *driver) restOfSuspended() time.Duration {
	rest := firstRest / 2
	for _, r := range slices.Backward(d.view.Records()) {
		switch r.Kind {
		case KindResume, KindLeave:
		case KindSuspend:
			rest = min(2*rest, longestRest)
		default:
			return max(rest, firstRest)
		}
	}
	return max(rest, firstRest)
}

// Cancel asks a run to stop. A run that somebody drives stops soon after; one that nobody drives ends here, with
// nothing of it performed, even if this build can't fold it, or whoever took it up before may have died of that: then
// its fault says so, and it is not gone through again.
func (e *Engine) Cancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	if live := e.Live(id); live != nil && live.owner == owner {
		live.Cancel(reason)
		return nil
	}
	k := journal.Key{Owner: owner, Run: id}
	var live *Live
	err := e.takeOver(ctx, k, func() (rest time.Time, err error) {
		if err := e.appendCancel(ctx, k, reason); err != nil {
			return rest, err
		}
		d, err := e.settled(ctx, k, func(r journal.Run) error {
			if r.Tries > 1 { // this one is counted, too
				return errDiedOf
			}
			return nil
		})
		switch {
		case errors.Is(err, ErrIncompatible) || errors.Is(err, errDiedOf):
			if err = e.abandon(ctx, k, err); err == nil {
				e.unhold(k)
			}
		case err == nil:
			live, err = d.start(ctx, true)
		}
		return rest, err
	})
	switch {
	case isLeased(err):
		return e.appendCancel(ctx, k, reason)
	case err != nil || live == nil:
		return err
	}
	_, err = live.Wait(ctx)
	return err
}

// errDiedOf is why a run is ended without being gone through.
var errDiedOf = errors.New("the program that last resumed it ended before it had read the run's records")

// appendCancel leaves the request for the driver, which may be appending at the same moment.
func (e *Engine) appendCancel(ctx context.Context, k journal.Key, reason string) error {
	data, err := encode(KindCancel, CancelRecord{Reason: reason})
	if err != nil {
		return err
	}
	return againstOthers(k, func() error {
		r, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err != nil {
			return err
		}
		rec := e.record(r.Records, e.Clock.Now(), KindCancel, data)
		return e.commit(ctx, k, []journal.Record{rec}, nil)
	})
}

// mostConflicts is how often what another process appended first is made room for.
const mostConflicts = 20

// againstOthers does what appends to a run, again where another process appended first.
func againstOthers(k journal.Key, do func() error) error {
	for range mostConflicts {
		if err := do(); !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w, again and again", k.Run, journal.ErrConflict)
}
