package agent

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"sibyl/internal/bt"
	"sibyl/internal/model"
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

// The events of leaves: their fields are for programs, the sentences of Story for people.

// Events are the events of the leaves of this package, for decoding.
func Events() []bt.Typed {
	return []bt.Typed{HintGiven{}, CallDone{}, CallRefused{}, CallHeld{}, BudgetSeen{}, LoopFound{}, ToolTakenAway{},
		NotesTaken{}, NotOwn{}}
}

func stories() []bt.Reason {
	return []bt.Reason{hintGiven, searchedCode, searchedNotes, searchedThreads, searchedWeb, lookedUp, sawHistory,
		sawMap, readFile, openedPage, wroteNote, usedTool, callFailed, callHeld, callRefused, lastTurn, loopFound,
		toolTakenAway, notesTaken, SaidNotOwn}
}

// HintGiven says which hint the model gets before its next turn.
type HintGiven struct {
	Text string `json:"text"`
}

const hintGiven bt.Reason = "control.checked.hint: Sent the model back with a hint"

// EventType implements bt.Typed.
func (HintGiven) EventType() string { return "hint.given" }

// Story implements bt.Narrated.
func (HintGiven) Story() bt.Why { return hintGiven.With() }

// NotOwn is what was dropped of a reply: it was not the model's own words.
type NotOwn struct {
	Parts []string `json:"parts"` // shortened
}

// SaidNotOwn tells people of it.
const SaidNotOwn bt.Reason = "control.checked.not_own: Left out what the model only repeated of what it was sent"

// EventType implements bt.Typed.
func (NotOwn) EventType() string { return "reply.not_own" }

// Story implements bt.Narrated.
func (NotOwn) Story() bt.Why { return SaidNotOwn.With() }

// RequestCut says that a request did not fit into the model's window, and was sent with less.
type RequestCut struct {
	Tokens int `json:"tokens"` // that were to be spared
}

// SaidCut tells people of it.
const SaidCut bt.Reason = "control.checked.cut: Left out some {n} tokens of what there was to send, the oldest " +
	"first: the model’s window has no room for them"

// EventType implements bt.Typed.
func (RequestCut) EventType() string { return "request.cut" }

// Story implements bt.Narrated.
func (e RequestCut) Story() bt.Why { return SaidCut.With(e.Tokens) }

// WithCut adds the event about a request that was cut to others, if it was.
func WithCut(events []bt.Typed, sent model.Sent) []bt.Typed {
	if sent.Cut == 0 {
		return events
	}
	return append(events, RequestCut{sent.Cut})
}

// mostNotOwn bounds how many parts the event has, and partNotOwn how long they are, in characters.
const (
	mostNotOwn = 5
	partNotOwn = 100
)

// WithNotOwn adds the event about what was dropped of a reply to others, if anything was.
func WithNotOwn(events []bt.Typed, dropped []string) []bt.Typed {
	if len(dropped) == 0 {
		return events
	}
	var e NotOwn
	for _, part := range dropped[:min(len(dropped), mostNotOwn)] {
		e.Parts = append(e.Parts, text.Brief(part, partNotOwn))
	}
	return append(events, e)
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

const (
	searchedCode    bt.Reason = "story.searched.code: Searched the code for “{what}”: {n} found"
	searchedNotes   bt.Reason = "story.searched.notes: Searched the notes for “{what}”: {n} found"
	searchedThreads bt.Reason = "story.searched.threads: Searched the threads for “{what}”: {n} found"
	searchedWeb     bt.Reason = "story.searched.web: Searched the web for “{what}”: {n} found"
	lookedUp        bt.Reason = "story.searched.symbol: Looked “{what}” up in the code: {n} found"
	sawHistory      bt.Reason = "story.searched.history: Looked at the history of the code: {n} found"
	sawMap          bt.Reason = "story.searched.map: Looked at how the code is laid out"
	readFile        bt.Reason = "story.read.file: Read {what}"
	openedPage      bt.Reason = "story.read.page: Opened {what}"
	wroteNote       bt.Reason = "story.wrote: Wrote {what}"
	usedTool        bt.Reason = "story.called: Used {call}"
	callFailed      bt.Reason = "story.failed.call: {call} failed: {why}"
)

// EventType implements bt.Typed.
func (CallDone) EventType() string { return "call.done" }

// Story implements bt.Narrated.
func (e CallDone) Story() bt.Why {
	what := subjectOf(e.Arguments)
	if e.Error != "" {
		return callFailed.With(describeCall(e.Tool, e.Arguments), e.Error)
	}
	switch e.Tool {
	case "code_search":
		return searchedCode.With(what, e.Items)
	case "vault_search":
		return searchedNotes.With(what, e.Items)
	case "thread_seek":
		return searchedThreads.With(what, e.Items)
	case "web_search":
		return searchedWeb.With(what, e.Items)
	case "code_symbol":
		return lookedUp.With(what, e.Items)
	case "code_history":
		return sawHistory.With(e.Items)
	case "repo_map":
		return sawMap.With()
	case "code_read", "vault_read":
		return readFile.With(what)
	case "web_fetch":
		return openedPage.With(what)
	case "vault_write":
		return wroteNote.With(what)
	}
	return usedTool.With(describeCall(e.Tool, e.Arguments))
}

// setRule sets the rule that admitted the call.
func (e *CallDone) setRule(v Verdict) {
	if e.Rule, e.Labels = v.Rule.recorded(), v.Labels; e.Rule != "" {
		e.Why = e.Rule.Why()
	}
}

// CallHeld is a call that waits for the person's yes.
type CallHeld struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // shortened
	bt.Why
	Labels Labels `json:"labels,omitempty"` // of what the model had seen
}

