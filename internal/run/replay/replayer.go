package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// mostTimers bounds the steps of a replay that take in nothing but a timer of the tree: a tree that only waits must not
// keep it for ever.
const mostTimers = 10_000

// replayer takes what came into a run through a tree.
type replayer struct {
	*recording
	tree      *bt.Tree
	fold      *run.Fold
	changed   *run.View // with other texts; nil: they are the same
	pastFirst bool
	result    *Result

	effects  map[uint64]bt.Effect // by operation of the recorded run: the effect of the replay that gets its completion
	recorded map[uint64]uint64    // the reverse, by operation of the replay
	reported map[uint64]bool      // operations of the recorded run of which a difference said that the replay did not ask for them
	taken    map[int64]bool       // records taken in
	last     int64                // the last of them
	timers   int
	diverged bool // the decisions differ: from here on, only equal requests are answered
	waits    bool // for an effect that no record answers, so that what it does not do tells nothing
}

func (r *replayer) run(ctx context.Context) error {
	at, _ := r.moment(0)
	var body any = r.start
	for more := true; more; {
		if err := r.step(ctx, body, at); err != nil {
			return err
		}
		if r.ended() || r.enough() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		body, at, more = r.next()
	}
	return r.conclude()
}

func (r *replayer) ended() bool { return r.fold.Ending().Status != bt.Running }

func (r *replayer) enough() bool { return !r.pastFirst && len(r.result.Differences) > 0 }

// next gives what the tree takes in next: the earliest record that it waits for, or a timer of its own before it.
func (r *replayer) next() (body any, at Moment, more bool) {
	in, found := r.nextInput()
	due := r.fold.Last().Due
	if due != 0 && (found && due < in.now && !r.late(due, in.record) || !found && len(r.fold.Open()) == 0 && !r.exhausted()) {
		r.timers++
		return &run.TimeRecord{Now: due}, Moment{Record: r.last, Timer: due}, r.timers <= mostTimers
	}
	if !found {
		return nil, at, false
	}
	r.taken[in.record], r.last = true, in.record
	at, _ = r.moment(in.record)
	if in.done == nil {
		return &run.TimeRecord{Now: in.now}, at, true
	}
	e := r.effects[in.done.Op]
	answer := *in.done
	answer.Op, answer.Leaf, answer.Digest = e.Op, e.Leaf, run.Digest(e)
	return &answer, at, true
}

// nextInput is the earliest input not taken in yet that is a time, or completes what is asked for.
func (r *replayer) nextInput() (input, bool) {
	open := r.fold.Open()
	for _, in := range r.inputs {
		if r.taken[in.record] {
			continue
		}
		if in.done == nil {
			return in, true
		}
		if e, ok := r.effects[in.done.Op]; ok && contains(open, e.Op) {
			return in, true
		}
	}
	return input{}, false
}

func contains(effects []bt.Effect, op uint64) bool {
	return slices.ContainsFunc(effects, func(e bt.Effect) bool { return e.Op == op })
}

// late says that the recorded run had the same timer, and the record still came first: both were due at once.
func (r *replayer) late(due, record int64) bool {
	i, _ := r.index(record)
	s := r.steps[i-1]
	if !s.followed {
		return r.result.OwnTree
	}
	return s.due == due
}

// exhausted says that all there is has been taken in, as it was recorded, and that the run's tree had not ended by then.
func (r *replayer) exhausted() bool {
	return !r.diverged && len(r.taken) == len(r.inputs) && !r.over()
}

// moment is the step that takes in a record, and what was decided in it.
func (r *replayer) moment(record int64) (Moment, *step) {
	i, _ := r.index(record)
	return Moment{Record: record, Step: i + 1}, r.steps[i]
}

