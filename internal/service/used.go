package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Prices are what models cost, as the settings say.
type Prices struct {
	Currency string
	// Of is what so many tokens of a model cost, those that were cached being some of the input; false: it has no price.
	Of func(model string, input, cached, output int) (float64, bool)
}

// Currency is that of what models cost; empty: nobody has said what they do.
func (s *Service) Currency() string {
	if s.config.Prices == nil {
		return ""
	}
	return s.config.Prices.Currency
}

// Used is what a model took in one effect of a run.
type Used struct {
	Record int64 `json:"record" doc:"The number of the record that holds its receipt."`
	assistant.Usage
}

// Costs are what the runs of a session took.
type Costs struct {
	Currency string     `json:"currency,omitempty" doc:"Left out: the server knows no prices. Nothing else is told then."`
	Cost     float64    `json:"cost" doc:"Of the runs that have one."`
	Runs     []RunCosts `json:"runs" doc:"Those that asked a model, the latest first."`
	Left     int        `json:"left" doc:"How many runs were not looked at, since there was no time or they are too many."`
}

// RunCosts are what a run took.
type RunCosts struct {
	Run string `json:"run"`
	assistant.Usage
}

// Costs says what the runs of a session cost, the latest ones and as far as there is time. Without prices it says nothing.
func (s *Service) Costs(ctx context.Context, owner journal.Owner, session string, most int, within time.Duration) (c Costs, err error) {
	found, err := s.config.Store.Session(ctx, owner, session)
	if err != nil || s.config.Prices == nil {
		return c, err
	}
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Session: session, Limit: most})
	if err != nil {
		return c, err
	}
	c.Currency = s.Currency()
	look, cut := context.WithTimeout(ctx, within)
	defer cut()
	for n, r := range runs {
		used, err := s.usedBy(look, r)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			c.Left = max(found.Runs, len(runs)) - n
			return c, nil
		}
		if err != nil {
			return c, err
		}
		if len(used) == 0 {
			continue
		}
		sum := assistant.Sum(used...)
		if sum.Cost != nil {
			c.Cost += *sum.Cost
		}
		c.Runs = append(c.Runs, RunCosts{r.ID, sum})
	}
	c.Left = max(found.Runs-len(runs), 0)
	return c, nil
}

// usedBy is what the models of a run took, a model once.
func (s *Service) usedBy(ctx context.Context, r journal.Run) ([]assistant.Usage, error) {
	recs, err := s.config.Store.Records(ctx, r.Owner, r.ID, 0)
	return summed(usages(s.usedOf(r.Assistant, recs))), err
}

// usedOf is what models took, by the receipts of a run of an assistant. What can't be read tells nothing.
func (s *Service) usedOf(name string, recs []journal.Record) (all []Used) {
	usedBy := assistant.UsedBy
	if a := s.byName[name]; a != nil && a.Used != nil {
		usedBy = a.Used
	}
	for _, r := range recs {
		if r.Kind != run.KindCompletion {
			continue
		}
		if body, err := run.Read(r); err == nil {
			if u, used := usedBy(body.(*run.CompletionRecord)); used {
				all = append(all, Used{r.Seq, s.priced(u)})
			}
		}
	}
	return all
}

// priced adds what it cost, where the model has a price.
func (s *Service) priced(u assistant.Usage) assistant.Usage {
	if s.config.Prices == nil {
		return u
	}
	if cost, known := s.config.Prices.Of(u.Model, u.Input, u.Cached, u.Output); known {
		u.Cost = &cost
	}
	return u
}

func usages(used []Used) (all []assistant.Usage) {
	for _, u := range used {
		all = append(all, u.Usage)
	}
	return all
}

// summed has each model once.
func summed(used []assistant.Usage) (all []assistant.Usage) {
	for _, u := range used {
		at := slices.IndexFunc(all, func(one assistant.Usage) bool { return one.Model == u.Model })
		if at < 0 {
			all = append(all, u)
			continue
		}
		all[at] = assistant.Sum(all[at], u)
		all[at].Model = u.Model
	}
	slices.SortFunc(all, func(a, b assistant.Usage) int { return cmp.Compare(a.Model, b.Model) })
	return all
}

// Used is what the models of these runs took, a model once. A run that there is not took nothing.
func (s *Service) Used(ctx context.Context, owner journal.Owner, runs ...string) ([]assistant.Usage, error) {
	var all []assistant.Usage
	for _, id := range runs {
		r, err := s.config.Store.Run(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		used, err := s.usedBy(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, used...)
	}
	return summed(all), nil
}

// Used is what the models of the run took, and those of runs beside it.
func (r *Run) Used(ctx context.Context, owner journal.Owner, beside ...string) ([]assistant.Usage, error) {
	return r.s.Used(ctx, owner, append(beside, r.ID)...)
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
	last.Used = summed(append(last.Used, used...))
	return days
}
