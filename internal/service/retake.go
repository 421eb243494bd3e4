package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Prospect is what a user can still do about a run, other than reply to it.
type Prospect struct {
	Waits     *assistant.Failure `json:"waits,omitempty" doc:"Of a run that is suspended: why. It goes on once it is resumed."`
	Retakable bool               `json:"retakable,omitempty" doc:"Another run can take its place (replaces)."`
	Approval  []Approval         `json:"approval,omitempty" enum:"open,allowed,declined,lapsed" doc:"How each of the calls stands that wait for a yes, in their order (waiting)."`
}

// Approval is how a call stands that waits for a yes.
type Approval string

// The approvals: it can still be given or declined; it was given, or declined; something else was said since, or too
// much time has passed.
const (
	ApprovalOpen     Approval = "open"
	ApprovalAllowed  Approval = "allowed"
	ApprovalDeclined Approval = "declined"
	ApprovalLapsed   Approval = "lapsed"
)

// Prospect says what can still be done about a run. shown is its outcome, nil if it has not ended.
func (s *Service) Prospect(ctx context.Context, row Row, shown *assistant.Shown) (p Prospect, err error) {
	if row.Cause == run.CauseSuspended {
		fault, err := s.config.Engine.Suspension(ctx, row.Owner, row.Run)
		if err != nil {
			return p, err
		}
		if fault != nil {
			p.Waits = &assistant.Failure{Kind: fault.Kind, Message: fault.Reason}
		}
	}
	if a := s.byName[row.Assistant]; a != nil && a.Retakes && (shown != nil || row.State == run.StatePaused) {
		acted, err := s.hasActed(ctx, row.Run, shown)
		if err != nil {
			return p, err
		}
		p.Retakable = !acted
	}
	if shown != nil && len(shown.Waiting) > 0 {
		p.Approval, err = s.approvals(ctx, row.Run, len(shown.Waiting))
	}
	return p, err
}

// approvals says how each of so many calls stands that a run waits to be allowed.
func (s *Service) approvals(ctx context.Context, r journal.Run, calls int) ([]Approval, error) {
	now := s.config.Now()
	rows, err := s.config.Store.Pending(ctx, r.Owner, r.Session, time.Time{})
	if err != nil {
		return nil, err
	}
	all := slices.Repeat([]Approval{ApprovalLapsed}, calls)
	left := false
	for n := range all {
		at := slices.IndexFunc(rows, func(p journal.Pending) bool { return p.ID == assistant.PendingID(r.ID, n+1) })
		if at < 0 {
			continue
		}
		left = true
		switch {
		case rows[at].Kind == journal.Declined:
			all[n] = ApprovalDeclined
		case rows[at].Open(now):
			all[n] = ApprovalOpen
		}
	}
	if left {
		return all, nil
	}
	used, err := s.usedUpAfter(ctx, r)
	for n := range all {
		if slices.Contains(used, assistant.PendingID(r.ID, n+1)) {
			all[n] = ApprovalAllowed
		}
	}
	return all, err
}

// usedUpAfter lists the pending rows that the first run after r in its session has consumed.
func (s *Service) usedUpAfter(ctx context.Context, r journal.Run) ([]string, error) {
	var next journal.Run
	for later, err := range s.allRuns(ctx, r.Owner, journal.Filter{Session: r.Session, From: r.EndedAt}) {
		if err != nil {
			return nil, err
		}
		if a := s.byName[later.Assistant]; later.ID != r.ID && (a == nil || !a.Companion) {
			next = later // the latest comes first
		}
	}
	if next.ID == "" {
		return nil, nil
	}
	recs, err := s.config.Store.Records(ctx, r.Owner, next.ID, 0)
	if err != nil {
		return nil, err
	}
	start, err := run.StartOf(recs)
	if err != nil {
		return nil, nil // what can't be read allowed nothing that is known
	}
	return start.Consumed, nil
}