// step takes a record in and compares what the tree decides on it.
func (r *replayer) step(ctx context.Context, body any, at Moment) error {
	r.waits = slices.ContainsFunc(r.fold.Open(), func(e bt.Effect) bool { return r.recorded[e.Op] == 0 })
	if _, err := r.fold.Take(at.Record, body); err != nil {
		return fmt.Errorf("%w: %w", run.ErrUnfit, err)
	}
	would, err := r.fold.LastStep(r.redact)
	if err != nil {
		return err
	}
	r.result.Steps++
	r.result.Effects += len(would.Start)
	r.result.Trace = append(r.result.Trace, would)
	if err := r.ungiven(); err != nil {
		return err
	}
	was := &step{TraceStep: run.TraceStep{Status: bt.Running.String()}} // nothing was decided on a timer that the run had not
	if at.Timer == 0 {
		_, was = r.moment(at.Record)
	}
	d, err := r.compare(ctx, was, at)
	if err != nil {
		return err
	}
	traces := compareTraces(was.Events, would.Events)
	switch {
	case d.Kind != "":
		d.Trace = &traces
		r.result.Differences = append(r.result.Differences, d)
	case r.result.OtherTrace == nil && len(r.result.Differences) == 0 && was.known() && traces.differ():
		r.result.OtherTrace = &OtherTrace{at, traces}
	}
	return nil
}

// ungiven tells of a tree that broke because it reads a key that the run was not given.
func (r *replayer) ungiven() error {
	f := r.fold.Last().Fault
	if f == nil || f.Kind != run.KindTree {
		return nil
	}
	for _, p := range r.a.Options.Given {
		if _, given := r.start.Given[p.Name]; !given && strings.Contains(f.Reason, "{"+p.Name+"}") {
			return fmt.Errorf("%w: the tree reads {%s}, which the run was not given: %s", run.ErrUnfit, p.Name, f.Reason)
		}
	}
	return nil
}

// conclude says where the replay ended and, where all decisions were the same, what comes of them.
func (r *replayer) conclude() error {
	found := r.result
	switch {
	case r.enough():
		found.Reached = ReachedDifference
		return nil
	case r.ended():
		found.Reached = ReachedEnd
		if r.end == nil {
			found.Why = "the end of the run is not recorded"
		}
	case r.exhausted() && r.end == nil && r.stopped == nil && r.cancel == nil:
		found.Reached, found.Why = ReachedOpen, "the run has not ended"
	case r.exhausted():
		found.Reached, found.Why = ReachedStop, r.whyStopped()
	default:
		found.Reached, found.Why = ReachedCut, r.whyCut()
	}
	if found.Reached == ReachedCut || r.diverged || r.end == nil {
		return nil
	}
	return r.compareOutcome()
}

func (r *replayer) whyStopped() string {
	if r.cancel != nil {
		return "the run was stopped: " + r.cancel.Reason
	}
	why := "the run ended though its tree had not"
	if r.end != nil && r.end.Fault != nil {
		why += ": " + r.end.Fault.Reason
	}
	return why
}

func (r *replayer) whyCut() string {
	if r.timers > mostTimers {
		return fmt.Sprintf("the tree waited for a timer %d times", mostTimers)
	}
	var open []string
	for _, e := range r.fold.Open() {
		open = append(open, fmt.Sprintf("%s (%s)", r.askedBy(e).Name(), e.Leaf))
	}
	return "no recorded completion for " + strings.Join(open, ", ")
}

// ending is what the assistant gets to make its outcome of.
func (r *replayer) ending() (run.Ending, error) {
	e := r.fold.Ending()
	switch {
	case e.Status != bt.Running:
	case r.stopped != nil:
		e.Status, e.Fault, e.Cancelled, e.Under = bt.Idle, r.end.Fault, true, r.stopped.Under
		_, err := r.tree.Halt(e.State, nil)
		return e, err
	default:
		e.Status, e.Fault = bt.Failure, r.end.Fault
	}
	return e, nil
}

// compareOutcome makes the outcome anew.
func (r *replayer) compareOutcome() error {
	e, err := r.ending()
	if err != nil {
		return err
	}
	would, err := r.a.End(r.view, e)
	if err != nil {
		return fmt.Errorf("outcome of the replay: %w", err)
	}
	would.Now = r.end.Now
	data, err := json.Marshal(would)
	if err != nil {
		return fmt.Errorf("outcome of the replay: %w", err)
	}
	if changes := changesOf(r.recording.ended.Data, r.redact(data)); len(changes) > 0 {
		at := Moment{Record: r.recording.ended.Seq}
		r.result.Differences = append(r.result.Differences, Difference{Kind: OtherOutcome, Moment: at, Outcome: changes})
	}
	return nil
}
