package api

import (
	"context"
	"time"

	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// mostDays is how many days of costs one answer holds.
const mostDays = 92

// CostsByDay is what the models of a user took, by day, the latest first.
type CostsByDay struct {
	Currency string      `json:"currency,omitempty" doc:"Left out: the server knows no prices."`
	Days     []CostOfDay `json:"days" doc:"Those on which a run began that asked a model."`
}

// CostOfDay is the usage of the runs that began on one day.
type CostOfDay struct {
	Day  string            `json:"day" doc:"As 2006-01-02, in the time zone of from."`
	Runs int               `json:"runs" doc:"Those that asked a model."`
	Used []assistant.Usage `json:"used" doc:"One entry for each model."`
}

func newCostsByDay(currency string, days []service.Spent) CostsByDay {
	f := CostsByDay{Currency: currency, Days: []CostOfDay{}}
	for _, d := range days {
		f.Days = append(f.Days, CostOfDay(d))
	}
	return f
}

func (s *Server) costsByDay(ctx context.Context, in *struct {
	From time.Time `query:"from" required:"true" doc:"The beginning of the first day, in the time zone of who asks."`
	To   time.Time `query:"to" required:"true" doc:"Before this time; at most 92 days later."`
}) (CostsByDay, error) {
	if !in.To.After(in.From) || in.To.Sub(in.From) > (mostDays+1)*24*time.Hour {
		return CostsByDay{}, badRequest("The time from from to to is not between nothing and 92 days.", "Ask for less.")
	}
	days, err := s.config.Service.SpentBetween(ctx, ownerOf(ctx), in.From, in.To)
	return newCostsByDay(s.config.Service.Currency(), days), err
}
