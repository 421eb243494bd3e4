package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"sibyl/internal/journal"
)

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
	return errors.Is(err, journal.ErrUnreachable) || errors.Is(err, journal.ErrUnsure) || errors.Is(err, journal.ErrLocked)
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
