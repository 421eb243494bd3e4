package service

import (
	"context"
	"errors"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

// ReplayFilter selects the runs that ReplayAll replays.
type ReplayFilter struct {
	Assistant  string
	Most       int           // only so many ended runs, the latest
	Within     time.Duration // runs that remain then are only counted; 0: no limit
	OnProgress func(done, all int)
}

// ReplayAll replays the past runs of an assistant through a tree, the latest first, and says how many would decide
// differently, and where. It performs no effects. The error is a *bt.LoadError if the tree does not load.
func (s *Service) ReplayAll(
	ctx context.Context, owner journal.Owner, p ReplayFilter, o replay.Options,
) (replay.History, error) {
	h := replay.NewHistory()
	a, err := s.assistantNamed(p.Assistant)
	if err != nil {
		return h, err
	}
	if _, err := a.Leaves.Load(o.TreeFile, o.Tree, a.Assistant.Options); err != nil {
		return h, err
	}
	ids, err := s.endedRuns(ctx, owner, p)
	if err != nil {
		return h, err
	}
	var enough <-chan time.Time
	if p.Within > 0 {
		t := time.NewTimer(p.Within)
		defer t.Stop()
		enough = t.C
	}
	for i, id := range ids {
		select {
		case <-enough:
			h.Left = len(ids) - i
			return h, nil
		default:
		}
		r, err := s.Replay(ctx, owner, id, o)
		switch {
		case err == nil:
			h.Add(r)
		case ctx.Err() != nil:
			return h, ctx.Err()
		case errors.Is(err, journal.ErrNotFound): // it was removed meanwhile
		case errors.Is(err, run.ErrUnfit) || errors.Is(err, journal.ErrCorrupt):
			h.Unfit = append(h.Unfit, replay.Unfit{Run: id, Why: err.Error()})
		default:
			return h, err
		}
		if p.OnProgress != nil {
			p.OnProgress(i+1, len(ids))
		}
	}
	return h, nil
}

// endedRuns gives the ids of the latest p.Most ended runs.
func (s *Service) endedRuns(ctx context.Context, owner journal.Owner, p ReplayFilter) (ids []string, err error) {
	for r, err := range s.allRuns(ctx, owner, journal.Filter{Assistant: p.Assistant}) {
		if err != nil || len(ids) == p.Most {
			return ids, err
		}
		if r.Status != journal.Running {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}
