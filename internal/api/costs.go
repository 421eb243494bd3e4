package api

import (
	"context"
	"net/http"
	"time"

	"sibyl/internal/assistant"
	"sibyl/internal/service"
)

// Prices are what models cost, as the settings say.
type Prices struct {
	Currency string
	// Of is what so many tokens of a model cost, those that were cached being some of the input; false: it has no price.
	Of func(model string, input, cached, output int) (float64, bool)
}

func (p *Prices) currency() string {
	if p == nil {
		return ""
	}
	return p.Currency
}

// Tokens are what a model took, as its provider counts them, and what they cost.
type Tokens struct {
	Input  int      `json:"input_tokens"`
	Cached int      `json:"cached_tokens,omitempty" doc:"Of the input."`
	Output int      `json:"output_tokens"`
	Cost   *float64 `json:"cost,omitempty" doc:"In the currency of the server. Left out: a model that took part has no price in its settings."`
}

// costOf sums up what models took. One without a price leaves the sum without one.
func (p *Prices) costOf(used ...assistant.Usage) (t Tokens) {
	sum, priced := 0.0, p != nil && len(used) > 0
	for _, u := range used {
		t.Input, t.Cached, t.Output = t.Input+u.Input, t.Cached+u.Cached, t.Output+u.Output
		if priced {
			one, known := p.Of(u.Model, u.Input, u.Cached, u.Output)
			sum, priced = sum+one, known
		}
	}
	if priced {
		t.Cost = &sum
	}
	return t
}

// TurnCost is what a model took for one effect of a run.
type TurnCost struct {
	Record int64  `json:"record" doc:"The number of the record that holds its receipt."`
	Model  string `json:"model"`
	Tokens
}

func (s *Server) turnCosts(used []service.Used) []TurnCost {
	return forms(used, func(u service.Used) TurnCost { return TurnCost{u.Record, u.Model, s.config.Prices.costOf(u.Usage)} })
}

func usages(used []service.Used) []assistant.Usage {
	return forms(used, func(u service.Used) assistant.Usage { return u.Usage })
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
	Tokens
}

// The bounds of one look at what a session cost.
const (
	mostCosted = 1000 // runs
	costTime   = 5 * time.Second
)

func (s *Server) costRoutes() {
	register(s, route{id: "sessionCosts", method: http.MethodGet, path: "/api/sessions/{session}/costs", tag: "sessions", summary: "What the runs of a session cost, where models have prices", whole: true}, s.costs)
}

func (s *Server) costs(ctx context.Context, in *SessionPath) (*of[Costs], error) {
	id, err := known(in.Session)
	if err != nil {
		return nil, err
	}
	f := Costs{Currency: s.config.Prices.currency(), Runs: []RunCosts{}}
	most := mostCosted
	if s.config.Prices == nil {
		most = 1 // whether there is such a session is told all the same
	}
	all, left, err := s.config.Service.UsedIn(ctx, exchangeOf(ctx).owner(), id, most, costTime)
	if err != nil || s.config.Prices == nil {
		return &of[Costs]{f}, err
	}
	f.Left = left
	for _, r := range all {
		one := RunCosts{r.Run, s.config.Prices.costOf(r.Used...)}
		if one.Cost != nil {
			f.Cost += *one.Cost
		}
		f.Runs = append(f.Runs, one)
	}
	return &of[Costs]{f}, nil
}
