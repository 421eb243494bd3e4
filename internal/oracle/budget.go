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
		WarnAt     float64 `port:"warn_at" default:"0.7" doc:"the part of a budget whose use is told"`
	}
	type out struct {
		Ledger Ledger `port:"ledger"`
		Last   bool   `port:"last" doc:"the turn that begins is the last one"`
		Warn   bool   `port:"warn" doc:"a budget has passed warn_at in this turn"`
		Note   string `port:",note"`
	}
	return bt.Func("Budget", "Says before a turn whether it is the last one that the budgets allow, and warns as they run low.", func(i in, o *out) error {
		o.Ledger, o.Warn = o.Ledger.clone(), false
		for _, s := range []Spent{{"turns", i.Turn - 1, i.MaxTurns}, {"tokens", o.Ledger.Tokens, i.MaxTokens}, {"seconds", int(i.Now / 1000), i.MaxSeconds}} {
			if s.Limit <= 0 {
				continue
			}
			over := s.Used >= s.Limit || s.Kind == "turns" && i.Turn >= i.MaxTurns
			if over && o.Ledger.Exhausted == nil {
				o.Last, o.Ledger.Exhausted = true, &s
			}
			if float64(s.Used) >= i.WarnAt*float64(s.Limit) && !slices.Contains(o.Ledger.Warned, s.Kind) {
				o.Warn = true
				o.Ledger.Warned = append(o.Ledger.Warned[:len(o.Ledger.Warned):len(o.Ledger.Warned)], s.Kind)
				o.Ledger.notice(NoticeBudgetWarning, Warning, pairs("kind", s.Kind, "used", s.Used, "limit", s.Limit), "%s are used.", s)
			}
			o.Note += s.String() + "; "
		}
		o.Note += map[bool]string{true: "the last turn", false: "turns are left"}[o.Last]
		return nil
	})
}
