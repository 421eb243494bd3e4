package run

import (
	"context"

	"sibyl/internal/journal"
)

// Refold takes the records of a run through its tree as a resuming process would, and gives the encoded state and the
// traces of all steps.
func (e *Engine) Refold(ctx context.Context, owner journal.Owner, recs []journal.Record) (state []byte, steps []TraceStep, err error) {
	a, tree, err := e.treeOf(ctx, owner, recs)
	if err != nil {
		return nil, nil, err
	}
	f := NewFold(a, tree)
	if err := f.fold(recs, &View{Owner: owner, store: e.Store}); err != nil {
		return nil, nil, err
	}
	if f.stopped != nil {
		if _, err := tree.Halt(f.state, nil); err != nil {
			return nil, nil, err
		}
	}
	if state, err = tree.Encode(f.state); err != nil {
		return nil, nil, err
	}
	steps, err = f.trace.all(tree)
	return state, steps, err
}

// Tell tells the observer what it is told of a run beside its effects.
func (e *Engine) Tell(ctx context.Context, b journal.Beginning) error {
	d := driver{Live: &Live{}, e: e}
	ctx = d.observe(ctx, false)
	err := e.commitBeginning(ctx, b)
	if err == nil {
		err = e.commit(ctx, d.key(), nil, nil)
	}
	d.part(lostBy(err))
	return err
}
