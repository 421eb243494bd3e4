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
	last     int64                // the last record that was taken in
	timers   int
	diverged bool // the decisions differ: from here on, only equal requests are answered
	waits    bool // for an effect that no record answers, so that what it does not do tells nothing
}

func (r *replayer) run(ctx context.Context) error {
	was, body := r.steps[0], any(r.start)
	for was != nil {
		if err := r.step(ctx, was, body); err != nil {
			return err
		}
		if r.ended() || r.enough() {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		was, body = r.next()
	}
	return r.conclude()
}

func (r *replayer) ended() bool { return r.fold.Ending().Status != bt.Running }

func (r *replayer) enough() bool { return !r.pastFirst && len(r.result.Differences) > 0 }

// next gives the step that the tree takes next, nil if there is none, and what it takes in: the earliest record that it
// waits for, or a timer of its own before it.
func (r *replayer) next() (was *step, body any) {
	was = r.nextRecorded()
	due := r.fold.Last().Due
	if due != 0 && (was != nil && due < was.now && !r.late(due, was) || was == nil && len(r.fold.Open()) == 0 && !r.exhausted()) {
		if r.timers++; r.timers > mostTimers {
			return nil, nil
		}
		// Nothing was decided on a timer that the run had not.
		return &step{TraceStep: run.TraceStep{Record: r.last, Status: bt.Running.String()}, timer: due}, &run.TimeRecord{Now: due}
	}
	if was == nil {
		return nil, nil
	}
	was.taken, r.last = true, was.Record
	if was.done == nil {
		return was, &run.TimeRecord{Now: was.now}
	}
	e := r.effects[was.done.Op]
	answer := *was.done
	answer.Op, answer.Leaf, answer.Digest = e.Op, e.Leaf, run.Digest(e)
	return was, &answer
}

// nextRecorded is the earliest step not taken yet of a time, or of a completion of what is asked for.
func (r *replayer) nextRecorded() *step {
	open := r.fold.Open()
	for _, s := range r.steps[1:] {
		if s.taken {
			continue
		}
		if s.done == nil {
			return s
		}
		if e, ok := r.effects[s.done.Op]; ok && contains(open, e.Op) {
			return s
		}
	}
	return nil
}

func contains(effects []bt.Effect, op uint64) bool {
	return slices.ContainsFunc(effects, func(e bt.Effect) bool { return e.Op == op })
}

// late says that the recorded run had the same timer, and the record still came first: both were due at once.
func (r *replayer) late(due int64, was *step) bool {
	before := r.steps[was.place-2]
	if !before.followed {
		return r.result.OwnTree
	}
	return before.due == due
}

// exhausted says that all there is has been taken in, as it was recorded, and that the run's tree had not ended by
// then.
func (r *replayer) exhausted() bool {
	return !r.diverged && !r.over() && !slices.ContainsFunc(r.steps[1:], func(s *step) bool { return !s.taken })
}

// step takes a record in and compares what the tree decides on it.
func (r *replayer) step(ctx context.Context, was *step, body any) error {
	r.waits = slices.ContainsFunc(r.fold.Open(), func(e bt.Effect) bool { return r.recorded[e.Op] == 0 })
	if _, err := r.fold.Take(was.Record, body); err != nil {
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
	d, err := r.compare(ctx, was)
	if err != nil {
		return err
	}
	traces := compareTraces(was.Events, would.Events)
	switch {
	case d.Kind != "":
		d.Trace = &traces
		r.result.Differences = append(r.result.Differences, d)
	case r.result.OtherTrace == nil && len(r.result.Differences) == 0 && was.known() && traces.differ():
		r.result.OtherTrace = &OtherTrace{was.moment(), traces}
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
