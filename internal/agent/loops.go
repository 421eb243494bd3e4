package agent

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
)

// seen is what a detector of loops looks at.
type seen struct {
	Ledger  Ledger `port:"ledger"`
	AtLeast int    `port:"at_least" default:"3" doc:"how often in all"`
}

func SameCall() bt.Leaf {
	return bt.Check("SameCall", "Was a call of the last turn made this often since it last brought something new? Volatile arguments are masked.",
		func(i seen) (bool, string) {
			last := i.Ledger.LastRound()
			for _, c := range last.Calls {
				if n := i.Ledger.stale(c.Key); n >= i.AtLeast {
					return true, fmt.Sprintf("%s, %d times", c.Tool, n)
				}
			}
			return false, "no call that often"
		})
}

// LastRound is the zero Round before the first.
func (l *Ledger) LastRound() Round {
	if len(l.Rounds) == 0 {
		return Round{}
	}
	return l.Rounds[len(l.Rounds)-1]
}

// stale counts the turns with a call since it last brought something new, that turn included; 0 if the last turn's did.
// What a write may have changed is asked for anew.
func (l *Ledger) stale(key string) (n int) {
	for i := len(l.Rounds) - 1; i >= 0; i-- {
		r := l.Rounds[i]
		at := slices.IndexFunc(r.Calls, func(c Made) bool { return c.Key == key })
		switch {
		case r.Wrote && at < 0:
			return n
		case at < 0:
		case r.Calls[at].Novel && n == 0:
			return 0
		case r.Calls[at].Novel || r.Wrote:
			return n + 1
		default:
			n++
		}
	}
	return n
}

func Cycle() bt.Leaf {
	type in struct {
		Ledger  Ledger `port:"ledger"`
		Longest int    `port:"longest" default:"4" doc:"turns of a cycle at most"`
		Rounds  int    `port:"rounds" default:"2" doc:"how often the cycle was gone through"`
	}
	return bt.Check("Cycle", "Do the last turns repeat a cycle of calls whose last rounds brought nothing new?", func(i in) (bool, string) {
		if i.Rounds < 2 {
			return false, fmt.Sprintf("rounds is %d: a cycle is gone through twice at least", i.Rounds)
		}
		for length := 2; length <= i.Longest; length++ {
			if names := i.Ledger.cycleOf(length, i.Rounds); names != nil {
				return true, strings.Join(names, ", ") + ", again and again"
			}
		}
		return false, "no cycle"
	})
}

// cycleOf names the tools of a cycle of so many turns that the last turns have gone through so often; nil if they have not.
func (l *Ledger) cycleOf(length, rounds int) []string {
	n := len(l.Rounds)
	if n < length*rounds {
		return nil
	}
	var names []string
	for i := n - length; i < n; i++ {
		r := l.Rounds[i]
		if len(r.Calls) == 0 {
			return nil
		}
		for back := range rounds {
			earlier := l.Rounds[i-back*length]
			if !sameCalls(r, earlier) || earlier.Wrote || earlier.Novel && back < rounds-1 {
				return nil
			}
		}
		names = append(names, r.Calls[0].Tool)
	}
	return names
}

func sameCalls(a, b Round) bool {
	return slices.EqualFunc(a.Calls, b.Calls, func(x, y Made) bool { return x.Key == y.Key })
}

func IdenticalCalls() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger"`
		More   int    `port:"more_than" default:"5" doc:"how many calls, to the letter"`
		Window int    `port:"window" default:"10" doc:"among so many last calls"`
	}
	return bt.Check("IdenticalCalls", "Does one call occur too often among the last ones, whatever it brought? The plain check of other agents.",
		func(i in) (bool, string) {
			counts, calls := map[string]int{}, 0
			for r := len(i.Ledger.Rounds) - 1; r >= 0 && calls < i.Window; r-- {
				for c := len(i.Ledger.Rounds[r].Calls) - 1; c >= 0 && calls < i.Window; c-- {
					made := i.Ledger.Rounds[r].Calls[c]
					calls++
					if counts[made.Digest]++; counts[made.Digest] > i.More {
						return true, fmt.Sprintf("%s, %d times", made.Tool, counts[made.Digest])
					}
				}
			}
			return false, fmt.Sprintf("none of %d calls that often", calls)
		})
}

