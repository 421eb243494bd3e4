package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
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
	Left     int        `json:"left" doc:"How many runs were not looked at, since there was no time or they are too many."`
}

// RunCosts is the usage of one run, all its models together.
type RunCosts struct {
	Run string `json:"run"`
	assistant.Usage
}

// Costs gives the usage and costs of the latest runs of a session, at most most, until within has passed; Left counts
// the others. Without prices the Costs are empty.
func (s *Service) Costs(
	ctx context.Context, owner journal.Owner, session string, most int, within time.Duration,
) (c Costs, err error) {
	found, err := s.config.Store.Session(ctx, owner, session)
	if err != nil || s.config.Prices == nil {
		return c, err
	}
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Session: session, Limit: most})
	if err != nil {
		return c, err
	}
	c.Currency = s.Currency()
	limited, cut := context.WithTimeout(ctx, within)
	defer cut()
	for n, r := range runs {
		used, err := s.usageOfRun(limited, r)
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

// mostEnded bounds the runs in a usageCache: when it is full, it starts again empty.
const mostEnded = 4096

// usageCache caches the usage of ended runs, so that a repeated request for the costs of a long session gets further.
type usageCache struct {
	mu   sync.Mutex
	runs map[journal.Key][]assistant.Usage
}

func (t *usageCache) get(of journal.Key) (all []assistant.Usage, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, known = t.runs[of]
	return all, known
}

func (t *usageCache) keep(of journal.Key, all []assistant.Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.runs == nil || len(t.runs) >= mostEnded {
		t.runs = map[journal.Key][]assistant.Usage{}
	}
	t.runs[of] = all
}

// usageOfRun gives the usage of a run, one entry for each model, and caches it once the run has ended.
func (s *Service) usageOfRun(ctx context.Context, r journal.Run) ([]assistant.Usage, error) {
	key := journal.Key{Owner: r.Owner, Run: r.ID}
	if took, known := s.usage.get(key); known {
		return took, nil
	}
	recs, err := s.config.Store.Records(ctx, r.Owner, r.ID, 0)
	if err != nil {
		return nil, err
	}
	took := sumByModel(usages(s.usagesByReceipt(r.Assistant, recs)))
	if r.Status != journal.Running {
		s.usage.keep(key, took)
	}
	return took, nil
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
func usageReader(a *assistant.Assistant) func(c *run.CompletionRecord) (assistant.Usage, bool) {
	if a != nil && a.Used != nil {
		return a.Used
	}
	return assistant.UsedBy
}

// withCost adds the cost, if the model has a price.
func (s *Service) withCost(u assistant.Usage) assistant.Usage {
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

// sumByModel adds up the usage of each model, sorted by model.
func sumByModel(used []assistant.Usage) (all []assistant.Usage) {
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

// Used gives the usage of these runs together, one entry for each model; an error if one of them does not exist.
func (s *Service) Used(ctx context.Context, owner journal.Owner, runs ...string) ([]assistant.Usage, error) {
	var all []assistant.Usage
	for _, id := range runs {
		r, err := s.config.Store.Run(ctx, owner, id)
		if err != nil {
			return nil, err
		}
		used, err := s.usageOfRun(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, used...)
	}
	return sumByModel(all), nil
}

// Used gives the usage of the run so far, one entry for each model.
func (r *Run) Used(ctx context.Context, owner journal.Owner) ([]assistant.Usage, error) {
	return r.s.Used(ctx, owner, r.ID)
}

// Spent is the usage of an owner's runs that began on one day.
type Spent struct {
	Day  string // as 2006-01-02, in local time
	Runs int    // those that asked a model
	Used []assistant.Usage
}

// SpentBetween gives the usage of an owner's runs that began from one time until before another, by day, the latest
// first. Removed runs are not counted.
func (s *Service) SpentBetween(ctx context.Context, owner journal.Owner, from, to time.Time) (days []Spent, err error) {
	for r, err := range s.allRuns(ctx, owner, journal.Filter{}) {
		if err != nil {
			return nil, err
		}
		if r.StartedAt.Before(from) {
			return days, nil
		}
		if !r.StartedAt.Before(to) {
			continue
		}
		used, err := s.usageOfRun(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(used) > 0 {
			days = addToDay(days, r.StartedAt.Local().Format(time.DateOnly), used)
		}
	}
	return days, nil
}

func addToDay(days []Spent, day string, used []assistant.Usage) []Spent {
	if n := len(days); n == 0 || days[n-1].Day != day {
		days = append(days, Spent{Day: day})
	}
	last := &days[len(days)-1]
	last.Runs++
	last.Used = sumByModel(append(last.Used, used...))
	return days
}
