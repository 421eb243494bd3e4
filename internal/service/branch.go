package service

import (
	"context"
	"slices"

	"sibyl/internal/journal"
)

// Versions are the runs of a session that go on from the same one, in the order of their start, and which of them is
// meant.
type Versions struct {
	Run      string   `json:"run" doc:"The run that is shown."`
	Versions []string `json:"versions" doc:"All runs that go on from the same one as it, in the order of their start."`
}

// BranchRow is a run of a branch, with its versions.
type BranchRow struct {
	Row
	Versions []string `json:"versions" doc:"All runs that go on from the same one as it, in the order of their start: it and those in its place in other branches."`
}

// branch has the runs of a branch, oldest first, without companions of its assistant, and for each its versions.
type branch struct {
	runs     []journal.Run
	versions [][]string
	others   int // runs of the session that are in other branches
}

// branch reads the branch that a run of a session is of; of "": that of the latest run.
func (s *Service) branch(
	ctx context.Context, owner journal.Owner, session, of string,
) (in journal.Session, b branch, err error) {
	if in, err = s.config.Store.Session(ctx, owner, session); err != nil {
		return in, b, err
	}
	tree, err := journal.ReadTree(ctx, s.config.Store, owner, session)
	if err != nil {
		return in, b, err
	}
	if b.runs, err = tree.Branch(of); err != nil {
		return in, b, err
	}
	b.others = tree.Size() - len(b.runs)
	b.runs = slices.DeleteFunc(b.runs, func(r journal.Run) bool {
		return r.Assistant != in.Assistant && s.isCompanion(r.Assistant)
	})
	b.versions = tree.Versions(b.runs)
	return in, b, nil
}

// Branch lists the runs of the branch that a run of a session is of, the latest first, at most limit of those that
// started before after; of "": the branch of the latest run, and zero after: from the latest.
func (s *Service) Branch(
	ctx context.Context, owner journal.Owner, session, of string, limit int, after journal.Cursor,
) ([]BranchRow, error) {
	_, b, err := s.branch(ctx, owner, session, of)
	if err != nil {
		return nil, err
	}
	all := []BranchRow{}
	for n, r := range slices.Backward(b.runs) {
		if len(all) == limit {
			break
		}
		if !after.IsZero() && r.Cursor().Compare(after) >= 0 {
			continue
		}
		row, err := s.newRow(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, BranchRow{row, b.versions[n]})
	}
	return all, nil
}
