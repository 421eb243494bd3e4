package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

// ErrOverLimit is the error of a beginning that an owner has to agree to, as the day has cost what it may: a
// *LimitError says how much.
var ErrOverLimit = errors.New("today's limit of costs is reached")

// LimitError says what a day has cost, and what it may cost. A Request that is OverLimit begins all the same.
type LimitError struct {
	Spent, Limit float64
	Currency     string
	Unpriced     []string // models that were asked today, and count as nothing, as their price is not known
}

func (e *LimitError) Error() string {
	text := fmt.Sprintf("today has cost %.2f %s, and the limit (models.limit) is %.2f %s",
		e.Spent, e.Currency, e.Limit, e.Currency)
	if len(e.Unpriced) > 0 {
		text += fmt.Sprintf("; %d models without a known price count as nothing", len(e.Unpriced))
	}
	return text
}

// Unwrap gives ErrOverLimit.
func (*LimitError) Unwrap() error { return ErrOverLimit }

// checkLimit refuses a run that may ask a model with a price, once the runs that an owner began today have cost what a
// day may, unless the owner has agreed. Runs that go on, and those that they begin, are not asked about.
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

// isPriced says whether a model has a price that is more than nothing.
func (s *Service) isPriced(model string) bool {
	price, known := s.config.Prices.Of(model, 1e6, 0, 1e6)
	return known && price > 0
}

// spentToday is what the runs that an owner began today cost, and which models without a price they asked.
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
