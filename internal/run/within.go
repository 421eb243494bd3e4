package run

import (
	"context"
	"errors"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// ErrWithdrawn is the cause with which an effect's context is cancelled if the tree withdraws the effect or the run is
// to stop. A process that only leaves a run to others cancels with another cause.
var ErrWithdrawn = errors.New("the effect is withdrawn")

// errUnwanted is the reason for stopping a run whose effect was withdrawn.
var errUnwanted = errors.New("the run that it belongs to wants it no longer")

// withinLook is the time between two looks at a run that another process drives.
const withinLook = time.Second

// Within performs an effect of a run by another run, k: it begins k with spec if it does not exist, resumes it if
// nobody drives it, waits for it, and returns its end record, whatever its status. k takes no room of its own, so that
// a run that waits for another never holds the room that the other needs. Because k is fixed, a repetition after a
// crash continues the same run. Once effects must not use it, since they are not repeated.
//
// If the effect is withdrawn, k is asked to stop; if this process only stops, k stays open for whoever resumes the
// effect. If k is suspended, the error is a *Suspended and the record shows what there is; without a record, if this
// process lacks something for k, or the journal can't be written to. An error of spec is returned unchanged; after any
// other error, such as journal.ErrExists, k is asked to stop if it exists. It waits for an unreachable journal as long
// as the effect is wanted.
func (e *Engine) Within(
	ctx context.Context, k journal.Key, spec func(ctx context.Context) (Spec, error),
) (EndRecord, error) {
	for existed := false; ; {
		end, err := e.driveWithin(ctx, k, spec)
		switch wrong, is := errors.AsType[*specError](err); {
		case err == nil && end.Status == journal.Running:
			return end, &Suspended{Fault: end.Fault}
		case err == nil:
			return end, nil
		case ctx.Err() != nil:
			return EndRecord{}, e.leaveWithin(ctx, k)
		case isAway(err):
			pause(ctx, e.Clock, awayPause)
		case is:
			return EndRecord{}, wrong.error
		case errors.Is(err, errElsewhere):
			pause(ctx, e.Clock, withinLook)
		// this process stops, and so does the run whose effect it is
		case errors.Is(err, ErrLeft), errors.Is(err, ErrDraining):
			<-ctx.Done()
		case errors.Is(err, journal.ErrExists) && !existed: // somebody else was there before
			existed = true
			continue
		// whoever resumes both may lack nothing, and write
		case errors.As(err, new(*lackError)), journal.CannotWrite(err):
			return EndRecord{}, &Suspended{&bt.Fault{Reason: err.Error()}, err}
		case lossReason(err) == LostTaken:
			pause(ctx, e.Clock, awayPause)
		default:
			return e.giveUpWithin(ctx, k, err)
		}
		existed = false
	}
}

// errElsewhere says that another process drives the run.
var errElsewhere = errors.New("another process drives it")

// specError wraps an error of spec, or of a session that does not exist.
type specError struct{ error }

func (s *specError) Unwrap() error { return s.error }

// driveWithin begins or resumes the run if no process drives it, and returns its end.
func (e *Engine) driveWithin(
	ctx context.Context, k journal.Key, spec func(ctx context.Context) (Spec, error),
) (EndRecord, error) {
	row, err := e.Store.Run(ctx, k.Owner, k.Run)
	var live *Live
	switch {
	case ctx.Err() != nil:
		return EndRecord{}, ctx.Err()
	case errors.Is(err, journal.ErrNotFound):
		live, err = e.beginWithin(ctx, k, spec)
	case err != nil:
	case row.Status != journal.Running:
		return ReadEnd(ctx, e.Store, k.Owner, k.Run)
	default:
		if live = e.liveRun(k); live == nil {
			live, err = e.resumeWithin(ctx, k, row)
		}
	}
	if err != nil {
		return EndRecord{}, err
	}
	return live.Wait(ctx)
}

// beginWithin begins the run k within the room of the run in ctx. The error is a specError if spec fails, or names a
// session that does not exist.
func (e *Engine) beginWithin(
	ctx context.Context, k journal.Key, spec func(context.Context) (Spec, error),
) (*Live, error) {
	s, err := spec(ctx)
	if err != nil {
		return nil, &specError{err}
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
	// Beginning is not cancelled: a run that may or may not be recorded could not be withdrawn.
	live, err := e.recordAndDrive(context.WithoutCancel(ctx), lifeWithin(ctx), a, tree, s, exit)
	if errors.Is(err, journal.ErrNotFound) { // the session that it names
		err = &specError{err}
	}
	return live, err
}

// resumeWithin resumes a run, unless another process drives it.
func (e *Engine) resumeWithin(ctx context.Context, k journal.Key, row journal.Run) (*Live, error) {
	if e.Driven(row) {
		return nil, errElsewhere
	}
	exit, err := e.enterWithin()
	if err != nil {
		return nil, err
	}
	return e.resumeNow(lifeWithin(ctx), k, nil, exit)
}

// enterWithin counts one more active run, without taking room.
func (e *Engine) enterWithin() (exit func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.leaving {
		return nil, ErrDraining
	}
	e.entered.Add(1)
	return e.entered.Done, nil
}

// lifeWithin gives the context of a run that is driven for an effect: only withdrawing the effect cancels it.
func lifeWithin(ctx context.Context) context.Context {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), ErrWithdrawn) {
			end(errUnwanted)
		}
	})
	return life
}

// leaveWithin withdraws the run if its effect was withdrawn, not if this process only stops.
func (e *Engine) leaveWithin(ctx context.Context, k journal.Key) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ErrWithdrawn) {
		return cause
	}
	live := e.liveRun(k)
	err := errors.Join(cause, e.Withdraw(ctx, k))
	if live != nil { // a process that ends with the run whose effect this was must not leave the other one open
		grace, stop := e.Clock.After(e.StopGrace)
		defer stop()
		select {
		case <-live.done:
		case <-grace:
		}
	}
	return err
}

// Withdraw asks a run to stop that performs an effect of another one; it does nothing if there is none, or it has
// ended. It ignores cancellation of ctx, since the run must not continue. It waits for an unreachable journal as long
// as a lease.
func (e *Engine) Withdraw(ctx context.Context, k journal.Key) error {
	ctx = context.WithoutCancel(ctx)
	err := retryAway(ctx, e.Clock, e.Lease, func() error { return e.Cancel(ctx, k.Owner, k.Run, errUnwanted.Error()) })
	if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrEnded) {
		return nil
	}
	return err
}

// giveUpWithin returns the end of a run that can't be driven here, if it has ended; else it withdraws the run, for
// which nobody waits any more, and returns err.
func (e *Engine) giveUpWithin(ctx context.Context, k journal.Key, err error) (EndRecord, error) {
	if end, endErr := ReadEnd(ctx, e.Store, k.Owner, k.Run); endErr == nil {
		return end, nil
	}
	if failed := e.Withdraw(ctx, k); failed != nil {
		e.Log.WarnContext(ctx, "a run goes on that nobody waits for", "run_id", k.Run, "err", logText(failed))
	}
	return EndRecord{}, err
}
