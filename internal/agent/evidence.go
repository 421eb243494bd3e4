package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/tool"
)

// Round is one turn of the model as the detectors of loops see it.
type Round struct {
	Turn  int    `json:"turn"`
	Calls []Made `json:"calls,omitempty"` // distinct, as they were proposed
	Novel bool   `json:"novel,omitempty"` // something came in that was not there before
	Wrote bool   `json:"wrote,omitempty"` // the world was changed, so that the same call may give something else
}

// Made is one call of a round. Key names the tool and its arguments with what is volatile in them masked.
type Made struct {
	Tool  string `json:"tool"`
	Key   string `json:"key"`
	Novel bool   `json:"novel,omitempty"`
	Error string `json:"error,omitempty"` // names the error, masked; "": it went well
}

// Bounds of what is kept for the detectors.
const (
	keptRounds = 200
	keptKnown  = 600
)

// begin opens the round of a turn. Until tools bring something, it has brought nothing.
func (l *Ledger) begin() {
	l.Turn++
	l.Rounds = append(l.Rounds[max(0, len(l.Rounds)+1-keptRounds):len(l.Rounds):len(l.Rounds)], Round{Turn: l.Turn})
}

// made enters a call into the last round.
func (l *Ledger) made(m Made) {
	r := &l.Rounds[len(l.Rounds)-1]
	r.Calls = slices.Clone(r.Calls) // the ledger before this one has them too
	if i := slices.IndexFunc(r.Calls, func(o Made) bool { return o.Key == m.Key }); i >= 0 {
		r.Calls[i].Novel = r.Calls[i].Novel || m.Novel
		if m.Error == "" {
			r.Calls[i].Error = "" // one of them went well
		}
	} else {
		r.Calls = append(r.Calls, m)
	}
	r.Novel = r.Novel || m.Novel
}

// order puts the calls of the last round into the order in which the reply proposes them: those that run at once are entered as they
// are done.
func (l *Ledger) order(proposed []CallFact) {
	place := func(m Made) int { return slices.IndexFunc(proposed, func(c CallFact) bool { return c.Key == m.Key }) }
	slices.SortFunc(l.Rounds[len(l.Rounds)-1].Calls, func(a, b Made) int { return place(a) - place(b) })
}

// learn says whether a result holds something that no result before it held: a place that was not named or not opened
// before, or, where no place tells, a text that differs in more than the time of day. A search without a hit holds nothing.
func (l *Ledger) learn(t ToolFact, r *tool.Result) bool {
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

// volatile are what changes by itself between two calls that are otherwise the same: times, and generated identifiers.
var volatile = sync.OnceValue(func() (v struct{ clocks, idents, numbers *regexp.Regexp }) {
	v.clocks = regexp.MustCompile(`(?i)\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?\b` +
		`|\b\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?[ap]m)?\b|\b1\d{9}(?:\d{3}){0,3}\b|\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|sec|seconds|minutes|min) ?(?:ago)?\b` +
		`|\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? \d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{4}\b`)
	v.idents = regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?:0x)?[0-9a-f]{11,}\b`)
	v.numbers = regexp.MustCompile(`[0-9]+`)
	return v
})

// maskClock hides what is volatile in a result. Other numbers stay: a counter that moves is news.
func maskClock(text string) string {
	return volatile().idents.ReplaceAllStringFunc(volatile().clocks.ReplaceAllString(text, "#t"), func(id string) string {
		if !strings.ContainsAny(id, "0123456789") {
			return id // a word of the letters a to f
		}
		return "#i"
	})
}

// volatileNames are arguments that say nothing of what is asked for.
var volatileNames = map[string]bool{"request_id": true, "requestid": true, "nonce": true, "timestamp": true, "ts": true, "time": true, "now": true,
	"date": true, "seed": true, "uuid": true, "trace_id": true, "attempt": true, "retry": true, "try": true, "counter": true, "id": true, "cache_bust": true}

// callKey names a tool and its arguments: order, space, case and numbers in them aside, and without volatile ones. Two
// calls of one key are a repetition only if the later one brought nothing new.
func callKey(name, arguments string) string {
	if args, err := object(arguments); err == nil {
		dropVolatile(args)
		if sorted, err := json.Marshal(args); err == nil {
			arguments = string(sorted)
		}
	}
	return Digest(name, " ", maskAll(arguments))
}

// dropVolatile takes volatile arguments out, however deep they stand.
func dropVolatile(v any) {
	switch v := v.(type) {
	case map[string]any:
		for n, of := range v {
			if volatileNames[strings.ToLower(n)] {
				delete(v, n)
			}
			dropVolatile(of)
		}
	case []any:
		for _, of := range v {
			dropVolatile(of)
		}
	}
}

// maskAll hides every number.
func maskAll(text string) string {
	return volatile().numbers.ReplaceAllString(maskClock(strings.ToLower(strings.Join(strings.Fields(text), " "))), "#")
}
