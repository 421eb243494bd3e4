package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/text"
)

// Whys are sentences that records keep.
type Whys []bt.Why

// UnmarshalJSON also reads sentences without codes, as older records have them.
func (w *Whys) UnmarshalJSON(data []byte) error {
	var words []string
	if json.Unmarshal(data, &words) != nil {
		return json.Unmarshal(data, (*[]bt.Why)(w))
	}
	for _, one := range words {
		*w = append(*w, bt.Because(one))
	}
	return nil
}

// The events of leaves: their fields are for programs, String is for people.

// HintGiven says which hint the model gets before its next turn.
type HintGiven struct {
	Text string `json:"text"`
}

// CallDone is a call that was performed. Error is why it failed; Items and Bytes are what it gave.
type CallDone struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // shortened
	Items     int    `json:"items"`
	Bytes     int    `json:"bytes"`
	TookMS    int64  `json:"took_ms"`
	Error     string `json:"error,omitempty"`
	Rule      Rule   `json:"rule,omitempty"` // that let it through; "": nothing of it left the machine
	bt.Why           // of Rule, where one is named
	Labels    Labels `json:"labels,omitempty"` // of what the model had seen, where a rule is named
}

// CallHeld is a call that waits for the person's yes.
type CallHeld struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // shortened
	bt.Why
	Labels Labels `json:"labels,omitempty"` // of what the model had seen
}

// CallRefused is a call that was not performed.
type CallRefused struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // shortened
	bt.Why
}

// BudgetSeen is what was used of the budgets before a turn.
type BudgetSeen struct {
	Used []Spent `json:"used"`
	Last bool    `json:"last,omitempty"` // the turn is the last one
}

// LoopFound says that the model repeats itself, for the Strikes-th time.
type LoopFound struct {
	Pattern string `json:"pattern"`
	bt.Coded
	Strikes int `json:"strikes"`
}

// ToolTakenAway says which tool is not offered any more.
type ToolTakenAway struct {
	Tool string `json:"tool"`
}

// NotesTaken says that notes replaced so many turns.
type NotesTaken struct {
	Turns  int `json:"turns"`
	Tokens int `json:"tokens"` // of the notes
}

// Events are all events of this package, for decoding.
func Events() []bt.Typed {
	return []bt.Typed{HintGiven{}, CallDone{}, CallRefused{}, CallHeld{}, BudgetSeen{}, LoopFound{}, ToolTakenAway{},
		NotesTaken{}}
}

func (HintGiven) EventType() string     { return "hint.given" }
func (CallDone) EventType() string      { return "call.done" }
func (CallRefused) EventType() string   { return "call.refused" }
func (CallHeld) EventType() string      { return "call.held" }
func (BudgetSeen) EventType() string    { return "budget.seen" }
func (LoopFound) EventType() string     { return "loop.found" }
func (ToolTakenAway) EventType() string { return "tool.taken_away" }
func (NotesTaken) EventType() string    { return "notes.taken" }

func (e HintGiven) String() string { return "told the model: " + e.Text }

func (e CallDone) String() string {
	text := fmt.Sprintf("%s %s: %s", e.Tool, e.Arguments, e.Error)
	if e.Error == "" {
		text = fmt.Sprintf("%s %s: %d found, %s, %s", e.Tool, e.Arguments, e.Items, Size(e.Bytes), Seconds(e.TookMS))
	}
	if e.Rule != "" {
		text += fmt.Sprintf("; let through: %s (labels: %s)", e.Rule.Why().Text, e.Labels)
	}
	return text
}

// setRule sets the rule that admitted the call.
func (e *CallDone) setRule(v Verdict) {
	if e.Rule, e.Labels = v.Rule.recorded(), v.Labels; e.Rule != "" {
		e.Why = e.Rule.Why()
	}
}

func (e CallRefused) String() string { return fmt.Sprintf("refused: %s: %s", e.Tool, e.Text) }

func (e CallHeld) String() string {
	return fmt.Sprintf("asks you first: %s %s: %s (labels: %s)", e.Tool, e.Arguments, e.Text, e.Labels)
}

func (e BudgetSeen) String() string {
	var used []string
	for _, s := range e.Used {
		used = append(used, s.String())
	}
	text := strings.Join(used, ", ")
	if e.Last {
		text += "; the last turn"
	}
	return text
}

func (e LoopFound) String() string {
	return fmt.Sprintf("the model repeats itself (%s), step %d", e.Pattern, e.Strikes)
}

func (e ToolTakenAway) String() string { return e.Tool + " is not offered any more" }

func (e NotesTaken) String() string {
	return fmt.Sprintf("notes of %d tokens stand for %s", e.Tokens, text.Count(e.Turns, "turn"))
}

// Size is a number of bytes for people.
func Size(bytes int) string {
	if bytes < 1024 {
		return fmt.Sprintf("%d B", bytes)
	}
	if bytes >= 1<<20 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1f KB", float64(bytes)/1024)
}

// Listed is a list in a sentence: “a, b and c” if join is “and”.
func Listed(items []string, join string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	return strings.Join(items[:len(items)-1], ", ") + " " + join + " " + items[len(items)-1]
}

// Seconds is a number of milliseconds for people.
func Seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }
