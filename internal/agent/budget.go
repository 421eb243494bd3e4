package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Spent is a budget, and how much of it is used.
type Spent struct {
	Kind  string `json:"kind"` // turns, tokens or seconds
	Used  int    `json:"used"`
	Limit int    `json:"limit"`
}

func (s Spent) String() string { return fmt.Sprintf("%d of %d %s", s.Used, s.Limit, s.Kind) }

func (s Spent) payload() map[string]string {
	return Pairs("kind", s.Kind, "used", s.Used, "limit", s.Limit)
}

func Budget() bt.Leaf {
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
		Ledger Ledger     `port:"ledger"`
		Last   bool       `port:"last" doc:"the turn that begins is the last one"`
		Warn   bool       `port:"warn" doc:"a budget has passed warn_at in this turn"`
		Left   int        `port:"left_ms" doc:"time for this turn, in ms: up to last_at, or for the last turn up to the limit, and at least what last_at leaves it; 0 where there is no limit"`
		Events []bt.Typed `port:",events"`
	}
	return bt.Func("Budget",
		"Says before a turn whether it is the last one the budgets allow, and warns when they run low.",
		func(i in, o *out) error {
			for _, p := range []struct {
				port string
				part float64
			}{{"last_at", i.LastAt}, {"warn_at", i.WarnAt}} {
				if p.part <= 0 || p.part > 1 {
					return fmt.Errorf("port %s is %g: a part of a budget lies between 0 and 1", p.port, p.part)
				}
			}
			// o has the ports' current values: the Loop has set last for this turn, and here it is only raised.
			o.Ledger, o.Warn = o.Ledger.Clone(), false
			seen := BudgetSeen{Used: make([]Spent, 0, 3)}
			for _, s := range []Spent{{"turns", i.Turn - 1, i.MaxTurns}, {"tokens", o.Ledger.Tokens, i.MaxTokens},
				{"seconds", int(i.Now / 1000), i.MaxSeconds}} {
				if s.Limit <= 0 {
					continue
				}
				part := float64(s.Used) / float64(s.Limit)
				over := part >= 1
				switch s.Kind {
				case "turns": // the one that begins is in the budget as well
					over = i.Turn >= s.Limit
				case "seconds":
					part = float64(i.Now) / 1000 / float64(s.Limit)
					over = part >= i.LastAt
				}
				if over {
					o.Last = true
					if o.Ledger.Exhausted == nil {
						o.Ledger.Exhausted = &s
					}
				}
				if part >= i.WarnAt && !slices.Contains(o.Ledger.Warned, s.Kind) {
					o.Warn = true
					o.Ledger.Warned = append(o.Ledger.Warned, s.Kind)
					o.Ledger.Notice(NoticeBudgetWarning, Warning, s.payload(), budgetLow.With(s.Why()))
				}
				seen.Used = append(seen.Used, s)
			}
			o.Left = timeLeft(i.Now, i.MaxSeconds, i.LastAt, o.Last)
			seen.Last = o.Last
			o.Events = []bt.Typed{seen}
			return nil
		})
}

// timeLeft is how long a turn may take, in ms; 0 if there is no limit. The last turn always has its share.
func timeLeft(now int64, seconds int, lastAt float64, last bool) int {
	limit := seconds * 1000
	until := int(lastAt * float64(limit))
	switch {
	case limit == 0:
		return 0
	case last:
		return max(1, limit-int(now), limit-until)
	}
	return max(1, until-int(now))
}

// TellExhausted enters a notice about the budget that ended the run's turns.
func (l *Ledger) TellExhausted(s Severity) {
	if e := l.Exhausted; e != nil {
		l.Notice(NoticeBudgetExhausted, s, e.payload(), budgetOut.With(e.Why()))
	}
}

func NoteCut() bt.Leaf {
	type none struct{}
	type out struct {
		Ledger Ledger `port:"ledger"`
	}
	return bt.Func("NoteCut", "Records that a turn was cut off to leave time for the last one.",
		func(_ none, o *out) error {
			o.Ledger = o.Ledger.Clone()
			o.Ledger.Notice(NoticeCut, Warning, nil, turnCut.With())
			return nil
		})
}

// TimeIsUp enters that the last turn was cut off because the time was used up.
func (l *Ledger) TimeIsUp(now int64, maxSeconds int) {
	l.Exhausted = &Spent{Kind: "seconds", Used: int(now / 1000), Limit: maxSeconds}
	l.Notice(NoticeBudgetExhausted, Warning, l.Exhausted.payload(), timeUp.With())
}
