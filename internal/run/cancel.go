package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sibyl/internal/journal"
)

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
