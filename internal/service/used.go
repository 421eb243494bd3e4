package service

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// Prices are the prices of models from the settings.
type Prices struct {
	Currency string
	// Of gives the cost of so many tokens of a model; cached ones are part of input. False: it has no price.
	Of func(model string, input, cached, output int) (float64, bool)
	// Limit is what an owner may spend in a day; beyond it, a run begins only if the owner agrees. 0: no limit.
	Limit float64
}

// Currency gives the currency of the prices; "" if no prices are known.
func (s *Service) Currency() string {
	if s.config.Prices == nil {
		return ""
	}
	return s.config.Prices.Currency
}

// Used is the usage of a model in one effect of a run.
type Used struct {
	Record int64 `json:"record" doc:"The number of the record that holds its receipt."`
	assistant.Usage
}

// Costs is the usage of the runs of a session.
type Costs struct {
	Currency string     `json:"currency,omitempty" doc:"Left out: the server knows no prices. Nothing else is told then."`
	Cost     float64    `json:"cost" doc:"Of the runs that have one."`
	Runs     []RunCosts `json:"runs" doc:"Those that asked a model, the latest first."`
}

// RunCosts is the usage of one run, all its models together.
type RunCosts struct {
	Run string `json:"run"`
	assistant.Usage
}

// Costs gives the usage and costs of the runs of a session. Without prices the Costs are empty.
func (s *Service) Costs(ctx context.Context, owner journal.Owner, session string) (c Costs, err error) {
	if _, err = s.config.Store.Session(ctx, owner, session); err != nil || s.config.Prices == nil {
		return c, err
	}
	var runs []journal.Key
	for r, err := range s.allRuns(ctx, owner, journal.Filter{Session: session}) {
		if err != nil {
			return c, err
		}
		runs = append(runs, journal.Key{Owner: owner, Run: r.ID})
	}
	used, err := s.usedBy(ctx, runs)
	if err != nil {
		return c, err
	}
	c.Currency = s.Currency()
	for _, r := range runs {
		if len(used[r]) == 0 {
			continue
		}
		sum := assistant.Sum(s.withCosts(used[r])...)
		if sum.Cost != nil {
			c.Cost += *sum.Cost
		}
		c.Runs = append(c.Runs, RunCosts{r.Run, sum})
	}
	return c, nil
}

// The most runs of which one query gives the usage, and of which one write keeps it.
const (
	mostUsed    = 500
	mostCounted = 100
)

// usedBy gives the usage of runs, by model. Runs that do not exist are left out; so are damaged ones, with ErrCorrupt.
func (s *Service) usedBy(ctx context.Context, runs []journal.Key) (map[journal.Key][]journal.Used, error) {
	all := map[journal.Key][]journal.Used{}
	var damaged error
	for some := range slices.Chunk(runs, mostUsed) {
		kept, others, err := s.config.Store.UsedBy(ctx, some)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, kept)
		counted, err := s.count(ctx, others)
		if err != nil && !errors.Is(err, journal.ErrCorrupt) {
			return nil, err
		}
		maps.Copy(all, counted)
		damaged = errors.Join(damaged, err)
	}
	return all, damaged
}

// count reads the usage of runs from their records, and keeps that of those that have ended, where the store can be
// written to. Removed runs are left out; so are damaged ones, with ErrCorrupt.
func (s *Service) count(ctx context.Context, runs []journal.Uncounted) (map[journal.Key][]journal.Used, error) {
	all := map[journal.Key][]journal.Used{}
	var damaged error
	for some := range slices.Chunk(runs, mostCounted) {
		ended := map[journal.Key][]journal.Used{}
		for _, r := range some {
			recs, err := s.config.Store.Records(ctx, r.Owner, r.Run, 0)
			switch {
			case errors.Is(err, journal.ErrNotFound):
				continue
			case errors.Is(err, journal.ErrCorrupt):
				damaged = errors.Join(damaged, err)
				continue
			case err != nil:
				return nil, err
			}
			all[r.Key] = run.SumUsed(run.Receipts(recs), usageReader(s.byName[r.Assistant]))
			if r.Ended {
				ended[r.Key] = all[r.Key]
			}
		}
		if len(ended) == 0 {
			continue
		}
		if err := s.config.Store.KeepUsed(ctx, ended); err != nil && !journal.CannotWrite(err) {
			return nil, err
		}
	}
	return all, damaged
}

