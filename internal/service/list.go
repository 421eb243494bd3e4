package service

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// longestList bounds the rows that are searched for a name, and those of one page.
const longestList = 1000

// How a run stands that is neither driven nor has ended.
const (
	Queued      = "queued"      // nobody has driven it yet
	Interrupted = "interrupted" // nobody drives it any more
	Suspended   = "suspended"   // it waits for its provider, or for a person who has it go on
	SetAside    = "set_aside"   // three processes died of it: only a person may have it resumed
)

// Row is a run in a list.
type Row struct {
	journal.Run
	Companion bool   `json:"companion" doc:"It goes along with a run of another assistant: its user did not ask for it."`
	State     string `json:"state" doc:"How it stands: running, queued, suspended, interrupted, set_aside, or why it ended."`
	Why       string `json:"why,omitempty" doc:"Of a run that is set aside: why only a person may have it gone on with."`
	bt.Coded

	Used *assistant.Usage `json:"used,omitempty" doc:"What its models took, where that was asked for."`
}

// newRow is a run as lists have it.
func (s *Service) newRow(r journal.Run) Row {
	row := Row{Run: r, Companion: s.isCompanion(r.Assistant), State: s.State(r)}
	if row.State == SetAside {
		why := run.WhySetAside(r)
		row.Why, row.Coded = why.Text, why.Coded
	}
	return row
}

// suspensionCause says why a run is suspended; nil for one that is not.
func (s *Service) suspensionCause(ctx context.Context, row Row) (*assistant.Failure, error) {
	if row.State != Suspended {
		return nil, nil
	}
	recs, err := s.config.Store.Records(ctx, row.Owner, row.ID, row.Records-1)
	if err != nil || len(recs) == 0 {
		return nil, err
	}
	body, err := run.Read(recs[len(recs)-1])
	if err != nil {
		return nil, err
	}
	if suspended, isSuspended := body.(*run.SuspendRecord); isSuspended {
		return &assistant.Failure{Kind: suspended.Fault.Kind, Message: suspended.Fault.Reason}, nil
	}
	return nil, nil // it was set aside until its provider is asked again
}

// State says how a run stands, in a word.
func (s *Service) State(r journal.Run) string {
	switch {
	case r.SetAside() && !s.config.Engine.Driven(r):
		return SetAside
	case r.Rests(s.config.Engine.LeaseTimes()):
		return Suspended
	case r.Status == journal.Running && r.LeaseHolder == "" && r.Records <= 1:
		return Queued
	case r.Status == journal.Running && !s.config.Engine.Driven(r):
		return Interrupted
	case r.Reason != "":
		return r.Reason
	}
	return string(r.Status)
}

// Runs lists runs, the latest first.
func (s *Service) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]Row, error) {
	runs, err := s.config.Store.Runs(ctx, owner, f)
	rows := make([]Row, len(runs))
	for i, r := range runs {
		rows[i] = s.newRow(r)
	}
	return rows, err
}

// Waiting lists the runs that wait for their person, the latest first: those that have not ended and that nobody
// drives, and those whose question is open. Runs of companions wait for nobody.
func (s *Service) Waiting(ctx context.Context, owner journal.Owner, limit int) ([]Row, error) {
	var all []Row
	for _, f := range []journal.Filter{{Status: journal.Running}, {Asking: s.config.Now()}} {
		f.Limit = longestList
		rows, err := s.Runs(ctx, owner, f)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	all = slices.DeleteFunc(all, func(r Row) bool {
		isActive := r.State == Queued || r.State == string(journal.Running)
		return r.Companion || isActive
	})
	slices.SortFunc(all, func(a, b Row) int { return b.Cursor().Compare(a.Cursor()) })
	return all[:min(len(all), limit)], nil
}

// AddUsage adds to runs what their models took, as far as there is time: those that are left have none.
func (s *Service) AddUsage(ctx context.Context, rows []Row, within time.Duration) error {
	limited, cut := context.WithTimeout(ctx, within)
	defer cut()
	for i := range rows {
		used, err := s.usageOfRun(limited, rows[i].Run)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil
		}
		if err != nil && !errors.Is(err, journal.ErrNotFound) && !errors.Is(err, journal.ErrCorrupt) {
			return err
		}
		if len(used) > 0 {
			sum := assistant.Sum(used...)
			rows[i].Used = &sum
		}
	}
	return nil
}

// Run gives the run of an id, which is whole.
func (s *Service) Run(ctx context.Context, owner journal.Owner, id string) (Row, error) {
	r, err := s.config.Store.Run(ctx, owner, id)
	return s.newRow(r), err
}

// Busy counts the runs of an owner that have not ended, do not rest and are not set aside, up to a bound.
func (s *Service) Busy(ctx context.Context, owner journal.Owner, bound int) (busy int, err error) {
	now := s.config.Engine.LeaseTimes()
	for r, err := range s.allRuns(ctx, owner, journal.Filter{Status: journal.Running}) {
		if err != nil || busy >= bound {
			return busy, err
		}
		if !r.Rests(now) && !r.SetAside() {
			busy++
		}
	}
	return busy, nil
}

