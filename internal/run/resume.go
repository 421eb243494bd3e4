package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Resume takes up a run that nobody drives: it folds the records and performs what is outstanding. It waits for room as Start does.
// ErrIncompatible if this build can't; the run stays open then, for the build that wrote it or for Cancel.
func (e *Engine) Resume(ctx context.Context, owner journal.Owner, id string) (*Live, error) {
	if err := e.enter(ctx, owner); err != nil {
		return nil, err
	}
	return e.resume(ctx, journal.Key{Owner: owner, Run: id}, anyhow, e.exit)
}

// Force is Resume of a run that may be set aside: it is tried once more.
func (e *Engine) Force(ctx context.Context, owner journal.Owner, id string) (*Live, error) {
	if err := e.enter(ctx, owner); err != nil {
		return nil, err
	}
	return e.resume(ctx, journal.Key{Owner: owner, Run: id}, forced, e.exit)
}

// ResumeNow is Resume that waits for no room: ErrNoRoom if there is none.
func (e *Engine) ResumeNow(ctx context.Context, owner journal.Owner, id string) (*Live, error) {
	if err := e.tryEnter(); err != nil {
		return nil, err
	}
	return e.resume(ctx, journal.Key{Owner: owner, Run: id}, anyhow, e.exit)
}

// ForceNow is Force that waits for no room: ErrNoRoom if there is none.
func (e *Engine) ForceNow(ctx context.Context, owner journal.Owner, id string) (*Live, error) {
	if err := e.tryEnter(); err != nil {
		return nil, err
	}
	return e.resume(ctx, journal.Key{Owner: owner, Run: id}, forced, e.exit)
}

// permit is under which conditions a run is taken up: also one that is set aside, and however it stands or as may says.
type permit struct {
	force bool
	may   func(*driver) error
}

// The permits of those whom a person asked.
var (
	anyhow = permit{may: func(*driver) error { return nil }}
	forced = permit{force: true, may: anyhow.may}
)

// resume takes up a run, for which there is room, if it may go on as it stands. exit is called when it is driven no longer, or after an error.
func (e *Engine) resume(ctx context.Context, k journal.Key, p permit, exit func()) (live *Live, err error) {
	err = e.takeOver(ctx, k, func() (rest time.Time, err error) {
		r, err := e.Store.Run(ctx, k.Owner, k.Run)
		if err == nil {
			err = counted(r, p.force)
		}
		if err != nil {
			return rest, err
		}
		d, recs, err := e.refold(ctx, r)
		switch {
		case incompatible(err):
			return rest, e.incompatibility(k.Run, recs, err)
		case err != nil:
			return rest, err
		}
		if err := e.Store.Settle(ctx, k.Owner, k.Run, e.Holder); err != nil {
			return rest, err
		}
		if err := p.may(d); err != nil {
			return d.rest, err
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

// refold makes a driver that stands where a run's records end. The records come with an error, too, if they can be read.
func (e *Engine) refold(ctx context.Context, r journal.Run) (*driver, []journal.Record, error) {
	recs, err := e.Store.Records(ctx, r.Owner, r.ID, 0)
	if err != nil {
		return nil, nil, err
	}
	var d *driver
	a, tree, err := e.treeOf(ctx, r.Owner, recs)
	if err == nil {
		d = e.newDriver(a, tree, r)
		for i := 0; i < len(recs) && err == nil; i++ {
			var body any
			if body, err = d.f.read(recs[i]); err == nil {
				err = d.replayed(recs[i], body)
			}
		}
	}
	if err != nil {
		return nil, recs, fmt.Errorf("run %s: %w", r.ID, err)
	}
	return d, recs, nil
}

// counted says whether a run of which this process has just taken the lease may be gone on with: whoever took it up before may have died of
// reading it.
func counted(r journal.Run, force bool) error {
	if r.Tries <= journal.MaxTries || force {
		return nil
	}
	return fmt.Errorf("%w: %s; ‘sibyl run resume --force %s’ tries again, ‘sibyl run cancel %s’ ends it", ErrSetAside, WhySetAside(r), r.ID, r.ID)
}

const whySetAside bt.Reason = "run %s was taken up %d times, and each time the program ended before it had read the run's records"

// Reasons are the sentences that say why a run of any assistant rests.
func Reasons() []bt.Reason { return []bt.Reason{whySetAside} }

// WhySetAside says why a run is set aside.
func WhySetAside(r journal.Run) string { return whySetAside.With(r.ID, journal.MaxTries) }

// foldable says whether it is safe to go through a run's records for somebody who only looks: not while nobody knows that whoever took it
// up survived that.
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
