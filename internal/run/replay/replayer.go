package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/run"
)

// mostTimers bounds the steps of a replay whose input is a timer of the tree alone, so that a tree that only waits does
// not run forever.
const mostTimers = 10_000

// replayer folds the inputs of a run through a tree, until a decision differs: the results of another decision are not
// recorded.
type replayer struct {
	*recording
	tree        *bt.Tree
	fold        *run.Fold
	changedView *run.View // with other texts; nil: they are the same
	pastFirst   bool
	result      *Result

	next       int              // of the recorded steps
	answers    map[uint64]Asked // by operation of the recorded run: the replay's request that gets its completion
	unanswered map[uint64]Asked // by operation of the replay: requests without a completion
	lastRecord int64            // the last record that was folded
	timers     int
	diverged   bool // a decision differs
}

func (r *replayer) runSteps(ctx context.Context) error {
	for was := r.nextStep(); was != nil; was = r.nextStep() {
		if err := r.replayStep(ctx, was); err != nil {
			return err
		}
		if r.treeEnded() || r.atFirstDifference() || r.diverged {
			break
		}
	}
	return r.conclude()
}

func (r *replayer) treeEnded() bool { return r.fold.Ending().Status != bt.Running }

func (r *replayer) atFirstDifference() bool { return !r.pastFirst && len(r.result.Differences) > 0 }

// nextStep returns the next recorded step, or one for a timer of the tree before that. A completion becomes that of the
// new tree's request. nil: none is left, the request of a completion is unknown, or there were too many timers.
func (r *replayer) nextStep() *step {
	var was *step
	if r.next < len(r.steps) {
		was = r.steps[r.next]
	}
	if due := r.fold.Last().Due; due != 0 && r.firesBefore(due, was) {
		if r.timers++; r.timers > mostTimers {
			return nil
		}
		// The recorded run had no such timer, so it decided nothing.
		return &step{TraceStep: run.TraceStep{Status: bt.Running.String()}, at: Moment{Record: r.lastRecord, Timer: due},
			body: &run.TimeRecord{Now: due}}
	}
	if was == nil {
		return nil
	}
	next := *was
	if done, ok := was.body.(*run.CompletionRecord); ok {
		asked, ok := r.answers[done.Op]
		if !ok {
			return nil
		}
		answer := *done
		answer.Op, answer.Leaf, answer.Digest = asked.Op, asked.Leaf, asked.Digest
		next.body = &answer
	}
	r.next++
	r.lastRecord = was.at.Record
	return &next
}

// firesBefore says whether a timer of the tree acts before the next record. If the recorded run had the same timer,
// both were due at once, and the record came first.
func (r *replayer) firesBefore(due int64, was *step) bool {
	if was == nil {
		return r.endedByTree() && len(r.fold.Open()) == 0
	}
	before := r.steps[r.next-1]
	return due < was.now && before.Due != due && (before.isKnown() || !r.result.OwnTree)
}

// replayStep folds a record, and compares what the tree decides.
func (r *replayer) replayStep(ctx context.Context, was *step) error {
	if _, err := r.fold.Take(was.at.Record, was.body); err != nil {
		return fmt.Errorf("%w: %w", run.ErrUnfit, err)
	}
	would, starts, err := r.lastStep(r.fold)
	if err != nil {
		return err
	}
	r.result.Steps++
	r.result.Effects += len(starts)
	r.result.Trace = append(r.result.Trace, would)
	if err := r.checkGiven(); err != nil {
		return err
	}
	d, err := r.compareStep(ctx, was, starts)
	if err != nil {
		return err
	}
	traces := compareTraces(was.Events, would.Events)
	switch {
	case d.Kind != "":
		d.Trace = &traces
		r.result.Differences = append(r.result.Differences, d)
		r.diverged = d.Kind == OtherDecision
	case r.result.OtherTrace == nil && len(r.result.Differences) == 0 && was.isKnown() && traces.hasDifference():
		r.result.OtherTrace = &OtherTrace{was.at, traces}
	}
	return ctx.Err()
}

// checkGiven fails if the tree broke because it reads an input that the run does not have.
func (r *replayer) checkGiven() error {
	f := r.fold.Last().Fault
	if f == nil || f.Kind != run.KindTree {
		return nil
	}
	for _, p := range r.a.Options.Given {
		if _, given := r.view.Start().Given[p.Name]; !given && strings.Contains(f.Reason, "{"+p.Name+"}") {
			return fmt.Errorf("%w: the tree reads {%s}, which the run was not given: %s",
				run.ErrUnfit, p.Name, f.Reason)
		}
	}
	return nil
}

// conclude sets where the replay ended and, if all decisions were the same, compares the outcomes.
func (r *replayer) conclude() error {
	found := r.result
	switch {
	case r.atFirstDifference():
		found.Reached = ReachedDifference
		return nil
	case r.treeEnded():
		found.Reached = ReachedEnd
		if r.end == nil {
			found.Why = "the end of the run is not recorded"
		}
	case r.diverged || r.endedByTree() || r.next < len(r.steps):
		found.Reached, found.Why = ReachedCut, r.whyCut()
		return nil
	case r.end == nil && r.stopped == nil && r.cancel == nil:
		found.Reached, found.Why = ReachedOpen, "the run has not ended"
	default:
		found.Reached, found.Why = ReachedStop, r.whyStopped()
	}
	if r.diverged || r.end == nil {
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
	var open []Asked
	for _, e := range r.fold.Open() {
		if a, is := r.unanswered[e.Op]; is {
			open = append(open, a)
		}
	}
	elsewhere := r.unusedRequests()
	_, open = pairRequests(open, &elsewhere, Asked.isSame)
	if len(open) == 0 {
		return "what would come of another decision is not recorded"
	}
	names := make([]string, len(open))
	for i, a := range open {
		names[i] = fmt.Sprintf("%s (%s)", a.Name(), a.Leaf)
	}
	return "no recorded completion for " + strings.Join(names, ", ")
}

// outcomeEnding is the ending from which the assistant makes the outcome.
func (r *replayer) outcomeEnding() (run.Ending, error) {
	e := r.fold.Ending()
	switch {
	case e.Status != bt.Running:
	case r.stopped != nil:
		e.Status, e.Fault, e.Cancelled, e.Unfolded = bt.Idle, r.end.Fault, true, r.stopped.Under
		_, err := r.tree.Halt(e.State, nil)
		return e, err
	default:
		e.Status, e.Fault = bt.Failure, r.end.Fault
	}
	return e, nil
}

// compareOutcome makes the outcome again, and compares it with the recorded one.
func (r *replayer) compareOutcome() error {
	e, err := r.outcomeEnding()
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
	if changes := changesOf(r.recording.endRecord.Data, r.redact(data)); len(changes) > 0 {
		r.result.Differences = append(r.result.Differences, Difference{Kind: OtherOutcome,
			Moment: Moment{Record: r.recording.endRecord.Seq}, Outcome: changes})
	}
	return nil
}