const callHeld bt.Reason = "control.held: Did not do this without you: {call}, because {why}"

// EventType implements bt.Typed.
func (CallHeld) EventType() string { return "call.held" }

// Story implements bt.Narrated.
func (e CallHeld) Story() bt.Why { return callHeld.With(describeCall(e.Tool, e.Arguments), e.Why) }

// CallRefused is a call that was not performed.
type CallRefused struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"` // shortened
	bt.Why
}

const callRefused bt.Reason = "story.refused: Was not allowed to use {tool}, because {why}"

// EventType implements bt.Typed.
func (CallRefused) EventType() string { return "call.refused" }

// Story implements bt.Narrated.
func (e CallRefused) Story() bt.Why { return callRefused.With(plainName(e.Tool), e.Why) }

// BudgetSeen is what was used of the budgets before a turn.
type BudgetSeen struct {
	Used []Spent `json:"used"`
	Last bool    `json:"last,omitempty"` // the turn is the last one
}

const lastTurn bt.Reason = "control.limit.last: Nearly at a limit, so the next turn had to be the last"

// EventType implements bt.Typed.
func (BudgetSeen) EventType() string { return "budget.seen" }

// Story implements bt.Narrated.
func (e BudgetSeen) Story() bt.Why {
	if !e.Last {
		return bt.Why{}
	}
	return lastTurn.With()
}

// LoopFound says that the model repeats itself, for the Strikes-th time.
type LoopFound struct {
	Pattern string `json:"pattern"`
	bt.Coded
	Strikes int `json:"strikes"`
}

const loopFound bt.Reason = "control.checked.loop: Noticed that the model repeats itself"

// EventType implements bt.Typed.
func (LoopFound) EventType() string { return "loop.found" }

// Story implements bt.Narrated.
func (e LoopFound) Story() bt.Why { return loopFound.With() }

// ToolTakenAway says which tool is not offered any more.
type ToolTakenAway struct {
	Tool string `json:"tool"`
}

const toolTakenAway bt.Reason = "control.checked.away: Took {tool} away from the model"

// EventType implements bt.Typed.
func (ToolTakenAway) EventType() string { return "tool.taken_away" }

// Story implements bt.Narrated.
func (e ToolTakenAway) Story() bt.Why { return toolTakenAway.With(plainName(e.Tool)) }

// NotesTaken says that notes replaced so many turns.
type NotesTaken struct {
	Turns  int `json:"turns"`
	Tokens int `json:"tokens"` // of the notes
}

const notesTaken bt.Reason = "control.noted: Took notes on what had been read, to make room for more"

// EventType implements bt.Typed.
func (NotesTaken) EventType() string { return "notes.taken" }

// Story implements bt.Narrated.
func (e NotesTaken) Story() bt.Why { return notesTaken.With() }

func describeCall(tool, arguments string) string {
	return strings.TrimSpace(plainName(tool) + " " + subjectOf(arguments))
}

// plainName is the name of a tool for people.
func plainName(tool string) string { return strings.ReplaceAll(tool, "_", " ") }

// subjectArgument finds the argument that says what a call is about, in arguments that may be cut short.
var subjectArgument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:query|path|note|url|address|symbol|title|name)"\s*:\s*"((?:[^"\\]|\\.)*)("?)`)
})

// subjectOf is what a call is about: the words of a search, a path or an address; "" if none is recognised.
func subjectOf(arguments string) string {
	found := subjectArgument().FindStringSubmatch(arguments)
	if found == nil {
		return ""
	}
	var what string
	if json.Unmarshal([]byte(`"`+found[1]+`"`), &what) != nil {
		what = found[1]
	}
	if found[2] == "" && !strings.HasSuffix(what, "…") {
		what += "…"
	}
	return what
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