// allRuns gives the runs of an owner that a filter selects, however many there are, the latest first. Nothing comes
// after an error.
func (s *Service) allRuns(ctx context.Context, owner journal.Owner, f journal.Filter) iter.Seq2[journal.Run, error] {
	return func(yield func(journal.Run, error) bool) {
		for f.Limit = longestList; ; {
			rows, err := s.config.Store.Runs(ctx, owner, f)
			if err != nil {
				yield(journal.Run{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			if len(rows) < f.Limit {
				return
			}
			f.After = rows[len(rows)-1].Cursor()
		}
	}
}

// Census counts the runs of all owners that have not ended, by assistant and how they stand.
func (s *Service) Census(ctx context.Context) ([]journal.Count, error) {
	return s.config.Store.Census(ctx, s.config.Engine.LeaseTimes())
}

// Session gives the session of an id, which is whole.
func (s *Service) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	return s.config.Store.Session(ctx, owner, id)
}

// Sessions lists sessions, the last used first.
func (s *Service) Sessions(
	ctx context.Context, owner journal.Owner, f journal.SessionFilter,
) ([]journal.Session, error) {
	return s.config.Store.Sessions(ctx, owner, f)
}

// Talks lists the sessions of which all that was said lies in their runs: those of the Council are listed by its desk.
func (s *Service) Talks(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	for _, a := range s.config.Assistants {
		if a.Apart {
			f.Without = append(f.Without, a.Name)
		}
	}
	return s.Sessions(ctx, owner, f)
}

// Removed lists what removed sessions have left, the latest removed first.
func (s *Service) Removed(
	ctx context.Context, owner journal.Owner, f journal.SessionFilter,
) ([]journal.Tombstone, error) {
	return s.config.Store.Tombstones(ctx, owner, f)
}

// isCompanion says that an assistant's runs are not of the person's own doing.
func (s *Service) isCompanion(name string) bool {
	a := s.byName[name]
	return a != nil && a.Companion
}

// FindRun finds a run by its id, the beginning or end of one, or “last”.
func (s *Service) FindRun(ctx context.Context, owner journal.Owner, name string) (journal.Run, error) {
	r, err := s.config.Store.Run(ctx, owner, name)
	if !errors.Is(err, journal.ErrNotFound) {
		return r, err
	}
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Limit: longestList})
	if err != nil {
		return journal.Run{}, err
	}
	if name == "last" {
		runs = slices.DeleteFunc(runs, func(r journal.Run) bool { return s.isCompanion(r.Assistant) })
	}
	r, err = matchID("run", name, runs, func(r journal.Run) string { return r.ID })
	return r, asUsageError(err)
}

// FindSession finds a session in the same ways, of one assistant or, if that is "", of any. One that was removed is a
// journal.RemovedError.
func (s *Service) FindSession(
	ctx context.Context, owner journal.Owner, assistant, name string,
) (journal.Session, error) {
	found, err := s.config.Store.Session(ctx, owner, name)
	var removed *journal.RemovedError
	if !errors.Is(err, journal.ErrNotFound) || errors.As(err, &removed) {
		return found, asUsageError(err)
	}
	sessions, err := s.config.Store.Sessions(ctx, owner, journal.SessionFilter{Assistant: assistant,
		Limit: longestList})
	if err != nil {
		return journal.Session{}, err
	}
	if name == "last" {
		sessions = slices.DeleteFunc(sessions, func(x journal.Session) bool { return s.isCompanion(x.Assistant) })
	}
	found, err = matchID("session", name, sessions, func(x journal.Session) string { return x.ID })
	if name == "last" || !errors.Is(err, journal.ErrNotFound) {
		return found, asUsageError(err)
	}
	left, lookErr := s.config.Store.Tombstones(ctx, owner, journal.SessionFilter{Limit: longestList})
	if t, pickErr := matchID("session", name, left, func(t journal.Tombstone) string {
		return t.ID
	}); lookErr == nil && pickErr == nil {
		return found, asUsageError(&journal.RemovedError{Tombstone: t})
	}
	return found, asUsageError(errors.Join(err, lookErr))
}

// LastIn gives the session of an assistant that was last used among those about a folder; journal.ErrNotFound where
// there is none.
func (s *Service) LastIn(ctx context.Context, owner journal.Owner, assistant, place string) (journal.Session, error) {
	all, err := s.config.Store.Sessions(ctx, owner, journal.SessionFilter{Assistant: assistant,
		Place: s.redactFolder(place), Limit: 1})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no session is about %s: %w", place, journal.ErrNotFound)
	}
	if err != nil {
		return journal.Session{}, err
	}
	return all[0], nil
}

// redactFolder is a folder as sessions keep it.
func (s *Service) redactFolder(folder string) string { return journal.Clean(s.config.Redact(folder)) }

// ErrNone says that there is nothing yet that could be found.
var ErrNone = errors.New("nothing was asked yet")

