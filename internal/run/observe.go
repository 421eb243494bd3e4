package run

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Observer receives what this process does with runs, to count, time and trace it. It never gets a user's text: no
// questions, answers or arguments. The goroutines that do the work call it, so it must return at once and be safe for
// concurrent use. The contexts that it returns derive from those that it is given.
type Observer interface {
	// Drive is called when this process begins to drive a run, which it does under the returned context. parted, which
	// is not nil, is called once, when this process stops driving the run.
	Drive(ctx context.Context, d DrivenRun) (_ context.Context, parted func(StopState))
	// Perform is called before an effect is performed, under the returned context. done, which is not nil, is called
	// afterwards.
	Perform(ctx context.Context, e PerformedEffect) (_ context.Context, done func(EffectResult))
	// Commit is called after each write of records to the journal, whether it succeeded or not.
	Commit(ctx context.Context, took time.Duration, err error)
}

// DrivenRun is a run that this process begins to drive. TakenUp says that it was resumed.
type DrivenRun struct {
	Run, Session, Assistant string
	TakenUp                 bool
}

// StopState is the state of a run when a process stops driving it. Status is its journal.Status if it has ended, else
// one of the statuses below. Reason is the assistant's; for a lost run, one of the Lost constants.
type StopState struct{ Status, Reason string }

// Statuses of runs that have not ended.
const (
	StandsSuspended = "suspended" // an effect can't be performed for now
	StandsLeft      = "left"      // this process drains
	StandsLost      = "lost"      // this process can't drive it any longer
)

// Why a run is lost.
const (
	LostTaken  = "taken"  // another process drives it
	LostOpen   = "open"   // what it works with can't be opened
	LostBroken = "broken" // anything else, such as a journal that refuses records
)

// PerformedEffect is an effect that begins: it is performed or, if a crash interrupted it, looked up.
type PerformedEffect struct {
	Op   uint64
	Kind string
	Leaf string // that asks for it
	Once bool
}

// EffectResult is the result of an effect. Fault is the kind of its fault: KindUnsorted if that has none, and ""
// without a fault.
type EffectResult struct {
	Took      time.Duration
	Fault     string
	Found     bool // it was performed before a crash
	Suspended bool // not a result: the effect is performed again when the run is resumed
}

// KindUnsorted is the kind of a fault without a kind.
const KindUnsorted = "unsorted"

// reportDriven tells the observer that the run is driven here from now on.
func (d *driver) reportDriven(ctx context.Context, resumed bool) context.Context {
	if d.e.Observer == nil {
		return ctx
	}
	ctx, d.parted = d.e.Observer.Drive(ctx, DrivenRun{Run: d.ID, Session: d.Session, Assistant: d.a.Name,
		TakenUp: resumed && !d.wasNeverDriven()})
	return ctx
}

// wasNeverDriven reports whether no process has driven the run before: it waited for room.
func (d *driver) wasNeverDriven() bool { return d.next == 1 && d.view.Start().Waits }

// reportParted tells the observer the state of the run that is no longer driven here. lost says why, if the run is
// lost.
func (d *driver) reportParted(lost string) {
	if d.parted == nil {
		return
	}
	s := StopState{string(d.end.Status), d.end.Reason}
	switch {
	case d.suspended:
		s.Status = StandsSuspended
	case errors.Is(d.err, ErrLeft):
		s.Status = StandsLeft
	case d.err != nil:
		s = StopState{StandsLost, lost}
	}
	d.parted(s)
}

// lossReason says why a run is lost.
func lossReason(err error) string {
	if isConflict(err) || isLeased(err) || errors.Is(err, journal.ErrEnded) || errors.Is(err, journal.ErrNotFound) {
		return LostTaken
	}
	return LostBroken
}

// performObserved performs an effect, and reports it to the observer.
func (d *driver) performObserved(ctx context.Context, e openEffect, w performMode) *CompletionRecord {
	if d.e.Observer == nil {
		return d.performEffect(ctx, e, w)
	}
	began := d.e.Clock.Now()
	ctx, done := d.e.Observer.Perform(ctx, PerformedEffect{Op: e.Op, Kind: e.Kind, Leaf: e.Leaf, Once: e.Once})
	c := d.performEffect(ctx, e, w)
	done(EffectResult{Took: d.e.Clock.Now().Sub(began), Fault: faultKind(c.Err), Found: c.Found, Suspended: c.suspended})
	return c
}

func faultKind(f *bt.Fault) string {
	if f == nil {
		return ""
	}
	return cmp.Or(f.Kind, KindUnsorted)
}

// commit appends records to a run; if end is given, they end the run. It tries again while the journal can't be
// reached; if another process has appended meanwhile, the fence gives a conflict.
func (e *Engine) commit(ctx context.Context, k journal.Key, recs []journal.Record, end *journal.End) error {
	return e.observeCommit(ctx, func() error {
		return retryAway(ctx, e.Clock, e.Lease, func() error { return e.Store.Append(ctx, k.Owner, k.Run, recs, end) })
	})
}

// observeCommit writes to the journal, and reports that to the observer.
func (e *Engine) observeCommit(ctx context.Context, write func() error) error {
	began := e.Clock.Now()
	err := write()
	if e.Observer != nil {
		e.Observer.Commit(ctx, e.Clock.Now().Sub(began), err)
	}
	return err
}
