package run

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Observer is told what this process does with runs, to count, time and trace it. It is told no words: not what was
// asked, answered or called with. It is called by the goroutines that do the work, so it returns at once, and it is
// safe for concurrent use. The contexts that it gives come from those that it is given.
type Observer interface {
	// Drive tells that this process drives a run from here on. All of it happens under the context that it gives.
	// parted, which is not nil, is called once, when the run is not driven here any more.
	Drive(ctx context.Context, d Driven) (_ context.Context, parted func(Stand))
	// Perform tells of an effect, which is performed under the context that it gives. done, which is not nil, is called
	// once it is.
	Perform(ctx context.Context, e Performed) (_ context.Context, done func(Effected))
	// Commit tells of a write of records to the journal, whether it succeeded or not.
	Commit(ctx context.Context, took time.Duration, err error)
}

// Driven is a run that this process drives. TakenUp says that it was driven before.
type Driven struct {
	Run, Session, Assistant string
	TakenUp                 bool
}

// Stand is how a run stands when a process stops driving it: as its journal.Status says where it has ended, else as one
// of the statuses below. Reason is its assistant's word for why; of a run that is lost, a word of this package.
type Stand struct{ Status, Reason string }

// How a run stands that has not ended.
const (
	StandsSuspended = "suspended" // an effect can't be performed for now
	StandsLeft      = "left"      // this process drains
	StandsLost      = "lost"      // this process can't drive it any longer
)

// Why a run is lost.
const (
	LostTaken  = "taken"  // another process drives it
	LostOpen   = "open"   // what it works with can't be opened
	LostBroken = "broken" // anything else, such as a journal that takes no records
)

// Performed is an effect that is performed, or looked up where it was under way in a crash.
type Performed struct {
	Op   uint64
	Kind string
	Leaf string // that asks for it
	Once bool
}

// Effected is how an effect went. Fault is the kind of its fault, KindUnsorted if that has none, and "" if there is
// none.
type Effected struct {
	Took      time.Duration
	Fault     string
	Found     bool // it was performed before a crash
	Suspended bool // it is no end: the effect is performed again when the run is resumed
}

// KindUnsorted stands for the kind of a fault that has none.
const KindUnsorted = "unsorted"

// observe tells that the run is driven here from now on.
func (d *driver) observe(ctx context.Context, resumed bool) context.Context {
	if d.e.Observer == nil {
		return ctx
	}
	ctx, d.parted = d.e.Observer.Drive(ctx, Driven{Run: d.ID, Session: d.Session, Assistant: d.a.Name,
		TakenUp: resumed && !d.waited()})
	return ctx
}

// waited says that nobody has driven the run before this process.
func (d *driver) waited() bool { return d.next == 1 && d.view.Start().Waits }

// part tells how the run stands that is not driven here any more. lost says why, of one that is lost.
func (d *driver) part(lost string) {
	if d.parted == nil {
		return
	}
	s := Stand{string(d.end.Status), d.end.Reason}
	switch {
	case d.suspended:
		s.Status = StandsSuspended
	case errors.Is(d.err, ErrLeft):
		s.Status = StandsLeft
	case d.err != nil:
		s = Stand{StandsLost, lost}
	}
	d.parted(s)
}

// lostBy says why a run is lost.
func lostBy(err error) string {
	if isConflict(err) || isLeased(err) || errors.Is(err, journal.ErrEnded) || errors.Is(err, journal.ErrNotFound) {
		return LostTaken
	}
	return LostBroken
}

// observed performs an effect, and tells of it.
func (d *driver) observed(ctx context.Context, e asked, w way) *CompletionRecord {
	if d.e.Observer == nil {
		return d.run(ctx, e, w)
	}
	began := d.e.Clock.Now()
	ctx, done := d.e.Observer.Perform(ctx, Performed{Op: e.Op, Kind: e.Kind, Leaf: e.Leaf, Once: e.Once})
	c := d.run(ctx, e, w)
	done(Effected{Took: d.e.Clock.Now().Sub(began), Fault: kindOf(c.Err), Found: c.Found, Suspended: c.suspended})
	return c
}

func kindOf(f *bt.Fault) string {
	if f == nil {
		return ""
	}
	return cmp.Or(f.Kind, KindUnsorted)
}

// commit appends records to those of a run; with end, it ends. If another has gone on while the journal was away, the
// fence tells.
func (e *Engine) commit(ctx context.Context, k journal.Key, recs []journal.Record, end *journal.End) error {
	return e.observeCommit(ctx, func() error {
		return whileAway(ctx, e.Clock, e.Lease, func() error { return e.Store.Append(ctx, k.Owner, k.Run, recs, end) })
	})
}

// observeCommit writes to the journal, and tells of it.
func (e *Engine) observeCommit(ctx context.Context, write func() error) error {
	began := e.Clock.Now()
	err := write()
	if e.Observer != nil {
		e.Observer.Commit(ctx, e.Clock.Now().Sub(began), err)
	}
	return err
}
