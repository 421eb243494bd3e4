package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// LimitError is the error of a start that the owner has to agree to, since the costs of the day have reached the limit.
// With Request.OverLimit the run begins nevertheless.
type LimitError struct {
	Spent, Limit float64
	Currency     string
	Unpriced     []string // models that were asked today but are not counted, since they have no known price
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("today has cost %.2f %s, and the limit (models.limit) is %.2f %s",
		e.Spent, e.Currency, e.Limit, e.Currency)
	if len(e.Unpriced) > 0 {
		text += fmt.Sprintf("; %d models without a known price count as nothing", len(e.Unpriced))
	}
	return text
}

// checkLimit returns a *LimitError for a run that may ask a model with a price once the owner's runs of today have cost
// the limit, unless the owner has agreed (r.OverLimit). Resumed runs and those that Within begins are not checked.
func (s *Service) checkLimit(ctx context.Context, owner journal.Owner, r Request, spec run.Spec) error {
	prices := s.config.Prices
	env, asks := spec.Env.(assistant.UsesModels)
	if prices == nil || prices.Limit <= 0 || r.OverLimit || !asks || !slices.ContainsFunc(env.Models(), s.isPriced) {
		return nil
	}
	spent, unpriced, err := s.spentToday(ctx, owner)
	if err != nil || spent < prices.Limit {
		return err
	}
	return &LimitError{Spent: spent, Limit: prices.Limit, Currency: prices.Currency, Unpriced: unpriced}
}

// isPriced says whether a model has a known price above zero.
func (s *Service) isPriced(model string) bool {
	price, known := s.config.Prices.Of(model, 1e6, 0, 1e6)
	return known && price > 0
}

// spentToday gives the costs of the runs that an owner began today, and the models without a price that they asked.
func (s *Service) spentToday(ctx context.Context, owner journal.Owner) (sum float64, unpriced []string, err error) {
	now := s.config.Now().Local()
	days, err := s.SpentBetween(ctx, owner, time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.Local),
		now.Add(time.Minute))
	for _, day := range days {
		for _, used := range day.Used {
			if used.Cost == nil {
				unpriced = append(unpriced, used.Model)
				continue
			}
			sum += *used.Cost
		}
	}
	return sum, unpriced, err
}
