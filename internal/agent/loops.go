package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

// TurnFact is what the loop detectors know of one turn of the model.
type TurnFact struct {
	Turn  int        `json:"turn"`
	Calls []MadeCall `json:"calls,omitempty"` // distinct, as they were proposed
	Novel bool       `json:"novel,omitempty"` // a result had something new
	Wrote bool       `json:"wrote,omitempty"` // a write was done, so the same call may now give another result
}

// MadeCall is one call of a turn. Key identifies the tool and its arguments, with all numbers masked; see callKey.
type MadeCall struct {
	Tool  string `json:"tool"`
	Key   string `json:"key"`
	Novel bool   `json:"novel,omitempty"`
	Error string `json:"error,omitempty"` // digest of the masked error; "": none
}

// How much the detectors remember.
const (
	turnsForLoops = 200
	keptKnown     = 600
)

func (l *Ledger) openTurn() {
	l.Turn++
	l.Turns = append(l.Turns[max(0, len(l.Turns)+1-turnsForLoops):len(l.Turns):len(l.Turns)], TurnFact{Turn: l.Turn})
}

// enterMade enters a call into the last turn. Calls with the same key become one.
func (l *Ledger) enterMade(m MadeCall) {
	r := &l.Turns[len(l.Turns)-1]
	r.Calls = slices.Clone(r.Calls) // shared with the ledger that this one was cloned from
	if i := slices.IndexFunc(r.Calls, func(o MadeCall) bool { return o.Key == m.Key }); i >= 0 {
		r.Calls[i].Novel = r.Calls[i].Novel || m.Novel
		if m.Error == "" {
			r.Calls[i].Error = "" // one of them succeeded
		}
	} else {
		r.Calls = append(r.Calls, m)
	}
	r.Novel = r.Novel || m.Novel
}

// sortCalls sorts the calls of the last turn as the reply proposes them. Concurrent calls are entered in the order in
// which they are done.
func (l *Ledger) sortCalls(proposed []CallFact) {
	proposedAt := func(m MadeCall) int {
		return slices.IndexFunc(proposed, func(c CallFact) bool { return c.Key == m.Key })
	}
	slices.SortFunc(l.Turns[len(l.Turns)-1].Calls, func(a, b MadeCall) int { return proposedAt(a) - proposedAt(b) })
}

// learnResult notes a result, and says whether it holds something new: a place that was not found or opened before, or,
// if a place was opened or there is none, a text that differs in more than times and identifiers. A search without a
// hit holds nothing.
func (l *Ledger) learnResult(t ToolFact, r *tool.Result) bool {
	if t.Search && r.Items == 0 {
		return false
	}
	var marks []string
	opened := len(r.Refs) == 0
	for _, ref := range r.Refs {
		kind := "hit "
		if ref.Opened {
			kind, opened = "opened ", true
		}
		marks = append(marks, Digest(kind, ref.String()))
	}
	if opened {
		marks = append(marks, Digest("text ", t.Name, " ", maskClock(r.Text)))
	}
	novel := false
	for _, m := range marks {
		if !slices.Contains(l.Known, m) {
			novel = true
			l.Known = append(l.Known, m)
		}
	}
	l.Known = l.Known[max(0, len(l.Known)-keptKnown):]
	return novel
}

// volatile matches, at the beginning of a word, what differs between two calls that are otherwise the same: a time or
// an identifier. It matches numbers anywhere.
var volatile = sync.OnceValue(func() (v struct{ clock, ident, numbers *regexp.Regexp }) {
	v.clock = regexp.MustCompile(
		`(?i)\A(?:\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?` +
			`|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[ap]m)?|1\d{9}(?:\d{3}){0,3}` +
			`|\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds|minutes|min) ?(?:ago)?` +
			`|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? \d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{4})\b`)
	v.ident = regexp.MustCompile(
		`(?i)\A(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?:0x)?[0-9a-f]{11,})\b`)
	v.numbers = regexp.MustCompile(`[0-9]+`)
	return v
})

const digits = "0123456789"

// maskClock masks times and identifiers in a result. Other numbers stay, since a changed counter is news.
func maskClock(text string) string {
	var masked strings.Builder
	from := 0 // where what is not yet written begins
	for i := 0; i < len(text); {
		end := i
		for end < len(text) && isWordByte(text[end]) {
			end++
		}
		if end == i {
			i++
			continue
		}
		length, mark := volatileAt(text, i, end)
		if length == 0 {
			i = end
			continue
		}
		masked.WriteString(text[from:i] + mark)
		i += length
		from = i
	}
	return masked.String() + text[from:]
}

func isWordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// volatileAt returns the length and the mark of a time or an identifier that begins with the word from start to end; 0
// if there is none. Few words can begin one: only there, regular expressions are tried.
func volatileAt(text string, start, end int) (length int, mark string) {
	const (
		furthest = 80 // behind the word: no time or identifier is longer
		uuidPart = 8  // the first part of an identifier in five parts may have letters alone
	)
	word := text[start:end]
	if !strings.ContainsAny(word, digits) && !beginsDay(word) &&
		(len(word) != uuidPart || end == len(text) || text[end] != '-') {
		return 0, ""
	}
	near := text[start:min(len(text), end+furthest)]
	if m := volatile().clock.FindStringIndex(near); m != nil {
		return m[1], "#t"
	}
	// A word of the letters a to f is no identifier.
	if m := volatile().ident.FindStringIndex(near); m != nil && strings.ContainsAny(near[:m[1]], digits) {
		return m[1], "#i"
	}
	return 0, ""
}

// beginsDay says whether a word begins as the name of a day.
func beginsDay(word string) bool {
	if len(word) < len("mon") {
		return false
	}
	switch strings.ToLower(word[:len("mon")]) {
	case "mon", "tue", "wed", "thu", "fri", "sat", "sun":
		return true
	}
	return false
}

// ignoredArguments are names of arguments by which two calls with the same purpose often differ. A call repeats another
// only if it also brought nothing new, so an id or date that does matter is ignored without harm.
var ignoredArguments = []string{"request_id", "requestid", "nonce", "timestamp", "ts", "time", "now", "date", "seed",
	"uuid", "trace_id", "attempt", "retry", "try", "counter", "id", "cache_bust"}

// callKey identifies a tool and its arguments, regardless of ignoredArguments, order, space, case and numbers. Two
// calls with one key are a repetition only if the later one brought nothing new.
func callKey(name, arguments string) string {
	if args, err := decodeArguments(arguments); err == nil {
		dropIgnored(args)
		if sorted, err := json.Marshal(args); err == nil {
			arguments = string(sorted)
		}
	}
	return Digest(name, " ", maskAll(arguments))
}

// dropIgnored removes the ignored arguments at every depth.
func dropIgnored(v any) {
	switch v := v.(type) {
	case map[string]any:
		for n, of := range v {
			if slices.Contains(ignoredArguments, strings.ToLower(n)) {
				delete(v, n)
			}
			dropIgnored(of)
		}
	case []any:
		for _, of := range v {
			dropIgnored(of)
		}
	}
}

// maskAll lowercases a text, joins its spaces, and masks every number, time and identifier.
func maskAll(text string) string {
	return volatile().numbers.ReplaceAllString(maskClock(strings.ToLower(strings.Join(strings.Fields(text), " "))), "#")
}

// IsLooping is the leaf GoesRound, which detects that a run repeats itself. The first pattern that matches counts.
func IsLooping() bt.Leaf {
	type in struct {
		SameReason int `port:"same_reason,optional" doc:"how often in a row the model has given the same reason"`
		Reasons    int `port:"reasons" default:"4" doc:"the same reason so often, without anything new"`
		Calls      int `port:"calls" default:"3" doc:"the same call so often since it last brought something new; volatile arguments are masked"`
		Errors     int `port:"errors" default:"3" doc:"so many turns whose calls all end with the same error"`
		Longest    int `port:"longest" default:"4" doc:"turns of a cycle of calls at most"`
		Repeats    int `port:"rounds" default:"2" doc:"how often a cycle is gone through, 2 at least"`
		Idle       int `port:"idle" default:"5" doc:"so many turns in a row without anything new"`
		Forgive    int `port:"forgive" default:"3" doc:"so many turns with something new in a row undo the strikes before them"`
	}
	type out struct {
		Ledger  Ledger     `port:"ledger"`
		Strikes int        `port:"strikes" doc:"how often the run was found in a loop"`
		Events  []bt.Typed `port:",events"`
	}
	return bt.Func("GoesRound",
		"Finds out whether the run repeats itself, counts it and tells the user. FAILURE if it does not. 0 turns a "+
			"pattern off.", func(i in, o *out) error {
			l := &o.Ledger
			var pattern bt.Reason
			switch {
			case i.Reasons > 0 && i.SameReason >= i.Reasons && !l.LastTurn().Novel:
				pattern = sameReason
			case i.Calls > 0 && l.repeatsCall(i.Calls):
				pattern = sameCall
			case i.Errors > 0 && l.countSameError() >= i.Errors:
				pattern = sameError
			case i.Repeats > 1 && l.hasCycle(i.Longest, i.Repeats):
				pattern = cycleOfCalls
			case i.Idle > 0 && l.countIdle() >= i.Idle:
				pattern = nothingNew
			default:
				return fmt.Errorf("nothing repeats")
			}
			if l.Strikes > 0 && l.StruckAt == l.Turn {
				return fmt.Errorf("the model was already told in this turn")
			}
			o.Ledger = o.Ledger.Clone()
			o.Ledger.strike(pattern.With(), i.Forgive)
			o.Strikes = o.Ledger.Strikes
			o.Events = []bt.Typed{LoopFound{pattern.Template(), pattern.With().Coded, o.Strikes}}
			return nil
		})
}