// mostMatches bounds how many of the things that a name fits are listed.
const mostMatches = 5

// matchID takes the first for “last”, else the only one whose id begins or ends with the name.
func matchID[T any](what, name string, all []T, id func(T) string) (found T, err error) {
	switch {
	case name == "":
		return found, fmt.Errorf("no %s given: use last, or an id that ‘sibyl %s list’ shows", what, what)
	case name == "last" && len(all) == 0:
		return found, fmt.Errorf("there is no %s: %w", what, ErrNone)
	case name == "last":
		return all[0], nil
	}
	var ids []string
	for _, one := range all {
		if strings.HasPrefix(id(one), name) || strings.HasSuffix(id(one), name) {
			found = one
			ids = append(ids, id(one))
		}
	}
	switch len(ids) {
	case 1:
		return found, nil
	case 0:
		return found, fmt.Errorf("%s “%s”: %w", what, name, journal.ErrNotFound)
	}
	return found, fmt.Errorf("%d matches for %s “%s”, such as %s", len(ids), what, name,
		strings.Join(ids[:min(mostMatches, len(ids))], ", "))
}

// Rename gives a session another title.
func (s *Service) Rename(ctx context.Context, owner journal.Owner, id, title string) error {
	const most = 72
	title = strings.Join(strings.Fields(journal.Clean(s.config.Redact(title))), " ")
	if r := []rune(title); len(r) > most {
		title = string(r[:most-1]) + "…"
	}
	if title == "" {
		return asUsageError(&assistant.RequestError{Why: noTitle.With()})
	}
	return s.config.Store.RenameSession(ctx, owner, id, title)
}

// Delete removes a session with its runs and records.
func (s *Service) Delete(ctx context.Context, owner journal.Owner, id string) error {
	return s.config.Store.DeleteSession(ctx, owner, id, journal.ByPerson, s.config.Now())
}

// Retired is how many sessions of an assistant were removed that nobody had used for its retention.
type Retired struct {
	Assistant string
	Unused    time.Duration
	Sessions  int
}

// Retire removes sessions that nobody had used for the retention of their assistant at that time, at most limit of
// them, one a transaction, and says how many; also before an error. At the zero time nothing is that old.
func (s *Service) Retire(ctx context.Context, owner journal.Owner, at time.Time, limit int) (all []Retired, err error) {
	if at.IsZero() {
		return nil, nil
	}
	for _, a := range s.prunableAssistants() {
		if a.Retention <= 0 {
			continue
		}
		left, err := s.retireSessions(ctx, owner, a, at.Add(-a.Retention), limit, 1)
		if len(left) > 0 {
			all = append(all, Retired{Assistant: a.Name, Unused: a.Retention, Sessions: len(left)})
		}
		if err != nil {
			return all, err
		}
		limit -= len(left)
	}
	return all, nil
}

// retireSessions removes sessions of an assistant that nobody has used since before, at most so many, and so many in
// one transaction. It gives what is left of them, also before an error.
func (s *Service) retireSessions(
	ctx context.Context, owner journal.Owner, a *assistant.Assistant, before time.Time, most, atOnce int,
) (left []journal.Tombstone, err error) {
	for len(left) < most {
		idle := journal.IdleFilter{Assistant: a.Name, Before: before, Now: s.config.Now(), Limit: min(atOnce, most-len(left))}
		some, err := s.config.Store.Retire(ctx, owner, idle)
		left = append(left, some...)
		if err != nil || len(some) < idle.Limit {
			return left, err
		}
	}
	return left, nil
}

// prunableAssistants are the assistants whose sessions may go with time.
func (s *Service) prunableAssistants() []*assistant.Assistant {
	return slices.DeleteFunc(slices.Clone(s.config.Assistants), func(a *assistant.Assistant) bool {
		return a.Permanent
	})
}

// Unused lists the sessions that nobody has used for so long, and that Prune removes.
func (s *Service) Unused(ctx context.Context, owner journal.Owner, age time.Duration) ([]journal.Session, error) {
	var all []journal.Session
	now := s.config.Now()
	for _, a := range s.prunableAssistants() {
		unused, err := s.config.Store.Unused(ctx, owner, journal.IdleFilter{Assistant: a.Name, Before: now.Add(-age),
			Now: now, Limit: math.MaxInt32})
		if err != nil {
			return nil, err
		}
		all = append(all, unused...)
	}
	return all, nil
}

// pruneAtOnce bounds one transaction of Prune, so that others can write in between.
const pruneAtOnce = 20

// Prune removes the sessions that nobody has used for so long, and gives what is left of them, also of those that it
// removed before an error.
func (s *Service) Prune(ctx context.Context, owner journal.Owner, age time.Duration) ([]journal.Tombstone, error) {
	all := []journal.Tombstone{}
	before := s.config.Now().Add(-age)
	for _, a := range s.prunableAssistants() {
		left, err := s.retireSessions(ctx, owner, a, before, math.MaxInt, pruneAtOnce)
		if all = append(all, left...); err != nil {
			return all, err
		}
	}
	return all, nil
}
