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

// folded is the state that records lead to, and the effects that are outstanding in it.
type folded struct {
	start   StartRecord
	state   *bt.State
	last    bt.Result
	open    map[uint64]bt.Effect
	marked  map[uint64]bool
	order   []uint64      // of open, as they were asked for
	cancel  *CancelRecord // the first
	stopped *StoppedRecord
	now     int64
	traced  int64 // the last record whose step has a trace
}

func newFolded(tree *bt.Tree) *folded {
	return &folded{state: tree.NewState(), open: map[uint64]bt.Effect{}, marked: map[uint64]bool{}, traced: -1}
}

// fold is deterministic: it reads nothing but the records.
func fold(tree *bt.Tree, recs []journal.Record, on func(seq int64, e bt.Event), stepped func(seq int64, r bt.Result)) (*folded, error) {
	f := newFolded(tree)
	for _, r := range recs {
		in, step, err := f.take(tree, r)
		if err != nil {
			return nil, err
		}
		if !step {
			continue
		}
		var events func(bt.Event)
		if on != nil {
			events = func(e bt.Event) { on(r.Seq, e) }
		}
		f.step(tree, in, events)
		if stepped != nil {
			stepped(r.Seq, f.last)
		}
	}
	return f, nil
}

// take reads one record; step says whether the tree takes it in.
func (f *folded) take(tree *bt.Tree, r journal.Record) (in bt.Input, step bool, err error) {
	switch r.Kind {
	case KindStart:
		if f.start, err = decode[StartRecord](r); err != nil {
			return in, false, err
		}
		return in, true, give(tree, f.state, f.start.Given)
	case KindCompletion:
		c, err := decode[CompletionRecord](r)
		if err != nil {
			return in, false, err
		}
		if err := f.fits(r, c.Op, c.Leaf, c.Digest); err != nil {
			return in, false, err
		}
		f.close(c.Op)
		f.now = max(f.now, c.Now)
		return bt.Input{Now: f.now, Done: []bt.Completion{{Op: c.Op, Ref: r.Seq, Result: c.Result, Err: c.Err}}}, true, nil
	case KindTime:
		t, err := decode[TimeRecord](r)
		f.now = max(f.now, t.Now)
		return bt.Input{Now: f.now}, true, err
	case KindMark:
		m, err := decode[MarkRecord](r)
		if err == nil {
			err = f.fits(r, m.Op, m.Leaf, m.Digest)
		}
		f.marked[m.Op] = true
		return in, false, err
	case KindResume:
		_, err := decode[ResumeRecord](r)
		return in, false, err
	case KindCancel:
		c, err := decode[CancelRecord](r)
		if f.cancel == nil {
			f.cancel = &c
		}
		return in, false, err
	case KindStopped:
		s, err := decode[StoppedRecord](r)
		f.stopped = &s
		f.now = max(f.now, s.Now)
		return in, false, err
	case KindTrace:
		t, err := decode[TraceRecord](r)
		if n := len(t.Steps); n > 0 {
			f.traced = t.Steps[n-1].Record
		}
		return in, false, err
	case KindEnd:
		return in, false, nil
	}
	return in, false, fmt.Errorf("%w: record %d is of the unknown kind %q", journal.ErrCorrupt, r.Seq, r.Kind)
}

// fits says whether a record speaks of an operation that the tree asks for at this point.
func (f *folded) fits(r journal.Record, op uint64, leaf, digest string) error {
	asked, ok := f.open[op]
	switch {
	case !ok:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s, which the tree does not ask for",
			ErrDiverged, r.Seq, r.Kind, op, leaf)
	case Digest(asked) != digest:
		return fmt.Errorf("%w: record %d is the %s of operation %d of %s (%s), for which the tree asks %s something else (%s)",
			ErrDiverged, r.Seq, r.Kind, op, leaf, digest, asked.Leaf, Digest(asked))
	}
	return nil
}

// over says that the tree has ended. A wish to stop that comes later changes nothing.
func (f *folded) over() bool { return f.last.Status != bt.Running }

// stalled says that the tree waits for something that can't come.
func (f *folded) stalled() bool { return !f.over() && len(f.open) == 0 && f.last.Due == 0 }

// stopping says that nothing more of the run is performed.
func (f *folded) stopping() bool { return f.cancel != nil || f.over() }

// step takes an input in. A tree that breaks, by its own error or its leaf's panic, fails and asks for nothing more.
func (f *folded) step(tree *bt.Tree, in bt.Input, on func(bt.Event)) {
	res, err := stepTree(tree, f.state, in, on)
	if err != nil {
		res = bt.Result{Status: bt.Failure, Fault: &bt.Fault{Kind: kindTree, Reason: err.Error()}}
	}
	// What was asked for and withdrawn in the same step never began.
	res.Start = slices.DeleteFunc(res.Start, func(e bt.Effect) bool { return slices.Contains(res.Cancel, e.Op) })
	for _, op := range res.Cancel {
		f.close(op)
	}
	for _, e := range res.Start {
		f.open[e.Op] = e
		f.order = append(f.order, e.Op)
	}
	f.last = res
}

func stepTree(tree *bt.Tree, s *bt.State, in bt.Input, on func(bt.Event)) (res bt.Result, err error) {
	defer contain("tree "+tree.ID, &err)
	return tree.Step(s, in, on)
}

func (f *folded) close(op uint64) {
	delete(f.open, op)
	for i, o := range f.order {
		if o == op {
			f.order = append(f.order[:i:i], f.order[i+1:]...)
			return
		}
	}
}

// give sets the keys a run began with.
func give(tree *bt.Tree, s *bt.State, given map[string]json.RawMessage) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if err := tree.SetJSON(s, key, given[key]); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", errGiven, err))
		}
	}
	return errors.Join(errs...)
}
