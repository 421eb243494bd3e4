package journal

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Tree is how the runs of a session go on from each other. A run follows another one, or replaces one: then it follows
// what that one follows, and both are versions of each other. The runs on the way from the first to one that nothing
// follows are a branch.
type Tree struct {
	runs   []Run // in the order of their start, so that each comes after what it follows
	before []int // for each, what it follows; -1: it is a first one
	at     map[string]int
}

// NewTree makes the tree of all runs of a session, the latest first. A run that names neither what it follows nor what
// it replaces was kept by an earlier build: it follows the one that started before it.
func NewTree(latestFirst []Run) (Tree, error) {
	t := Tree{runs: slices.Clone(latestFirst), at: map[string]int{}}
	slices.Reverse(t.runs)
	for i, r := range t.runs {
		t.at[r.ID] = i
	}
	for i := range t.runs {
		before, err := t.goesOnFrom(i)
		if err != nil {
			return Tree{}, err
		}
		t.before = append(t.before, before)
	}
	return t, nil
}

// goesOnFrom finds what a run follows: for one that replaces others, what the first of these follows. It is before
// them, so that each way ends.
func (t Tree) goesOnFrom(i int) (int, error) {
	first, err := t.firstVersion(i)
	if err != nil {
		return -1, err
	}
	at := min(i, first)
	if follows := t.runs[first].Follows; follows != "" {
		named, ok := t.at[follows]
		if !ok || named >= at {
			return -1, fmt.Errorf("run %q follows %q, which is not before it: %w", t.runs[first].ID, follows, ErrCorrupt)
		}
		return named, nil
	}
	for at--; at >= 0; at-- { // an earlier build kept runs of one millisecond: a version may come before the first
		if of, err := t.firstVersion(at); err != nil || of != first {
			return at, err
		}
	}
	return -1, nil
}

// firstVersion finds the run in whose place a run is, perhaps by others in between.
func (t Tree) firstVersion(i int) (int, error) {
	for range t.runs {
		replaced := t.runs[i].Replaces
		at, ok := t.at[replaced]
		switch {
		case replaced == "":
			return i, nil
		case !ok:
			return -1, fmt.Errorf("run %q replaces %q, which is not in its session: %w", t.runs[i].ID, replaced, ErrCorrupt)
		}
		i = at
	}
	return -1, fmt.Errorf("run %q replaces itself: %w", t.runs[i].ID, ErrCorrupt)
}

// ReadTree reads the tree of a session; without runs if the owner has no such session.
func ReadTree(ctx context.Context, from interface {
	Runs(ctx context.Context, owner Owner, f Filter) ([]Run, error)
}, owner Owner, session string,
) (Tree, error) {
	const atOnce = 1000
	var all []Run
	for f := (Filter{Session: session, Limit: atOnce}); session != ""; {
		runs, err := from.Runs(ctx, owner, f)
		if err != nil {
			return Tree{}, err
		}
		all = append(all, runs...)
		if len(runs) < atOnce {
			break
		}
		f.After = runs[len(runs)-1].Cursor()
	}
	return NewTree(all)
}

// Size is the number of its runs.
func (t Tree) Size() int { return len(t.runs) }

// Path returns the runs from a first one to this one, in order. Without an id, it is that of the latest run, whose
// branch is in force. The error is ErrNotFound if the run is not of the session.
func (t Tree) Path(id string) ([]Run, error) {
	at, err := t.find(id)
	return t.pathTo(at), err
}

// PathBefore returns the runs that a new run will have before it, in order: one that replaces a run, follows one or, if
// neither is named, the latest. The error is ErrNotFound if that is not of the session.
func (t Tree) PathBefore(replaces, follows string) ([]Run, error) {
	at, err := t.find(cmp.Or(replaces, follows))
	if replaces != "" && err == nil {
		at = t.before[at]
	}
	return t.pathTo(at), err
}

// Branch returns the branch that a run is of; of several the one with the latest run. Without an id, it is the branch
// in force.
func (t Tree) Branch(id string) ([]Run, error) {
	at, err := t.find(id)
	if err != nil || at < 0 {
		return nil, err
	}
	through, last := make([]bool, len(t.runs)), at
	through[at] = true
	for i := at + 1; i < len(t.runs); i++ {
		if b := t.before[i]; b >= 0 && through[b] {
			through[i], last = true, i
		}
	}
	return t.pathTo(last), nil
}

// Versions returns the ids of the runs that follow the same one as each of these, with it, in the order of their start.
func (t Tree) Versions(runs []Run) (all [][]string) {
	of := map[int][]string{}
	for i, r := range t.runs {
		of[t.before[i]] = append(of[t.before[i]], r.ID)
	}
	for _, r := range runs {
		all = append(all, of[t.before[t.at[r.ID]]])
	}
	return all
}

// find returns the place of a run, or of the latest; -1 if there is none.
func (t Tree) find(id string) (int, error) {
	if id == "" {
		return len(t.runs) - 1, nil
	}
	at, ok := t.at[id]
	if !ok {
		return -1, fmt.Errorf("run %q of the session: %w", id, ErrNotFound)
	}
	return at, nil
}

func (t Tree) pathTo(at int) (all []Run) {
	for ; at >= 0; at = t.before[at] {
		all = append(all, t.runs[at])
	}
	slices.Reverse(all)
	return all
}
