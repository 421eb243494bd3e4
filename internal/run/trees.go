package run

import (
	"context"
	"fmt"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// treeKey names a loaded tree.
type treeKey struct{ assistant, file, text string }

// keptTrees is how many loaded trees are kept: runs begin with the same few.
const keptTrees = 32

// recorded reads a run and loads the tree that it began with, as this build does: ErrIncompatible if it does not. The
// records come with that error, too.
func (e *Engine) recorded(
	ctx context.Context, owner journal.Owner, id string,
) (recs []journal.Record, a *Assistant, tree *bt.Tree, err error) {
	recs, err = e.Store.Records(ctx, owner, id, 0)
	if err == nil {
		if a, tree, err = e.treeOf(ctx, owner, recs); err != nil {
			err = e.why(id, recs, err)
		}
	}
	return recs, a, tree, err
}

// treeOf loads the tree that a run began with.
func (e *Engine) treeOf(ctx context.Context, owner journal.Owner, recs []journal.Record) (*Assistant, *bt.Tree, error) {
	start, err := startOf(recs)
	if err != nil {
		return nil, nil, err
	}
	a := e.assistants[start.Assistant]
	if a == nil {
		return nil, nil, fmt.Errorf("%w: %q", errNoAssistant, start.Assistant)
	}
	text, err := e.Store.Blob(ctx, owner, start.Tree)
	if err != nil {
		return a, nil, err
	}
	tree, err := e.tree(a, start.TreeFile, text)
	return a, tree, err
}

func startOf(recs []journal.Record) (*StartRecord, error) {
	if len(recs) == 0 || recs[0].Kind != KindStart {
		return nil, fmt.Errorf("%w: the first record is not a start", journal.ErrCorrupt)
	}
	return readAs[StartRecord](recs[0])
}

// CheckTree says what is wrong with a tree for an assistant. One that is right is kept for the run that begins with it.
func (e *Engine) CheckTree(a *Assistant, file string, text []byte) error {
	_, err := e.tree(a, file, text)
	return err
}

func (e *Engine) tree(a *Assistant, file string, text []byte) (*bt.Tree, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.trees[treeKey{a.Name, file, string(text)}]; t != nil {
		return t, nil
	}
	t, err := a.Leaves.Load(file, text, a.Options)
	if err != nil {
		return nil, err
	}
	if len(e.trees) >= keptTrees {
		clear(e.trees)
	}
	e.trees[treeKey{a.Name, file, string(text)}] = t
	return t, nil
}