func SameError() bt.Leaf {
	return bt.Check("SameError", "Did all calls in this many turns in a row end with the same error? Turns without calls are skipped.", func(i seen) (bool, string) {
		var last Made
		n := 0
		for r := len(i.Ledger.Rounds) - 1; r >= 0; r-- {
			calls := i.Ledger.Rounds[r].Calls
			if len(calls) == 0 {
				continue
			}
			if n == 0 {
				last = calls[0]
			}
			if last.Error == "" || i.Ledger.Rounds[r].Novel || slices.ContainsFunc(calls, func(c Made) bool { return c.Error != last.Error }) {
				break
			}
			n++
		}
		return n >= i.AtLeast, fmt.Sprintf("%s, %d times", last.Tool, n)
	})
}

func NoNewSource() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger"`
		Turns  int    `port:"turns" default:"5" doc:"how many turns in a row"`
	}
	return bt.Check("NoNewSource", "Did this many turns in a row bring nothing new?", func(i in) (bool, string) {
		n := 0
		for r := len(i.Ledger.Rounds) - 1; r >= 0 && !i.Ledger.Rounds[r].Novel; r-- {
			n++
		}
		return n >= i.Turns, fmt.Sprintf("%d turns without anything new", n)
	})
}

func Strike() bt.Leaf {
	type in struct {
		Pattern string `port:"pattern" doc:"what repeats"`
		Forgive int    `port:"forgive" default:"3" doc:"so many turns with something new in a row undo the strikes before them"`
	}
	type out struct {
		Ledger  Ledger     `port:"ledger"`
		Strikes int        `port:"strikes" doc:"how often the run was found in a loop"`
		Events  []bt.Typed `port:",events"`
	}
	return bt.Func("Strike", "Counts one more loop and tells the user.", func(i in, o *out) error {
		o.Ledger = o.Ledger.Clone()
		if o.Ledger.Strikes > 0 && o.Ledger.StruckAt == o.Ledger.Turn {
			return fmt.Errorf("the fallback has turned the model another way in this turn")
		}
		if o.Ledger.recovered(i.Forgive) {
			o.Ledger.Strikes = 0
		}
		o.Ledger.Strikes++
		o.Ledger.StruckAt = o.Ledger.Turn
		o.Strikes = o.Ledger.Strikes
		o.Ledger.loop(i.Pattern)
		o.Events = []bt.Typed{LoopFound{i.Pattern, o.Strikes}}
		return nil
	})
}

// loop tells the person of the last strike.
func (l *Ledger) loop(pattern string) {
	text := fmt.Sprintf("The model repeats itself (%s).", pattern)
	if l.Strikes > 1 {
		text = fmt.Sprintf("The model still repeats itself (%s), step %d.", pattern, l.Strikes)
	}
	l.Notice(NoticeLoop, Warning, Pairs("pattern", pattern, "step", l.Strikes), "%s", text)
}

// Nudged enters a first strike, of which the fallback's hint is the nudge. A strike that stands stays.
func (l *Ledger) Nudged(forgive int) {
	if l.recovered(forgive) {
		l.Strikes = 0
	}
	if l.Strikes == 0 {
		l.Strikes, l.StruckAt = 1, l.Turn
		l.loop("the same reason")
	}
}

// recovered says whether so many turns in a row brought something new since the last strike.
func (l *Ledger) recovered(turns int) bool {
	row := 0
	for _, r := range l.Rounds {
		if r.Turn <= l.StruckAt {
			continue
		}
		if row++; !r.Novel {
			row = 0
		}
		if row >= turns {
			return true
		}
	}
	return false
}

func TakeAway() bt.Leaf {
	type none struct{}
	type out struct {
		Offered []string   `port:"offered"`
		Ledger  Ledger     `port:"ledger"`
		Events  []bt.Typed `port:",events"`
	}
	return bt.Func("TakeAway", "Withdraws the tool that the last turns called most often in vain. FAILURE if there is none.", func(_ none, o *out) error {
		name := o.Ledger.inVain(o.Offered)
		if name == "" {
			return fmt.Errorf("no tool is behind it")
		}
		o.Offered = slices.DeleteFunc(slices.Clone(o.Offered), func(n string) bool { return n == name })
		o.Ledger = o.Ledger.Clone()
		o.Ledger.Taken = append(o.Ledger.Taken, name)
		o.Events = []bt.Typed{ToolTakenAway{name}}
		return nil
	})
}

// inVain names the offered tool that the last turns without anything new called most often, of two the one called last.
func (l *Ledger) inVain(offered []string) string {
	counts, best := map[string]int{}, ""
	for r := len(l.Rounds) - 1; r >= 0 && len(l.Rounds)-r <= 6; r-- {
		for _, c := range l.Rounds[r].Calls {
			if c.Novel || !slices.Contains(offered, c.Tool) {
				continue
			}
			if counts[c.Tool]++; best == "" || counts[c.Tool] > counts[best] {
				best = c.Tool
			}
		}
	}
	return best
}
