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

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
)

// longestList bounds the rows of one query: older runs and sessions are found only by their full ids.
const longestList = 1000

// Row is a run in a list, with how it stands.
type Row struct {
	journal.Run
	run.Standing
	Companion bool `json:"companion" doc:"It goes along with a run of another assistant: its user did not ask for it."`

	Used *assistant.Usage `json:"used,omitempty" doc:"What its models took, where that was asked for."`
}

// newRows makes the Rows of runs, without Used.
func (s *Service) newRows(ctx context.Context, owner journal.Owner, runs ...journal.Run) ([]Row, error) {
	standings, err := s.config.Engine.Standings(ctx, owner, runs...)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(runs))
	for i, r := range runs {
		rows[i] = Row{Run: r, Standing: standings[i], Companion: s.isCompanion(r.Assistant)}
	}
	return rows, nil
}

// newRow is newRows of one run.
func (s *Service) newRow(ctx context.Context, r journal.Run) (Row, error) {
	rows, err := s.newRows(ctx, r.Owner, r)
	return append(rows, Row{Run: r})[0], err
}

// Runs lists runs with their states, the latest started first.
func (s *Service) Runs(ctx context.Context, owner journal.Owner, f journal.Filter) ([]Row, error) {
	runs, err := s.config.Store.Runs(ctx, owner, f)
	if err != nil {
		return nil, err
	}
	return s.newRows(ctx, owner, runs...)
}

// Waiting lists the runs of a filter that need their user, the latest first: paused ones, and those with an open
// question, whatever status the filter has. It leaves out companions.
func (s *Service) Waiting(ctx context.Context, owner journal.Owner, f journal.Filter) ([]Row, error) {
	var all []Row
	asking, limit := f, f.Limit
	f.Status, asking.Status, asking.Asking = journal.Running, "", s.config.Now()
	for _, one := range []journal.Filter{f, asking} {
		one.Limit = longestList
		rows, err := s.Runs(ctx, owner, one)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	all = slices.DeleteFunc(all, func(r Row) bool {
		return r.Companion || r.State == run.StateRunning
	})
	slices.SortFunc(all, func(a, b Row) int { return b.Cursor().Compare(a.Cursor()) })
	return all[:min(len(all), limit)], nil
}

// AddUsage adds their usage to rows. Removed or damaged runs get none.
func (s *Service) AddUsage(ctx context.Context, rows []Row) error {
	var keys []journal.Key
	for _, row := range rows {
		keys = append(keys, journal.Key{Owner: row.Owner, Run: row.ID})
	}
	all, err := s.usedBy(ctx, keys)
	if err != nil && !errors.Is(err, journal.ErrCorrupt) {
		return err
	}
	for i, k := range keys {
		if used := all[k]; len(used) > 0 {
			sum := assistant.Sum(s.withCosts(used)...)
			rows[i].Used = &sum
		}
	}
	return nil
}

// Run gives a run by its full id.
func (s *Service) Run(ctx context.Context, owner journal.Owner, id string) (Row, error) {
	r, err := s.config.Store.Run(ctx, owner, id)
	if err != nil {
		return Row{}, err
	}
	return s.newRow(ctx, r)
}

// Busy counts the running runs of an owner, also queued ones, but none that rest or are set aside; it stops at bound.
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

// allRuns gives all runs of an owner that a filter selects, whatever its Limit, the latest first, until an error.
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

// Census counts the running runs of all owners by assistant and state.
func (s *Service) Census(ctx context.Context) ([]journal.Count, error) {
	return s.config.Store.Census(ctx, s.config.Engine.LeaseTimes())
}

// Session gives a session by its full id.
func (s *Service) Session(ctx context.Context, owner journal.Owner, id string) (journal.Session, error) {
	return s.config.Store.Session(ctx, owner, id)
}

// Sessions lists sessions, the most recently updated first.
func (s *Service) Sessions(
	ctx context.Context, owner journal.Owner, f journal.SessionFilter,
) ([]journal.Session, error) {
	return s.config.Store.Sessions(ctx, owner, f)
}

// Talks lists sessions as Sessions does, without those of assistants that keep them elsewhere, such as the Council.
func (s *Service) Talks(ctx context.Context, owner journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	for _, a := range s.config.Assistants {
		if a.StoresSessions {
			f.Without = append(f.Without, a.Name)
		}
	}
	return s.Sessions(ctx, owner, f)
}

// Removed lists the tombstones of sessions, the latest removed first.
func (s *Service) Removed(
	ctx context.Context, owner journal.Owner, f journal.SessionFilter,
) ([]journal.Tombstone, error) {
	return s.config.Store.Tombstones(ctx, owner, f)
}

// isCompanion says whether an assistant is a companion; false for one that this program does not have.
func (s *Service) isCompanion(name string) bool {
	a := s.byName[name]
	return a != nil && a.Companion
}

// FindRun finds a run by its id, by a beginning or end of one of the latest ids, or by “last”: no companion's.
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

// FindSession finds a session as FindRun finds a run, of one assistant or, if that is "", of any. For a removed one the
// error is a journal.RemovedError.
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

// LastIn gives the last updated session of an assistant about a folder; journal.ErrNotFound if there is none.
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

// redactFolder gives a folder's path as sessions store it.
func (s *Service) redactFolder(folder string) string { return journal.Clean(s.config.Redact(folder)) }

// ErrNone is the error of “last” if there is no run or session yet.
var ErrNone = errors.New("nothing was asked yet")

// mostMatches bounds the ids in the error about an ambiguous name.
const mostMatches = 5

// matchID gives the first for “last”, else the only one whose id begins or ends with name; several are an error.
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

// Rename gives a session another title: redacted, in one line, cut at journal.MostTitle; an empty one is a UsageError.
func (s *Service) Rename(ctx context.Context, owner journal.Owner, id, title string) error {
	if title = text.Brief(journal.Clean(s.config.Redact(title)), journal.MostTitle); title == "" {
		return asUsageError(&assistant.RequestError{Why: noTitle.With()})
	}
	return s.config.Store.RenameSession(ctx, owner, id, title)
}

// Delete removes a session with its runs and leaves a tombstone; journal.ErrLeased while one of its runs is driven.
func (s *Service) Delete(ctx context.Context, owner journal.Owner, id string) error {
	return s.config.Store.DeleteSession(ctx, owner, id, journal.ByPerson, s.config.Now())
}

// Retired counts the sessions of an assistant that Retire removed.
type Retired struct {
	Assistant string
	Unused    time.Duration // its retention
	Sessions  int
}

// Retire removes at most limit sessions that, at that time, nobody had used for the retention of their assistant, each
// in its own transaction. It counts them also with an error. At the zero time it does nothing.
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

// retireSessions removes at most most sessions of an assistant that nobody has used since before, atOnce in one
// transaction. It gives their tombstones, also with an error.
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

// prunableAssistants lists the assistants that are not Permanent: their old sessions may be removed.
func (s *Service) prunableAssistants() []*assistant.Assistant {
	return slices.DeleteFunc(slices.Clone(s.config.Assistants), func(a *assistant.Assistant) bool {
		return a.Permanent
	})
}

// Unused lists the sessions that Prune would remove: unused for age, and not of a Permanent assistant.
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

// pruneAtOnce bounds the sessions in one transaction of Prune, so that others can write in between.
const pruneAtOnce = 20

// Prune removes the sessions that Unused lists. It gives their tombstones, also with an error.
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
