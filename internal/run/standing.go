package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// The states of a run.
const (
	StateRunning = "running" // somebody drives it, or it waits for room
	StateWaiting = "waiting" // it ended with a question that is open
	StatePaused  = "paused"  // it has not ended, and nobody drives it
	StateEnded   = "ended"
)

// The causes of running and paused runs; a run that is driven has none.
const (
	CauseQueued      = "queued"      // running: it waits for room
	CauseInterrupted = "interrupted" // paused: its process left it or died
	CauseSuspended   = "suspended"   // paused: its model is unavailable, or it can't continue for now
	CauseSetAside    = "set_aside"   // paused: processes died of it, so that it is resumed only on request
)

// Standing is how a run stands, in one of four states.
type Standing struct {
	State string `json:"state" enum:"running,waiting,paused,ended" doc:"How it stands: running, waiting for an answer of its user, paused until it is resumed, or ended."`
	Cause string `json:"cause,omitempty" doc:"Of one that is running: queued, if it waits for room. Of a paused one: suspended, interrupted or set_aside. Otherwise why it ended, in a word of its assistant."`
	bt.Why
	Until time.Time `json:"until,omitzero" doc:"Of a suspended run: until when it rests. A server goes on with it then."`
}

const (
	whyInterrupted bt.Reason = "run.interrupted: the program that ran it ended before it did"
	whyRests       bt.Reason = "run.rests: it made no progress, and is tried again later"
)

// Standings says how runs of an owner stand, in their order.
func (e *Engine) Standings(ctx context.Context, owner journal.Owner, runs ...journal.Run) ([]Standing, error) {
	all, asking := make([]Standing, len(runs)), map[string][]journal.Pending{} // by session
	for i, r := range runs {
		s := e.standing(r)
		var err error
		switch {
		case s.Cause == CauseSuspended:
			s.Why, err = e.whySuspended(ctx, owner, r)
		case r.Status == journal.NeedsUser:
			if _, isRead := asking[r.Session]; !isRead {
				asking[r.Session], err = e.Store.Pending(ctx, owner, r.Session, e.Clock.Now())
			}
			if slices.ContainsFunc(asking[r.Session], func(p journal.Pending) bool {
				return p.Run == r.ID && p.Kind != journal.NoQuestion
			}) {
				s.State = StateWaiting
			}
		}
		if err != nil {
			return nil, fmt.Errorf("how run %s stands: %w", r.ID, err)
		}
		all[i] = s
	}
	return all, nil
}

// standing is how a run stands as far as its row shows: not why it is suspended, nor whether its question is open.
func (e *Engine) standing(r journal.Run) Standing {
	switch {
	case r.Status != journal.Running && r.Reason != "":
		return Standing{State: StateEnded, Cause: r.Reason}
	case r.Status != journal.Running:
		return Standing{State: StateEnded, Cause: string(r.Status)}
	case e.Driven(r):
		return Standing{State: StateRunning}
	case r.SetAside():
		return Standing{State: StatePaused, Cause: CauseSetAside, Why: WhySetAside(r)}
	case r.Rests(e.LeaseTimes()):
		return Standing{State: StatePaused, Cause: CauseSuspended, Until: r.LeaseUntil}
	case r.LeaseHolder == "" && r.Records <= 1:
		return Standing{State: StateRunning, Cause: CauseQueued}
	}
	return Standing{State: StatePaused, Cause: CauseInterrupted, Why: whyInterrupted.With()}
}

// Suspension gives the fault that suspended a run; nil if the last thing in its records is something else.
func (e *Engine) Suspension(ctx context.Context, owner journal.Owner, r journal.Run) (*bt.Fault, error) {
	recs, err := e.Store.Records(ctx, owner, r.ID, r.Records-1)
	if err != nil || len(recs) == 0 {
		return nil, err
	}
	body, err := Read(recs[len(recs)-1])
	if s, isSuspended := body.(*SuspendRecord); isSuspended && err == nil {
		return s.Fault, nil
	}
	return nil, err
}

// whySuspended says why a run rests, as far as its last record can be read.
func (e *Engine) whySuspended(ctx context.Context, owner journal.Owner, r journal.Run) (bt.Why, error) {
	fault, err := e.Suspension(ctx, owner, r)
	switch {
	case err != nil && !errors.Is(err, journal.ErrCorrupt):
		return bt.Why{}, err
	case fault == nil:
		return whyRests.With(), nil
	}
	return fault.Why(), nil
}
