package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sibyl/internal/app"
	"sibyl/internal/config"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/web/src/words/sentences"
)

// spending is the tokens that models used, and their price.
type spending struct {
	Input  int      `json:"input_tokens"`
	Cached int      `json:"cached_tokens"` // of the input
	Output int      `json:"output_tokens"`
	Cost   *float64 `json:"cost,omitempty"` // nil: the price of a model is unknown, or all are free
}

func spendingOf(prices config.Prices, used []assistant.Usage) spending {
	var s spending
	total, priced, costs := 0.0, true, false
	for _, u := range used {
		s.Input, s.Cached, s.Output = s.Input+u.Input, s.Cached+u.Cached, s.Output+u.Output
		cost, known := prices.Cost(u.Model, u.Input, u.Cached, u.Output)
		total, priced, costs = total+cost, priced && (known || prices.Free(u.Model)), costs || known
	}
	if priced && costs {
		s.Cost = &total
	}
	return s
}

// costsOf describes, in a language, the tokens used and, if every model is free or its price is known, their cost; ""
// if no tokens were used.
func costsOf(prices config.Prices, used []assistant.Usage, language string) string {
	s := spendingOf(prices, used)
	if s.Input+s.Output == 0 {
		return ""
	}
	line := sentences.Format(language, "%d tokens in", s.Input)
	if s.Cached > 0 {
		line += sentences.Format(language, " (%d cached)", s.Cached)
	}
	line += sentences.Format(language, ", %d out", s.Output)
	switch {
	case s.Cost == nil:
	case prices.Public != "":
		line += sentences.Format(language, "; about %s %s", amount(*s.Cost), prices.Currency)
	default:
		line += "; " + amount(*s.Cost) + " " + prices.Currency
	}
	return line
}

// withUsage sets res.Usage to what the models of a run used, also in runs that it started. If that can't be read, it
// leaves res unchanged.
func (c *command) withUsage(ctx context.Context, r *service.Run, res service.Result) service.Result {
	if used, err := r.Used(ctx, c.owner()); err == nil {
		res.Usage = append(used, res.Beside...)
	}
	return res
}

// amount formats a sum of money with two decimals or, if it is below one, with two significant digits.
func amount(sum float64) string {
	if sum == 0 || sum >= 0.995 {
		return strconv.FormatFloat(sum, 'f', 2, 64)
	}
	decimals := 2
	for s := sum; s < 0.0995 && decimals < 8; s *= 10 {
		decimals++
	}
	return strconv.FormatFloat(sum, 'f', decimals, 64)
}

// dayCost is what the runs begun on a day, or in a month, used and cost.
type dayCost struct {
	Day  string `json:"day"`
	Runs int    `json:"runs"`
	spending
}

func dayCostOf(prices config.Prices, s service.Spent) dayCost {
	return dayCost{s.Day, s.Runs, spendingOf(prices, s.Used)}
}

func (c *command) costCommand() *cobra.Command {
	return c.withJSON(&cobra.Command{Use: "cost [MONTH]", Args: cobra.MaximumNArgs(1),
		Short: "Show what the models took and cost, day by day (default: this month)",
		RunE: c.onApp(func(ctx context.Context, a *app.App, args []string) error {
			month := time.Now()
			if len(args) > 0 {
				var err error
				if month, err = time.ParseInLocation("2006-01", args[0], time.Local); err != nil {
					return withCode(ExitUsage, fmt.Errorf("%.20q is not a month: write it as 2026-10", args[0]))
				}
			}
			from := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.Local)
			days, err := a.Service.SpentBetween(ctx, c.owner(), from, from.AddDate(0, 1, 0))
			if err != nil {
				return err
			}
			return c.printCosts(from, days)
		})}, "one JSON object")
}

func (c *command) printCosts(month time.Time, days []service.Spent) error {
	whole := service.Spent{Day: month.Format("2006-01")}
	var lines []dayCost
	for _, d := range days {
		whole.Runs += d.Runs
		whole.Used = append(whole.Used, d.Used...)
		lines = append(lines, dayCostOf(c.prices, d))
	}
	if c.asJSON {
		return c.printJSON(struct {
			Month    dayCost   `json:"month"`
			Currency string    `json:"currency,omitempty"`
			Public   string    `json:"public_prices_of,omitempty"`
			Days     []dayCost `json:"days"`
		}{dayCostOf(c.prices, whole), c.prices.Currency, c.prices.Public, append([]dayCost{}, lines...)})
	}
	if whole.Runs == 0 {
		fmt.Fprintf(c.Out, "No run in %s used a model.\n", whole.Day)
		return nil
	}
	slices.Reverse(days)
	for _, d := range append(days, whole) {
		fmt.Fprintf(c.Out, "%-10s  %-9s %s\n", d.Day, text.Count(d.Runs, "run"), costsOf(c.prices, d.Used, ""))
	}
	priced, unpriced := false, []string{}
	for _, u := range whole.Used {
		if _, known := c.prices.Cost(u.Model, u.Input, u.Cached, u.Output); known {
			priced = true
		} else if !slices.Contains(unpriced, u.Model) && !c.prices.Free(u.Model) {
			unpriced = append(unpriced, u.Model)
		}
	}
	if priced && c.prices.Public != "" {
		c.note("by public prices of %s; ‘sibyl config edit’ sets your own, as models.prices", c.prices.Public)
	}
	if len(unpriced) > 0 {
		slices.Sort(unpriced)
		c.note("no price is known for %s; ‘sibyl config edit’ sets one, in models.prices", strings.Join(unpriced, ", "))
	}
	return nil
}
