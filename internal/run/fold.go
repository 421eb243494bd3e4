package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Fold is the state that records lead to, and the effects that are outstanding in it. It is deterministic: it reads
// nothing but the records.
type Fold struct {
	a       *Assistant
	tree    *bt.Tree
	state   *bt.State
	last    bt.Result
	open    map[uint64]openEffect
	marked  map[uint64]bool
	order   []uint64      // of open, as they were requested
	cancel  *CancelRecord // the first
	stopped *StoppedRecord
	now     int64
	trace   []TraceStep
}

// openEffect is an outstanding effect with the digest of its request.
type openEffect struct {
	bt.Effect
	Digest string
}

func (e openEffect) requested() RequestedEffect {
	return RequestedEffect{Op: e.Op, Leaf: e.Leaf, Kind: e.Kind, Label: e.Label, Digest: e.Digest}
}

// NewFold is the state of a run before its first record.
func NewFold(a *Assistant, tree *bt.Tree) *Fold {
	return &Fold{a: a, tree: tree, state: tree.NewState(), open: map[uint64]openEffect{}, marked: map[uint64]bool{}}
}

// foldRecord folds one record for a reader who is not its driver; step says whether the tree decided on it.
func (f *Fold) foldRecord(r journal.Record) (step bool, err error) {
	body, err := f.a.read(r)
	if err != nil {
		return false, err
	}
	return f.Take(r.Seq, body)
}

// read decodes a record, and the payloads and results of its receipts.
func (a *Assistant) read(r journal.Record) (any, error) {
	body, err := Read(r)
	if err == nil {
		a.decode(body)
	}
	return body, err
}

// decode fills in Asked and Value of the receipts in a record.
func (a *Assistant) decode(body any) {
	switch r := body.(type) {
	case *CompletionRecord:
		a.Effects[r.Kind].decode(r)
	case *StoppedRecord:
		for i := range r.Under {
			a.Effects[r.Under[i].Kind].decode(&r.Under[i])
		}
	}
}

// Take folds record seq, whose decoded content is body, as Read returns it; step says whether the tree decided on it.
// The error is ErrDiverged for a record of an effect that the tree does not request.
func (f *Fold) Take(seq int64, body any) (step bool, err error) {
	var in bt.Input
	switch r := body.(type) {
	case *StartRecord:
		if err := setGiven(f.tree, f.state, r.Given); err != nil {
			return false, err
		}
	case *CompletionRecord:
		if err := f.checkRequested(seq, "completion", r.Op, r.Leaf, r.Digest); err != nil {
			return false, err
		}
		f.closeEffect(r.Op)
		f.now = max(f.now, r.Now)
		in.Done = []bt.Completion{{Op: r.Op, Ref: seq, Took: r.TookMS, Result: r.Result, Err: r.Err, Value: r.Value}}
	case *TimeRecord:
		f.now = max(f.now, r.Now)
	case *MarkRecord:
		f.marked[r.Op] = true
		return false, f.checkRequested(seq, "mark", r.Op, r.Leaf, r.Digest)
	case *CancelRecord:
		if f.cancel == nil {
			f.cancel = r
		}
		return false, nil
	case *StoppedRecord:
		f.stopped = r
		f.now = max(f.now, r.Now)
		return false, nil
	default:
		return false, nil
	}
	in.Now = f.now
	f.step(seq, in)
	return true, nil
}

// checkRequested returns ErrDiverged unless the tree requests this operation, with this digest, at this point.
func (f *Fold) checkRequested(seq int64, kind string, op uint64, leaf, digest string) error {
	requested, ok := f.open[op]
	switch {
	case !ok:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s, which the tree does not ask for",
			ErrDiverged, seq, kind, op, leaf)
	case requested.Digest != digest:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s (%s), for which the tree asks %s something "+
			"else (%s)", ErrDiverged, seq, kind, op, leaf, digest, requested.Leaf, requested.Digest)
	}
	return nil
}

// Last is what the last step decided.
func (f *Fold) Last() bt.Result { return f.last }

// LastStep returns what happened in the last step, redacted with redact.
func (f *Fold) LastStep(redact func([]byte) []byte) (s TraceStep, err error) {
	raw, err := Marshal(f.lastStep())
	if err == nil {
		err = json.Unmarshal(redact(raw), &s)
	}
	return s, err
}

func (f *Fold) lastStep() TraceStep { return f.trace[len(f.trace)-1] }

// Open returns the outstanding effects, in the order in which they were requested.
func (f *Fold) Open() []bt.Effect {
	all := make([]bt.Effect, len(f.order))
	for i, op := range f.order {
		all[i] = f.open[op].Effect
	}
	return all
}

// Ending says how the tree has ended, by itself or because it waits for nothing; the status is Running if it has not
// ended.
func (f *Fold) Ending() Ending {
	e := Ending{Tree: f.tree, State: f.state, Status: f.last.Status, Fault: f.last.Fault}
	if f.isStalled() {
		e.Status, e.Fault = bt.Failure, &bt.Fault{Kind: KindStalled, Reason: ErrStalled.Error()}
	}
	return e
}

// hasEnded reports whether the tree has ended. A later request to stop changes nothing.
func (f *Fold) hasEnded() bool { return f.last.Status != bt.Running }

// isStalled reports whether the tree waits for something that can't come.
func (f *Fold) isStalled() bool { return !f.hasEnded() && len(f.open) == 0 && f.last.Due == 0 }

// isStopping reports whether nothing more of the run is performed.
func (f *Fold) isStopping() bool { return f.cancel != nil || f.hasEnded() }

// usualEvents is how many events most steps have at most.
const usualEvents = 32

// step gives the tree the input of record seq, and traces what it decides. A tree that breaks, by its own error or a
// leaf's panic, fails and requests nothing more.
func (f *Fold) step(seq int64, in bt.Input) {
	traced := TraceStep{Record: seq, Events: make([]TraceEvent, 0, usualEvents)}
	res, err := stepTree(f.tree, f.state, in, func(e bt.Event) { traced.addEvent(f.tree, e) })
	if err != nil {
		res = bt.Result{Status: bt.Failure, Fault: &bt.Fault{Kind: KindTree, Reason: err.Error()}}
		if errors.Is(err, bt.ErrBound) {
			res.Fault.Kind = KindBound
		}
	}
	// An effect that is requested and withdrawn in the same step is never started.
	res.Start = slices.DeleteFunc(res.Start, func(e bt.Effect) bool { return slices.Contains(res.Cancel, e.Op) })
	for _, op := range res.Cancel {
		f.closeEffect(op)
	}
	for _, e := range res.Start {
		effect := openEffect{e, Digest(e)}
		f.open[e.Op] = effect
		f.order = append(f.order, e.Op)
		traced.Start = append(traced.Start, effect.requested())
	}
	f.last = res
	traced.Status, traced.Cancel, traced.Due = res.Status.String(), res.Cancel, res.Due
	f.trace = append(f.trace, traced)
}

func stepTree(tree *bt.Tree, s *bt.State, in bt.Input, on func(bt.Event)) (res bt.Result, err error) {
	defer contain("tree "+tree.ID, &err)
	return tree.Step(s, in, on)
}

func (f *Fold) closeEffect(op uint64) {
	delete(f.open, op)
	for i, o := range f.order {
		if o == op {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			return
		}
	}
}

// setGiven sets the keys that a run began with.
func setGiven(tree *bt.Tree, s *bt.State, given Given) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if err := tree.SetJSON(s, key, given[key]); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", errGiven, err))
		}
	}
	return errors.Join(errs...)
}
