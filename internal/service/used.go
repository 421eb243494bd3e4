package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Used is what a model took in one effect of a run, by the record of its receipt.
type Used struct {
	Record int64
	assistant.Usage
}

// RunUsed is what the models of a run took, a model once.
type RunUsed struct {
	Run  string
	Used []assistant.Usage
}

// mostUsed is how many ended runs it is remembered of what they used: they use no more.
const mostUsed = 4096

// usedSoFar remembers what ended runs have used.
type usedSoFar struct {
	mu     sync.Mutex
	byRuns map[string][]assistant.Usage
}

// UsedIn says what the models of the runs of a session took, of the latest ones and as far as there is time; left is how many runs were not looked at.
// Runs that used none are not in it.
func (s *Service) UsedIn(ctx context.Context, owner journal.Owner, session string, most int, within time.Duration) (all []RunUsed, left int, err error) {
	found, err := s.config.Store.Session(ctx, owner, session)
	if err != nil {
		return nil, 0, err
	}
	runs, err := s.config.Store.Runs(ctx, owner, journal.Filter{Session: session, Limit: most})
	if err != nil {
		return nil, 0, err
	}
	look, cut := context.WithTimeout(ctx, within)
	defer cut()
	for n, r := range runs {
		used, err := s.usedBy(look, r)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return all, max(found.Runs, len(runs)) - n, nil
		}
		if err != nil {
			return nil, 0, err
		}
		if len(used) > 0 {
			all = append(all, RunUsed{r.ID, used})
		}
	}
	return all, max(found.Runs-len(runs), 0), nil
}

// usedBy is what the models of a run took.
func (s *Service) usedBy(ctx context.Context, r journal.Run) ([]assistant.Usage, error) {
	key := string(r.Owner) + "\x00" + r.ID
	s.used.mu.Lock()
	known, ok := s.used.byRuns[key]
	s.used.mu.Unlock()
	if ok {
		return known, nil
	}
	recs, err := s.config.Store.Records(ctx, r.Owner, r.ID, 0)
	if err != nil {
		return nil, err
	}
	sum := summed(s.usedOf(r.Assistant, recs))
	if r.Status != journal.Running {
		s.used.mu.Lock()
		defer s.used.mu.Unlock()
		if s.used.byRuns == nil || len(s.used.byRuns) >= mostUsed {
			s.used.byRuns = map[string][]assistant.Usage{}
		}
		s.used.byRuns[key] = sum
	}
	return sum, nil
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
				all = append(all, Used{r.Seq, u})
			}
		}
	}
	return all
}

// summed has each model once.
func summed(used []Used) (all []assistant.Usage) {
	for _, u := range used {
		at := slices.IndexFunc(all, func(one assistant.Usage) bool { return one.Model == u.Model })
		if at < 0 {
			all = append(all, u.Usage)
			continue
		}
		one := &all[at]
		one.Input, one.Cached, one.Output = one.Input+u.Input, one.Cached+u.Cached, one.Output+u.Output
	}
	slices.SortFunc(all, func(a, b assistant.Usage) int { return cmp.Compare(a.Model, b.Model) })
	return all
}
