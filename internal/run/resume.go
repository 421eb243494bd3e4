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
	Forced  ResumeOption = iota // one that is set aside, too: it is tried once more
	AtOnce                      // it waits for no room: ErrNoRoom if there is none
	Unasked                     // a process has found it by itself: one that was taken up in vain again and again rests, and is ErrSetAside
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
		r, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err == nil {
			err = counted(r, slices.Contains(how, Forced))
		}
		if err != nil {
			return rest, err
		}
		d, err := e.refold(ctx, r)
		if err != nil {
			return rest, err
		}
		if err := e.Store.Settle(ctx, k.Owner, k.Run, e.Holder); err != nil {
			return rest, err
		}
		if slices.Contains(how, Unasked) && d.takenInVain() >= inVain {
			return e.Clock.Now().Add(setAside), fmt.Errorf("run %s was taken up %d times and came no further: %w", d.ID, inVain, ErrSetAside)
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

// refold makes a driver that stands where a run's records end; ErrIncompatible if this build can't.
func (e *Engine) refold(ctx context.Context, r journal.Run) (d *driver, err error) {
	recs, a, tree, err := e.recorded(ctx, r.Owner, r.ID)
	if err != nil {
		return nil, err
	}
	d = e.newDriver(a, tree, r)
	for _, rec := range recs {
		if err := d.replay(rec); err != nil {
			return nil, e.why(r.ID, recs, err)
		}
	}
	return d, nil
}

// counted says whether a run of which this process has just taken the lease may be gone on with: whoever took it up
// before may have died of reading it.
func counted(r journal.Run, force bool) error {
	if r.Tries <= journal.MaxTries || force {
		return nil
	}
	return fmt.Errorf("%w: %s; ‘sibyl run resume --force %s’ tries again, ‘sibyl run cancel %s’ ends it", ErrSetAside, WhySetAside(r).Text, r.ID, r.ID)
}

const whySetAside bt.Reason = "run.set_aside: run {run} was taken up {tries} times, and each time the program ended before it had read the run's records"

// Reasons are the sentences that say why a run of any assistant rests.
func Reasons() []bt.Reason { return []bt.Reason{whySetAside} }

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
		return counted(journal.Run{ID: id, Tries: r.Tries + 1}, false)
	case r.Tries > 0:
		return fmt.Errorf("run %s: %w", id, errUnsettled)
	}
	return nil
}

// errUnsettled says that a run was taken up, and has not settled since.
var errUnsettled = errors.New("it is being resumed, or the program that tried ended before it had read the run's records; try again later")
