package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// How long the start of a run waits for another run that holds its claim: in all, if the request has no Patience, and
// before it checks again whether somebody drives that run.
const (
	claimPatience = 30 * time.Second
	claimRecheck  = 3 * time.Second
)

// startRetrying makes the spec of a run, checks the limit of costs, stops the run to replace, and calls start. It tries
// again if another start was first to consume or create something. Unless a is Exclusive, it waits for a run that holds
// its claim, and resumes one that nobody drives.
func (s *Service) startRetrying(
	ctx context.Context, owner journal.Owner, r Request, start func(run.Spec) error,
) (*assistant.Assistant, run.Spec, error) {
	patience, stop := context.WithTimeout(ctx, cmp.Or(r.Patience, claimPatience))
	defer stop()
	var before []string // what the start before was to consume: if it still is, it is gone, and no other was first
	for late := false; ; late = true {
		a, spec, err := s.makeSpec(ctx, owner, r, late)
		if err == nil {
			err = s.checkLimit(ctx, owner, r, spec)
		}
		if err == nil {
			err = s.stopReplaced(ctx, owner, spec.Replaces)
		}
		if err == nil {
			err = start(spec)
		}
		var held *journal.ClaimedError
		switch {
		case errors.As(err, &held) && a != nil && a.Exclusive:
			return nil, run.Spec{}, err
		case errors.As(err, &held):
			if s.waitForRun(patience, journal.Key{Owner: owner, Run: held.Run}) != nil {
				return nil, run.Spec{}, err
			}
		case patience.Err() == nil && (errors.Is(err, journal.ErrConsumed) && !slices.Equal(spec.Consume, before) ||
			errors.Is(err, journal.ErrExists) && s.sessionBegunMeanwhile(ctx, spec)):
			before = spec.Consume
		default:
			return a, spec, err
		}
	}
}

// sessionBegunMeanwhile says whether another run created the session that this run was to create.
func (s *Service) sessionBegunMeanwhile(ctx context.Context, spec run.Spec) bool {
	if spec.NewSession == nil {
		return false
	}
	if spec.ID != "" {
		if _, err := s.config.Store.Run(ctx, spec.Owner, spec.ID); !errors.Is(err, journal.ErrNotFound) {
			return false
		}
	}
	_, err := s.config.Store.Session(ctx, spec.Owner, spec.NewSession.ID)
	return err == nil
}

// waitForRun waits for a run to end, at most for claimRecheck, and resumes it if nobody drives it.
func (s *Service) waitForRun(ctx context.Context, k journal.Key) error {
	r, err := s.config.Store.Run(ctx, k.Owner, k.Run)
	if err != nil || r.Status != journal.Running {
		return err
	}
	watchCtx, stop := context.WithTimeout(ctx, claimRecheck)
	defer stop()
	if !s.config.Engine.Driven(r) {
		// Other errors don't matter: another process may have resumed it, or will if there is no room here.
		if _, err := s.config.Engine.Resume(context.WithoutCancel(ctx), k.Owner, k.Run, run.AtOnce); errors.Is(err,
			run.ErrIncompatible) {
			return err
		}
	}
	for _, err := range s.config.Engine.Watch(watchCtx, k.Owner, k.Run, 0) {
		if err != nil && watchCtx.Err() == nil {
			return err
		}
	}
	return ctx.Err()
}
