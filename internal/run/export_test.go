package run

import (
	"context"
	"encoding/json"

	"sibyl/internal/journal"
)

// Refold takes the records of a run through its tree as a resuming process would, and gives the encoded state and the
// traces of all steps.
func (e *Engine) Refold(ctx context.Context, owner journal.Owner, recs []journal.Record) (state []byte, steps []TraceStep, err error) {
	a, tree, err := e.treeOf(ctx, owner, recs)
	if err != nil {
		return nil, nil, err
	}
	d, err := e.newDriver(a, tree, journal.Run{}, recs[:1])
	if err != nil {
		return nil, nil, err
	}
	d.trace = nil
	f, err := fold(tree, recs, d.traceEvent, d.trace.decided)
	if err != nil {
		return nil, nil, err
	}
	if f.stopped != nil {
		if _, err := tree.Halt(f.state, nil); err != nil {
			return nil, nil, err
		}
	}
	state, err = tree.Encode(f.state)
	return state, d.trace, err
}

// ChangesOf lists where two JSON texts differ.
func ChangesOf(was, would json.RawMessage) []Change { return changesOf(was, would) }