// completeAllowance sets what a request that allows calls takes from the run that waits for it: assistant, session and
// words. The error is journal.ErrConsumed if no call of that run waits.
func (s *Service) completeAllowance(ctx context.Context, owner journal.Owner, r *Request) error {
	asked, err := s.config.Store.Run(ctx, owner, r.Allows.Run)
	if err != nil {
		return err
	}
	var res Result
	if asked.Status != journal.Running {
		if res, err = s.Result(ctx, owner, asked.ID); err != nil {
			return err
		}
	}
	if len(res.Waiting) == 0 {
		return journal.ConsumedError(asked.ID)
	}
	r.Assistant, r.Session, r.Words = asked.Assistant, asked.Session, res.Question
	return nil
}

// Decline answers no to the calls of a run that wait for a yes, so that no later message can allow them. Without such
// calls it changes nothing.
func (s *Service) Decline(ctx context.Context, owner journal.Owner, id string) error {
	r, err := s.config.Store.Run(ctx, owner, id)
	if err != nil || r.Status == journal.Running {
		return err
	}
	if res, err := s.Result(ctx, owner, id); err != nil || len(res.Waiting) == 0 {
		return err
	}
	return s.config.Store.Void(ctx, owner, id)
}

// hasActed says whether a run changed something or did what its user had allowed. If it has not ended, its records show
// that: a mark, or a pending row that its start consumed.
func (s *Service) hasActed(ctx context.Context, r journal.Run, shown *assistant.Shown) (bool, error) {
	if shown != nil {
		return shown.Acted, nil
	}
	recs, err := s.config.Store.Records(ctx, r.Owner, r.ID, 0)
	if err != nil {
		return false, err
	}
	for _, rec := range recs {
		if rec.Kind == run.KindMark {
			return true, nil
		}
	}
	start, err := run.StartOf(recs)
	return err == nil && len(start.Consumed) > 0, err
}

// checkPlace checks the run of the session that r replaces or follows. One that is replaced has not acted, and is not
// queued or driven. It sets an empty r.Session.
func (s *Service) checkPlace(ctx context.Context, owner journal.Owner, a *assistant.Assistant, r *Request) error {
	switch {
	case r.Replaces != "" && r.Follows != "":
		return asUsageError(&assistant.RequestError{
			Why:  bt.Because("a message takes the place of an earlier one or goes on from one, and not both"),
			Hint: "leave out replaces or follows"})
	case !a.Retakes:
		return asUsageError(&assistant.RequestError{
			Why:  bt.Because("what is said to this assistant acts, so it keeps its place"),
			Hint: "say it as a new message"})
	}
	row, err := s.Run(ctx, owner, cmp.Or(r.Replaces, r.Follows))
	if err != nil {
		return asUsageError(err)
	}
	if r.Session == "" {
		r.Session = row.Session
	}
	switch {
	case row.Session != r.Session:
		return fmt.Errorf("run %s: %w", row.ID, journal.ErrNoPlace)
	case r.Follows != "":
		return nil
	case row.Status == journal.Running && row.State != run.StatePaused:
		return journal.ErrLeased
	}
	var shown *assistant.Shown
	if row.Status != journal.Running {
		res, err := s.Result(ctx, owner, row.ID)
		if err != nil {
			return err
		}
		shown = &res.Shown
	}
	acted, err := s.hasActed(ctx, row.Run, shown)
	if err != nil {
		return err
	}
	if acted {
		return ErrActed
	}
	return nil
}

// stopReplaced stops the run that a new one is about to replace, if it has not ended; journal.ErrLeased while it is
// queued or driven. It is called last, so that a run that can't begin stops nothing.
func (s *Service) stopReplaced(ctx context.Context, owner journal.Owner, id string) error {
	if id == "" {
		return nil
	}
	row, err := s.Run(ctx, owner, id)
	if err != nil || row.Status != journal.Running {
		return err
	}
	if row.State != run.StatePaused {
		return journal.ErrLeased
	}
	return s.Cancel(context.WithoutCancel(ctx), owner, id, "another run takes its place")
}

// ErrActed is the error of a request to replace a run that has acted.
var ErrActed = errors.New("it has acted, so no other run can take its place")
