package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/bt"
)

// mostTimers bounds the steps of a replay that take in nothing but a timer of the tree: a tree that only waits must not
// keep it for ever.
const mostTimers = 10_000

// replayer takes what came into a run through a tree.
type replayer struct {
	e    *Engine
	a    *Assistant
	tree *bt.Tree
	own  bool
	p    *past
	f    *folded

	view      *View
	changed   *View // with other texts; nil: they are the same
	pastFirst bool

	stands    map[uint64]bt.Effect // by operation of the recorded run: the effect of the replay that gets its completion
	means     map[uint64]uint64    // the reverse, by operation of the replay
	claimed   map[uint64]bool      // operations of the recorded run that the replay asked for
	told      map[uint64]bool      // … and those of which a difference said that it did not
	delivered map[int64]bool       // by record
	parted    bool                 // the decisions differ: from here on, only equal requests are answered
	waits     bool                 // for an effect that no record answers, so that what it does not do tells nothing
	at        int64                // the last record taken in
	timers    int
	found     *Replayed
}

func (r *replayer) run(ctx context.Context) error {
	r.f = newFolded(r.tree)
	if err := r.give(); err != nil {
		return err
	}
	for in, at := (bt.Input{}), (Moment{}); ; {
		if err := r.step(ctx, in, at); err != nil {
			return err
		}
		if r.f.over() || r.f.stalled() || r.enough() {
			break
		}
		var more bool
		if in, at, more = r.next(); !more {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return r.conclude()
}

// give sets the keys that the run began with. Those that nothing in this build reads any more may be missing.
func (r *replayer) give() error {
	declared := map[string]bool{}
	for _, p := range r.a.Options.Given {
		declared[p.Name] = true
	}
	given := r.p.start.Given
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if err := r.tree.SetJSON(r.f.state, key, given[key]); err != nil && declared[key] {
			return fmt.Errorf("%w: what the run was given does not fit: %w", ErrUnfit, err)
		}
	}
	return nil
}

func (r *replayer) enough() bool { return !r.pastFirst && len(r.found.Differences) > 0 }

// next gives what the tree takes in next: the earliest record that it waits for, or a timer of its own before it.
func (r *replayer) next() (bt.Input, Moment, bool) {
	rec, found := r.nextRecord()
	due := r.f.last.Due
	if due != 0 && (found && due < rec.now && !r.outrun(due, rec.record) || !found && len(r.f.open) == 0 && !r.exhausted()) {
		r.timers++
		r.f.now = max(r.f.now, due)
		return bt.Input{Now: r.f.now}, Moment{Record: r.at, Timer: due}, r.timers <= mostTimers
	}
	if !found {
		return bt.Input{}, Moment{}, false
	}
	r.delivered[rec.record] = true
	r.at = rec.record
	r.f.now = max(r.f.now, rec.now)
	in := bt.Input{Now: r.f.now}
	if c := rec.done; c != nil {
		op := r.stands[c.Op].Op
		r.f.close(op)
		in.Done = []bt.Completion{{Op: op, Ref: rec.record, Result: c.Result, Err: c.Err}}
	}
	return in, r.moment(rec.record), true
}

// nextRecord is the earliest record not taken in yet that is a time, or completes what is asked for.
func (r *replayer) nextRecord() (input, bool) {
	for _, in := range r.p.inputs {
		if r.delivered[in.record] {
			continue
		}
		if in.done == nil {
			return in, true
		}
		if e, ok := r.stands[in.done.Op]; ok {
			if _, open := r.f.open[e.Op]; open {
				return in, true
			}
		}
	}
	return input{}, false
}

// outrun says that the recorded run had the same timer, and the record still came first: both were due at once.
func (r *replayer) outrun(due, record int64) bool {
	s := r.p.before(record)
	if !s.exact {
		return r.own
	}
	return s.due == due
}

// exhausted says that all there is has been taken in, as it was recorded, and that the run's tree had not ended by then.
func (r *replayer) exhausted() bool {
	return !r.parted && len(r.delivered) == len(r.p.inputs) && !r.p.over()
}

// moment is the step that takes in a record.
func (r *replayer) moment(record int64) Moment {
	n := slices.IndexFunc(r.p.steps, func(s *pastStep) bool { return s.Record == record })
	return Moment{Record: record, Step: n + 1}
}

// step takes an input in and compares what the tree decides on it.
func (r *replayer) step(ctx context.Context, in bt.Input, at Moment) error {
	if at.Record == 0 && at.Timer == 0 {
		at = r.moment(0)
	}
	r.waits = slices.ContainsFunc(r.f.order, func(op uint64) bool { return r.means[op] == 0 })
	told := stepTold(r.f, r.tree, in, at.Record, r.e.Redact)
	r.found.Steps++
	r.found.Effects += len(r.f.last.Start)
	r.found.Trace = append(r.found.Trace, told)
	if err := r.ungiven(); err != nil {
		return err
	}
	was := &pastStep{known: true, status: bt.Running.String()} // nothing was decided on a timer that the run had not
	if at.Timer == 0 {
		was = r.p.step(at.Record)
	}
	d, err := r.compare(ctx, was, at)
	if err != nil {
		return err
	}
	way := wayOf(was.Events, told.Events)
	switch {
	case d.Kind != "":
		d.Way = &way
		r.found.Differences = append(r.found.Differences, d)
	case r.found.Detour == nil && len(r.found.Differences) == 0 && was.known && (way.Same < len(way.Was) || way.Same < len(way.Would)):
		r.found.Detour = &Detour{Moment: at, Way: way}
	}
	return nil
}

// ungiven tells of a tree that broke because it reads a key that the run was not given.
func (r *replayer) ungiven() error {
	f := r.f.last.Fault
	if f == nil || f.Kind != kindTree {
		return nil
	}
	for _, p := range r.a.Options.Given {
		if _, given := r.p.start.Given[p.Name]; !given && strings.Contains(f.Reason, "{"+p.Name+"}") {
			return fmt.Errorf("%w: the tree reads {%s}, which the run was not given: %s", ErrUnfit, p.Name, f.Reason)
		}
	}
	return nil
}

// conclude says where the replay ended and, where all decisions were the same, what comes of them.
func (r *replayer) conclude() error {
	found := r.found
	switch {
	case r.enough():
		found.Reached = ReachedDifference
		return nil
	case r.f.over() || r.f.stalled():
		found.Reached = ReachedEnd
		if r.p.end == nil {
			found.Why = "the end of the run is not recorded"
		}
	case r.exhausted() && r.p.end == nil && r.p.stopped == nil && r.p.cancel == nil:
		found.Reached, found.Why = ReachedOpen, "the run has not ended"
	case r.exhausted():
		found.Reached, found.Why = ReachedStop, r.whyStopped()
	default:
		found.Reached, found.Why = ReachedCut, r.whyCut()
	}
	if found.Reached == ReachedCut || r.parted || r.p.end == nil {
		return nil
	}
	return r.compareOutcome()
}

func (r *replayer) whyStopped() string {
	if r.p.cancel != nil {
		return "the run was stopped: " + r.p.cancel.Reason
	}
	why := "the run ended though its tree had not"
	if r.p.end != nil && r.p.end.Fault != nil {
		why += ": " + r.p.end.Fault.Reason
	}
	return why
}

func (r *replayer) whyCut() string {
	if r.timers > mostTimers {
		return fmt.Sprintf("the tree waited for a timer %d times", mostTimers)
	}
	var waits []string
	for _, op := range r.f.order {
		e := r.f.open[op]
		waits = append(waits, fmt.Sprintf("%s (%s)", nameOf(e), e.Leaf))
	}
	return "no recorded completion for " + r.redact(strings.Join(waits, ", "))
}

// ending is what the assistant gets to make its outcome of.
func (r *replayer) ending() (Ending, error) {
	e := Ending{Tree: r.tree, State: r.f.state, Status: r.f.last.Status, Fault: r.f.last.Fault}
	switch {
	case r.f.over():
	case r.f.stalled():
		e.Status, e.Fault = bt.Failure, &bt.Fault{Kind: kindStalled, Reason: ErrStalled.Error()}
	case r.p.stopped != nil:
		e.Status, e.Fault, e.Cancelled, e.Under = bt.Idle, r.p.end.Fault, true, r.p.stopped.Under
		_, err := r.tree.Halt(r.f.state, nil)
		return e, err
	default:
		e.Status, e.Fault = bt.Failure, r.p.end.Fault
	}
	return e, nil
}

// compareOutcome makes the outcome anew.
func (r *replayer) compareOutcome() error {
	e, err := r.ending()
	if err != nil {
		return err
	}
	would := EndRecord{Fault: e.Fault, Now: r.p.end.Now}
	if would.Status, would.Outcome, err = r.a.outcome(r.view, e); err != nil {
		return fmt.Errorf("outcome of the replay: %w", err)
	}
	last := r.p.recs[len(r.p.recs)-1]
	rec, err := r.e.record(last.Seq, last.At, KindEnd, would)
	if err != nil {
		return err
	}
	if changes := changesOf(last.Data, rec.Data); len(changes) > 0 {
		r.found.Differences = append(r.found.Differences, Difference{Kind: OtherOutcome, Moment: Moment{Record: last.Seq}, Outcome: changes})
	}
	return nil
}

// status is how a tree stands after a step: one that waits for nothing has failed.
func (f *folded) status() string {
	if f.stalled() {
		return bt.Failure.String()
	}
	return f.last.Status.String()
}
