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
	open    map[uint64]asked
	marked  map[uint64]bool
	order   []uint64      // of open, as they were asked for
	cancel  *CancelRecord // the first
	stopped *StoppedRecord
	now     int64
	trace   []TraceStep
}

// asked is an outstanding effect with the digest of what it asks for.
type asked struct {
	bt.Effect
	Digest string
}

// NewFold is the state of a run before its first record.
func NewFold(a *Assistant, tree *bt.Tree) *Fold {
	return &Fold{a: a, tree: tree, state: tree.NewState(), open: map[uint64]asked{}, marked: map[uint64]bool{}}
}

// takeIn takes one record in, for who only looks; step says whether the tree decided on it.
func (f *Fold) takeIn(r journal.Record) (step bool, err error) {
	body, err := f.read(r)
	if err != nil {
		return false, err
	}
	return f.Take(r.Seq, body)
}

// read decodes a record, with the values of receipts.
func (f *Fold) read(r journal.Record) (any, error) {
	body, err := Read(r)
	if err == nil {
		f.a.decode(body)
	}
	return body, err
}

// decode fills in what receipts hold.
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

// Take takes in record seq, of which body is what it says, as Read gives it; step says whether the tree decided on it.
// ErrDiverged for a record of an effect that the tree does not ask for.
func (f *Fold) Take(seq int64, body any) (step bool, err error) {
	var in bt.Input
	switch r := body.(type) {
	case *StartRecord:
		if err := give(f.tree, f.state, r.Given); err != nil {
			return false, err
		}
	case *CompletionRecord:
		if err := f.fits(seq, "completion", r.Op, r.Leaf, r.Digest); err != nil {
			return false, err
		}
		f.close(r.Op)
		f.now = max(f.now, r.Now)
		in.Done = []bt.Completion{{Op: r.Op, Ref: seq, Took: r.TookMS, Result: r.Result, Err: r.Err, Value: r.Value}}
	case *TimeRecord:
		f.now = max(f.now, r.Now)
	case *MarkRecord:
		f.marked[r.Op] = true
		return false, f.fits(seq, "mark", r.Op, r.Leaf, r.Digest)
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

// fits says whether a record speaks of an operation that the tree asks for at this point.
func (f *Fold) fits(seq int64, kind string, op uint64, leaf, digest string) error {
	asked, ok := f.open[op]
	switch {
	case !ok:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s, which the tree does not ask for",
			ErrDiverged, seq, kind, op, leaf)
	case asked.Digest != digest:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s (%s), for which the tree asks %s something "+
			"else (%s)", ErrDiverged, seq, kind, op, leaf, digest, asked.Leaf, asked.Digest)
	}
	return nil
}

// Last is what the last step decided.
func (f *Fold) Last() bt.Result { return f.last }

// LastStep is what happened in the last step, redacted as a record is.
func (f *Fold) LastStep(redact func([]byte) []byte) (s TraceStep, err error) {
	raw, err := Marshal(f.lastStep())
	if err == nil {
		err = json.Unmarshal(redact(raw), &s)
	}
	return s, err
}

func (f *Fold) lastStep() TraceStep { return f.trace[len(f.trace)-1] }

// Open gives the effects that are outstanding, in the order that they were asked for.
func (f *Fold) Open() []bt.Effect {
	all := make([]bt.Effect, len(f.order))
	for i, op := range f.order {
		all[i] = f.open[op].Effect
	}
	return all
}

// Ending is how the tree has ended, by itself or because it waits for nothing; of one that goes on, its status is
// Running.
func (f *Fold) Ending() Ending {
	e := Ending{Tree: f.tree, State: f.state, Status: f.last.Status, Fault: f.last.Fault}
	if f.stalled() {
		e.Status, e.Fault = bt.Failure, &bt.Fault{Kind: KindStalled, Reason: ErrStalled.Error()}
	}
	return e
}

// over says that the tree has ended. A request to stop that comes later changes nothing.
func (f *Fold) over() bool { return f.last.Status != bt.Running }

// stalled says that the tree waits for something that can't come.
func (f *Fold) stalled() bool { return !f.over() && len(f.open) == 0 && f.last.Due == 0 }

// stopping says that nothing more of the run is performed.
func (f *Fold) stopping() bool { return f.cancel != nil || f.over() }

// step takes in record seq, and traces what is decided on it. A tree that breaks, by its own error or its leaf's panic,
// fails and asks for nothing more.
func (f *Fold) step(seq int64, in bt.Input) {
	told := TraceStep{Record: seq, Events: []TraceEvent{}}
	res, err := stepTree(f.tree, f.state, in, func(e bt.Event) { told.note(f.tree, e) })
	if err != nil {
		res = bt.Result{Status: bt.Failure, Fault: &bt.Fault{Kind: KindTree, Reason: err.Error()}}
		if errors.Is(err, bt.ErrBound) {
			res.Fault.Kind = KindBound
		}
	}
	// What was asked for and withdrawn in the same step never began.
	res.Start = slices.DeleteFunc(res.Start, func(e bt.Effect) bool { return slices.Contains(res.Cancel, e.Op) })
	for _, op := range res.Cancel {
		f.close(op)
	}
	for _, e := range res.Start {
		effect := asked{e, Digest(e)}
		f.open[e.Op] = effect
		f.order = append(f.order, e.Op)
		told.Start = append(told.Start, Asked{Op: e.Op, Leaf: e.Leaf, Kind: e.Kind, Label: e.Label,
			Digest: effect.Digest})
	}
	f.last = res
	told.Status, told.Cancel, told.Due = res.Status.String(), res.Cancel, res.Due
	f.trace = append(f.trace, told)
}

func stepTree(tree *bt.Tree, s *bt.State, in bt.Input, on func(bt.Event)) (res bt.Result, err error) {
	defer contain("tree "+tree.ID, &err)
	return tree.Step(s, in, on)
}

func (f *Fold) close(op uint64) {
	delete(f.open, op)
	for i, o := range f.order {
		if o == op {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			return
		}
	}
}

// give sets the keys a run began with.
func give(tree *bt.Tree, s *bt.State, given Given) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if err := tree.SetJSON(s, key, given[key]); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", errGiven, err))
		}
	}
	return errors.Join(errs...)
}
