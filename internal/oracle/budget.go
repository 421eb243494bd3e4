package oracle

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Spent is a budget that has run out, or is about to.
type Spent struct {
	Kind  string `json:"kind"` // turns, tokens or seconds
	Used  int    `json:"used"`
	Limit int    `json:"limit"`
}

func (s Spent) String() string { return fmt.Sprintf("%d of %d %s", s.Used, s.Limit, s.Kind) }

func budget() bt.Leaf {
	type in struct {
		Now        int64   `port:",now"`
		Turn       int     `port:"turn" doc:"the turn that begins"`
		MaxTurns   int     `port:"max_turns" doc:"turns at most (FR-007)"`
		MaxTokens  int     `port:"max_tokens,optional" doc:"tokens at most, cached ones aside; 0: no limit"`
		MaxSeconds int     `port:"max_seconds,optional" doc:"seconds of run time at most; 0: no limit"`
		LastAt     float64 `port:"last_at" default:"0.8" doc:"the part of the time after which no turn but the last begins"`
		WarnAt     float64 `port:"warn_at" default:"0.7" doc:"the part of a budget whose use is told"`
	}
	type out struct {
		Ledger Ledger `port:"ledger"`
		Last   bool   `port:"last" doc:"the turn that begins is the last one"`
		Warn   bool   `port:"warn" doc:"a budget has passed warn_at in this turn"`
		Left   int    `port:"left_ms" doc:"time left, in ms, at least 1; 0 where there is no limit"`
		Note   string `port:",note"`
	}
	return bt.Func("Budget", "Says before a turn whether it is the last one that the budgets allow, and warns as they run low.", func(i in, o *out) error {
		o.Ledger, o.Warn = o.Ledger.clone(), false
		for _, s := range []Spent{{"turns", i.Turn - 1, i.MaxTurns}, {"tokens", o.Ledger.Tokens, i.MaxTokens}, {"seconds", int(i.Now / 1000), i.MaxSeconds}} {
			if s.Limit <= 0 {
				continue
			}
			over := s.Used >= s.Limit || s.Kind == "turns" && i.Turn >= i.MaxTurns || s.Kind == "seconds" && float64(s.Used) >= i.LastAt*float64(s.Limit)
			if over && o.Ledger.Exhausted == nil {
				o.Last, o.Ledger.Exhausted = true, &s
			}
			if float64(s.Used) >= i.WarnAt*float64(s.Limit) && !slices.Contains(o.Ledger.Warned, s.Kind) {
				o.Warn = true
				o.Ledger.Warned = append(o.Ledger.Warned[:len(o.Ledger.Warned):len(o.Ledger.Warned)], s.Kind)
				o.Ledger.notice(NoticeBudgetWarning, Warning, pairs("kind", s.Kind, "used", s.Used, "limit", s.Limit), "%s were used.", s)
			}
			o.Note += s.String() + "; "
		}
		o.Left = 0
		if i.MaxSeconds > 0 {
			o.Left = max(1, i.MaxSeconds*1000-int(i.Now))
		}
		o.Note += map[bool]string{true: "the last turn", false: "turns are left"}[o.Last]
		return nil
	})
}

func timeIsUp() bt.Leaf {
	type in struct {
		MaxSeconds int `port:"max_seconds" doc:"the budget of time that was used up"`
	}
	type out struct {
		Accepted Accepted `port:"accepted"`
		Ledger   Ledger   `port:"ledger"`
		Done     bool     `port:"done"`
	}
	return bt.Func("TimeIsUp", "Ends the run without a reply: what was tried and read is the answer.", func(i in, o *out) error {
		o.Ledger = o.Ledger.clone()
		o.Ledger.Exhausted = &Spent{Kind: "seconds", Used: i.MaxSeconds, Limit: i.MaxSeconds}
		o.Ledger.exhausted(Warning)
		o.Accepted, o.Done = Accepted{StopReason: StopBudget}, true
		return nil
	})
}

// exhausted tells of the budget that was used up.
func (l *Ledger) exhausted(s Severity) {
	if e := l.Exhausted; e != nil {
		l.notice(NoticeBudgetExhausted, s, pairs("kind", e.Kind, "used", e.Used, "limit", e.Limit), "The budget is used up: the last turn began after %s.", e)
	}
}
