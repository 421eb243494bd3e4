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

// Prices are what models cost, as the settings say.
type Prices struct {
	Currency string
	// Of is what so many tokens of a model cost, those that were cached being some of the input; false: it has no
	// price.
	Of func(model string, input, cached, output int) (float64, bool)
	// Limit is what may be spent in a day before an owner is asked; 0: any amount.
	Limit float64
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

// Costs says what the runs of a session cost, the latest ones and as far as there is time. Without prices it says
// nothing.
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

// mostEnded is how many ended runs the usageCache remembers.
const mostEnded = 4096

// usageCache remembers the usage of ended runs, so that asking again for the costs of a long session gets further.
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

// usageOfRun is what the models of a run took, a model once.
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

// usagesByReceipt is what models took, by the receipts of a run of an assistant. What can't be read tells nothing.
func (s *Service) usagesByReceipt(name string, recs []journal.Record) (all []Used) {
	readUsage := usageReader(s.byName[name])
	for seq, c := range run.Receipts(recs) {
		if u, used := readUsage(c); used {
			all = append(all, Used{seq, s.withCost(u)})
		}
	}
	return all
}

// usageReader reads what a model took from the receipts of an assistant; nil: of one that is not there any more.
func usageReader(a *assistant.Assistant) func(c *run.CompletionRecord) (assistant.Usage, bool) {
	if a != nil && a.Used != nil {
		return a.Used
	}
	return assistant.UsedBy
}

// withCost adds what it cost, where the model has a price.
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

// sumByModel adds up the usage of each model.
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

// Used is what the models of these runs took, a model once. A run that there is not took nothing.
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

// SpentBetween says what the models of an owner took from one time until another, a day once, the latest first. Runs
// that were removed are not in it.
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
