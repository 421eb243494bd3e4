package service

import (
	"context"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
)

// Used is what the models of these runs took, a model once. A run that there is not took nothing.
func (s *Service) Used(ctx context.Context, owner journal.Owner, runs ...string) ([]assistant.Usage, error) {
	var all []Used
	for _, id := range runs {
		r, err := s.config.Store.Run(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		used, err := s.usedBy(ctx, r)
		if err != nil {
			return nil, err
		}
		for _, u := range used {
			all = append(all, Used{Usage: u})
		}
	}
	return summed(all), nil
}

// Used is what the models of the run took.
func (r *Run) Used(ctx context.Context, owner journal.Owner) ([]assistant.Usage, error) {
	return r.s.Used(ctx, owner, r.ID)
}

// Spent is what the models of an owner took for the runs that began on a day.
type Spent struct {
	Day  string // as 2006-01-02, where this process is
	Runs int    // that asked a model
	Used []assistant.Usage
}

// SpentBetween says what the models of an owner took from one time until another, a day once, the latest first. Runs that were removed are not in it.
func (s *Service) SpentBetween(ctx context.Context, owner journal.Owner, from, to time.Time) (days []Spent, err error) {
	f := journal.Filter{Limit: longestList}
	for {
		runs, err := s.config.Store.Runs(ctx, owner, f)
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if r.StartedAt.Before(from) {
				return days, nil
			}
			if !r.StartedAt.Before(to) {
				continue
			}
			used, err := s.usedBy(ctx, r)
			if err != nil {
				return nil, err
			}
			if len(used) > 0 {
				days = spentOn(days, r.StartedAt.Local().Format(time.DateOnly), used)
			}
		}
		if len(runs) < f.Limit {
			return days, nil
		}
		f.After = runs[len(runs)-1].Cursor()
	}
}

func spentOn(days []Spent, day string, used []assistant.Usage) []Spent {
	if n := len(days); n == 0 || days[n-1].Day != day {
		days = append(days, Spent{Day: day})
	}
	last := &days[len(days)-1]
	last.Runs++
	var all []Used
	for _, u := range append(last.Used, used...) {
		all = append(all, Used{Usage: u})
	}
	last.Used = summed(all)
	return days
}
