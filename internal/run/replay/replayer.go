package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// mostTimers bounds the steps of a replay that take in nothing but a timer of the tree: a tree that only waits must not
// keep it for ever.
const mostTimers = 10_000

// replayer takes what came into a run through a tree, until a decision differs: what would come of another one is not
// recorded.
type replayer struct {
	*recording
	tree      *bt.Tree
	fold      *run.Fold
	changed   *run.View // with other texts; nil: they are the same
	pastFirst bool
	result    *Result

	next    int                  // of the recorded steps
	answers map[uint64]bt.Effect // by operation of the recorded run: the effect of the replay that gets its completion
	last    int64                // the last record that was taken in
	timers  int
	other   bool // a decision differs
}

func (r *replayer) run(ctx context.Context) error {
	for was, body := r.nextStep(); was != nil; was, body = r.nextStep() {
		if err := r.step(ctx, was, body); err != nil {
			return err
		}
		if r.ended() || r.enough() || r.other {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return r.conclude()
}

func (r *replayer) ended() bool { return r.fold.Ending().Status != bt.Running }

func (r *replayer) enough() bool { return !r.pastFirst && len(r.result.Differences) > 0 }

// nextStep gives the step that the tree takes next, nil if there is none, and what it takes in: the next record, or a
// timer of its own before it.
func (r *replayer) nextStep() (was *step, body any) {
	if r.next < len(r.steps) {
		was = r.steps[r.next]
	}
	if due := r.fold.Last().Due; due != 0 && r.firesBefore(due, was) {
		if r.timers++; r.timers > mostTimers {
			return nil, nil
		}
		// Nothing was decided on a timer that the run had not.
		return &step{TraceStep: run.TraceStep{Record: r.last, Status: bt.Running.String()}, timer: due},
			&run.TimeRecord{Now: due}
	}
	switch {
	case was == nil:
		return nil, nil
	case was.place == 1:
		body = r.start
	case was.done == nil:
		body = &run.TimeRecord{Now: was.now}
	default:
		e, asked := r.answers[was.done.Op]
		if !asked { // nobody knows what the recorded run has asked for there
			return nil, nil
		}
		answer := *was.done
		answer.Op, answer.Leaf, answer.Digest = e.Op, e.Leaf, run.Digest(e)
		body = &answer
	}
	r.next++
	r.last = was.Record
	return was, body
}

// firesBefore says whether a timer of the tree acts before the next record comes in. Where the recorded run had the
// same timer, both were due at once, and the record came first.
func (r *replayer) firesBefore(due int64, was *step) bool {
	if was == nil {
		return r.over() && len(r.fold.Open()) == 0
	}
	before := r.steps[r.next-1]
	return due < was.now && before.Due != due && (before.known() || !r.result.OwnTree)
}

// step takes a record in and compares what the tree decides on it.
func (r *replayer) step(ctx context.Context, was *step, body any) error {
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
		r.other = d.Kind == OtherDecision
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
			return fmt.Errorf("%w: the tree reads {%s}, which the run was not given: %s",
				run.ErrUnfit, p.Name, f.Reason)
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
	case r.other || r.over() || r.next < len(r.steps):
		found.Reached, found.Why = ReachedCut, r.whyCut()
	case r.end == nil && r.stopped == nil && r.cancel == nil:
		found.Reached, found.Why = ReachedOpen, "the run has not ended"
	default:
		found.Reached, found.Why = ReachedStop, r.whyStopped()
	}
	if found.Reached == ReachedCut || r.other || r.end == nil {
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
	elsewhere := r.unanswered()
	_, open := pairs(r.fold.Open(), &elsewhere, isRequest)
	var names []string
	for _, e := range open {
		if r.recordedOf(e.Op) == 0 {
			names = append(names, fmt.Sprintf("%s (%s)", r.askedBy(e).Name(), e.Leaf))
		}
	}
	if names == nil {
		return "what would come of another decision is not recorded"
	}
	return "no recorded completion for " + strings.Join(names, ", ")
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
		r.result.Differences = append(r.result.Differences, Difference{Kind: OtherOutcome, Moment: at,
			Outcome: changes})
	}
	return nil
}

// recordedOf gives the operation of the recorded run whose completion an operation of the replay gets; 0: none.
func (r *replayer) recordedOf(op uint64) uint64 {
	for recorded, e := range r.answers {
		if e.Op == op {
			return recorded
		}
	}
	return 0
}
