package run

import (
	"context"
	"errors"
	"time"

	"sibyl/internal/journal"
)

// ErrWithdrawn is the cause of the context of an effect that its run wants no longer: the tree has given it up, or the run is to stop. A
// process that only leaves a run to others ends its effects with another cause.
var ErrWithdrawn = errors.New("the effect is withdrawn")

// withinLook is how long a run that another process drives is watched before its row is looked at again.
const withinLook = 3 * time.Second

// Within performs an effect of a run by another run: it sees to it that the run of that id is driven, here or elsewhere, and gives its end.
// A run that is not there yet is begun with what spec gives, in the room of the one whose effect it is: for who waits for a run must not
// hold the room that the other wants. The id makes it repeatable: after a crash the same run goes on. If the effect is withdrawn, so
// is the run; where this process only stops, whoever goes on with the effect finds it as it is.
func (e *Engine) Within(ctx context.Context, k journal.Key, spec func(ctx context.Context) (Spec, error)) (EndRecord, error) {
	for first := true; ; first = false {
		live, ended, err := e.goOnWithin(ctx, k, spec)
		switch {
		case ctx.Err() != nil:
			return EndRecord{}, e.leaveWithin(ctx, k)
		case ended:
			return ReadEnd(ctx, e.Store, k.Owner, k.Run)
		case first && errors.Is(err, journal.ErrExists), isLeased(err), errors.Is(err, journal.ErrEnded): // somebody else was there before
			continue
		case isAway(err) || err == nil && live == nil:
			e.lookWithin(ctx, k)
			continue
		case err != nil:
			return EndRecord{}, err
		}
		end, err := live.Wait(ctx)
		switch {
		case errors.Is(err, ErrLeft): // this process stops, and so does the run whose effect it is
			<-ctx.Done()
		case err == nil && end.Status == journal.Running:
			return end, &Suspended{Fault: end.Fault}
		case err == nil:
			return end, nil
		case ctx.Err() == nil && !isAway(err) && lostBy(err) == LostBroken:
			return EndRecord{}, err
		}
	}
}

// goOnWithin sees to it that a run is driven: live is nil where another process does.
func (e *Engine) goOnWithin(ctx context.Context, k journal.Key, spec func(ctx context.Context) (Spec, error)) (live *Live, ended bool, err error) {
	row, err := e.Store.Run(ctx, k.Owner, k.Run)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case errors.Is(err, journal.ErrNotFound):
		live, err = e.beginWithin(ctx, k, spec)
		return live, false, err
	case err != nil || row.Status != journal.Running:
		return nil, err == nil, err
	}
	if live = e.Live(k.Run); live == nil && !e.Driven(row) {
		live, err = e.resumeWithin(ctx, k)
	}
	return live, false, err
}

// beginWithin begins a run, in the room of another.
func (e *Engine) beginWithin(ctx context.Context, k journal.Key, spec func(context.Context) (Spec, error)) (*Live, error) {
	s, err := spec(ctx)
	if err != nil {
		return nil, err
	}
	s.Owner, s.ID = k.Owner, k.Run
	a, tree, err := e.startable(s)
	if err != nil {
		return nil, err
	}
	exit, err := e.enterWithin()
	if err != nil {
		return nil, err
	}
	live, err := e.begin(ctx, context.WithoutCancel(ctx), a, tree, s, exit)
	if err != nil {
		exit()
	}
	return live, err
}

func (e *Engine) resumeWithin(ctx context.Context, k journal.Key) (*Live, error) {
	exit, err := e.enterWithin()
	if err != nil {
		return nil, err
	}
	return e.resume(context.WithoutCancel(ctx), k, anyhow, exit)
}

// enterWithin counts one more run, which takes no room.
func (e *Engine) enterWithin() (exit func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leaving {
		return nil, ErrDraining
	}
	e.entered.Add(1)
	return e.entered.Done, nil
}

// lookWithin watches a run that another process drives, for a while.
func (e *Engine) lookWithin(ctx context.Context, k journal.Key) {
	looking, stop := context.WithTimeout(ctx, withinLook)
	defer stop()
	for _, err := range e.Watch(looking, k.Owner, k.Run, 0) {
		if err != nil {
			pause, stop := e.Clock.After(awayPause)
			select {
			case <-pause:
			case <-ctx.Done():
			}
			stop()
			return
		}
	}
}

// leaveWithin is what is done of a run whose effect is no longer performed here.
func (e *Engine) leaveWithin(ctx context.Context, k journal.Key) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ErrWithdrawn) {
		return cause
	}
	err := e.Cancel(context.WithoutCancel(ctx), k.Owner, k.Run, "the run that it belongs to wants it no longer")
	if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrEnded) {
		err = nil
	}
	return errors.Join(cause, err)
}