// strike counts one more loop and tells the user. If the run had recovered since the last, it counts from 1.
func (l *Ledger) strike(pattern bt.Why, forgive int) {
	if l.hasRecovered(forgive) {
		l.Strikes = 0
	}
	l.Strikes++
	l.StruckAt = l.Turn
	why := repeats.With(pattern)
	if l.Strikes > 1 {
		why = stillSame.With(pattern, l.Strikes)
	}
	l.Notice(NoticeLoop, Warning, Pairs("pattern", pattern.Text, "step", l.Strikes), why)
}

// repeatsCall says whether a call of the last turn was made at least so often since it last brought something new.
func (l *Ledger) repeatsCall(atLeast int) bool {
	last := l.LastTurn()
	return slices.ContainsFunc(last.Calls, func(c MadeCall) bool { return l.countStale(c.Key) >= atLeast })
}

// countSameError counts the turns in a row whose calls all ended with the same error, skipping turns without calls.
func (l *Ledger) countSameError() (n int) {
	var last MadeCall
	for r := len(l.Turns) - 1; r >= 0; r-- {
		calls := l.Turns[r].Calls
		if len(calls) == 0 {
			continue
		}
		if n == 0 {
			last = calls[0]
		}
		if last.Error == "" || l.Turns[r].Novel || slices.ContainsFunc(calls, func(c MadeCall) bool {
			return c.Error != last.Error
		}) {
			break
		}
		n++
	}
	return n
}

// hasCycle says whether the last turns repeat a cycle of two to longest turns, so many times, without anything new.
func (l *Ledger) hasCycle(longest, rounds int) bool {
	for length := 2; length <= longest; length++ {
		if l.hasCycleOf(length, rounds) {
			return true
		}
	}
	return false
}

// countIdle counts the turns in a row that brought nothing new.
func (l *Ledger) countIdle() (n int) {
	for r := len(l.Turns) - 1; r >= 0 && !l.Turns[r].Novel; r-- {
		n++
	}
	return n
}

// LastTurn is the last turn; the zero TurnFact before the first.
func (l *Ledger) LastTurn() TurnFact {
	if len(l.Turns) == 0 {
		return TurnFact{}
	}
	return l.Turns[len(l.Turns)-1]
}

// countStale counts the turns with a call since it last brought something new, that turn included; 0 if the last such
// turn brought something. It counts back to the last write at most, since that may have changed the result.
func (l *Ledger) countStale(key string) (n int) {
	for i := len(l.Turns) - 1; i >= 0; i-- {
		r := l.Turns[i]
		at := slices.IndexFunc(r.Calls, func(c MadeCall) bool { return c.Key == key })
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

// hasCycleOf says whether the last turns repeat a cycle of length turns, rounds times.
func (l *Ledger) hasCycleOf(length, rounds int) bool {
	n := len(l.Turns)
	if n < length*rounds {
		return false
	}
	for i := n - length; i < n; i++ {
		r := l.Turns[i]
		if len(r.Calls) == 0 {
			return false
		}
		for back := range rounds {
			earlier := l.Turns[i-back*length]
			same := slices.EqualFunc(r.Calls, earlier.Calls, func(x, y MadeCall) bool { return x.Key == y.Key })
			if !same || earlier.Wrote || earlier.Novel && back < rounds-1 {
				return false
			}
		}
	}
	return true
}

// EnterNudge counts the fallback's hint as a first strike. If there are strikes since the run last recovered, it does
// nothing.
func (l *Ledger) EnterNudge(forgive int) {
	if l.Strikes == 0 || l.hasRecovered(forgive) {
		l.strike(sameReason.With(), forgive)
	}
}

// hasRecovered says whether, since the last strike, so many turns in a row brought something new.
func (l *Ledger) hasRecovered(turns int) bool {
	row := 0
	for _, r := range l.Turns {
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

// WithdrawTool is the leaf TakeAway. It withdraws the offered tool whose calls most often brought nothing new lately.
func WithdrawTool() bt.Leaf {
	type none struct{}
	type out struct {
		Offered []string   `port:"offered"`
		Ledger  Ledger     `port:"ledger"`
		Events  []bt.Typed `port:",events"`
	}
	return bt.Func("TakeAway",
		"Withdraws the tool that the last turns called most often in vain. FAILURE if there is none.",
		func(_ none, o *out) error {
			name := o.Ledger.toolInVain(o.Offered)
			if name == "" {
				return fmt.Errorf("no tool that is offered brought nothing new")
			}
			o.Offered = slices.DeleteFunc(slices.Clone(o.Offered), func(n string) bool { return n == name })
			o.Ledger = o.Ledger.Clone()
			o.Ledger.Taken = append(o.Ledger.Taken, name)
			o.Events = []bt.Typed{ToolTakenAway{name}}
			return nil
		})
}

// toolInVain is the offered tool whose calls in the last six turns most often brought nothing new; of two, the later.
func (l *Ledger) toolInVain(offered []string) string {
	counts, best := map[string]int{}, ""
	for r := len(l.Turns) - 1; r >= 0 && len(l.Turns)-r <= 6; r-- {
		for _, c := range l.Turns[r].Calls {
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
