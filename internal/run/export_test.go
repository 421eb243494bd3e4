package run

import (
	"context"
	"encoding/json"

	"sibyl/internal/journal"
)

// Refold takes the records of a run through its tree as a resuming process would, and gives the encoded state and the
// traces of all steps.
func (e *Engine) Refold(
	ctx context.Context, owner journal.Owner, recs []journal.Record,
) (state []byte, steps []TraceStep, err error) {
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
	state, err = json.Marshal(f.state)
	return state, f.trace, err
}