// usagesByReceipt gives the usage that each receipt of a run reports, with its cost. It skips unreadable receipts.
func (s *Service) usagesByReceipt(name string, recs []journal.Record) (all []Used) {
	readUsage := usageReader(s.byName[name])
	for seq, c := range run.Receipts(recs) {
		if u, used := readUsage(c); used {
			all = append(all, Used{seq, s.withCost(u)})
		}
	}
	return all
}

// usageReader gives the function that reads the usage from an assistant's receipts; nil: an unknown assistant.
func usageReader(a *assistant.Assistant) func(c *run.CompletionRecord) (journal.Used, bool) {
	if a != nil && a.Used != nil {
		return a.Used
	}
	return assistant.UsedBy
}

// withCost adds the cost, if the model has a price.
func (s *Service) withCost(used journal.Used) assistant.Usage {
	u := assistant.UsageOf(used)
	if s.config.Prices == nil {
		return u
	}
	if cost, known := s.config.Prices.Of(u.Model, u.Input, u.Cached, u.Output); known {
		u.Cost = &cost
	}
	return u
}

func (s *Service) withCosts(used []journal.Used) (all []assistant.Usage) {
	for _, u := range used {
		all = append(all, s.withCost(u))
	}
	return all
}

func usages(used []Used) (all []assistant.Usage) {
	for _, u := range used {
		all = append(all, u.Usage)
	}
	return all
}

// Used gives the usage of these runs together, one entry for each model; an error if one of them does not exist.
func (s *Service) Used(ctx context.Context, owner journal.Owner, runs ...string) ([]assistant.Usage, error) {
	var keys []journal.Key
	for _, id := range runs {
		keys = append(keys, journal.Key{Owner: owner, Run: id})
	}
	used, err := s.usedBy(ctx, keys)
	if err != nil {
		return nil, err
	}
	var all []journal.Used
	for _, k := range keys {
		one, exists := used[k]
		if !exists {
			if _, err := s.config.Store.Run(ctx, owner, k.Run); err != nil {
				return nil, err
			}
		}
		all = append(all, one...)
	}
	return s.withCosts(journal.SumUsed(all...)), nil
}

// Used gives the usage of the run so far, one entry for each model.
func (r *Run) Used(ctx context.Context, owner journal.Owner) ([]assistant.Usage, error) {
	return r.s.Used(ctx, owner, r.ID)
}

// Spent is the usage of an owner's runs that began on one day.
type Spent struct {
	Day  string // as 2006-01-02
	Runs int    // those that asked a model
	Used []assistant.Usage
}

// SpentBetween gives the usage of an owner's runs that began from one time until before another, by day, the latest
// first. The days are those of the time zone of from. Removed runs are not counted.
func (s *Service) SpentBetween(ctx context.Context, owner journal.Owner, from, to time.Time) (days []Spent, err error) {
	times := []time.Time{from}
	for next := nextDay(from); next.Before(to); next = nextDay(next) {
		times = append(times, next)
	}
	all, others, err := s.config.Store.UsedBetween(ctx, owner, append(times, to)...)
	if err != nil {
		return nil, err
	}
	counted, err := s.count(ctx, others)
	if err != nil {
		return nil, err
	}
	for _, r := range others {
		for i, u := range counted[r.Key] {
			one := journal.UsedAt{At: r.StartedAt, Used: u}
			if i == 0 {
				one.Runs = 1
			}
			all = append(all, one)
		}
	}
	runs, used := map[string]int{}, map[string][]journal.Used{}
	for _, u := range all {
		day := u.At.In(from.Location()).Format(time.DateOnly)
		runs[day] += u.Runs
		used[day] = append(used[day], u.Used)
	}
	for _, day := range slices.Backward(slices.Sorted(maps.Keys(used))) {
		days = append(days, Spent{Day: day, Runs: runs[day], Used: s.withCosts(journal.SumUsed(used[day]...))})
	}
	return days, nil
}

// nextDay gives the beginning of the day after that of t, in its time zone. If the clocks are changed at midnight,
// time.Date may give another time than that beginning.
func nextDay(t time.Time) time.Time {
	year, month, day := t.Date()
	next := time.Date(year, month, day+1, 0, 0, 0, 0, t.Location())
	for next.Day() == day {
		next = next.Add(15 * time.Minute)
	}
	for before := next.Add(-15 * time.Minute); before.Day() != day; before = next.Add(-15 * time.Minute) {
		next = before
	}
	return next
}
