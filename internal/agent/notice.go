package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Notice tells the user and watchers something besides the answer.
type Notice struct {
	Type     string            `json:"type"` // what happened, dotted: budget.warning
	Severity Severity          `json:"severity"`
	Text     string            `json:"text"`
	Turn     int               `json:"turn,omitempty"` // of the model, from 1; 0: before or after them all
	Payload  map[string]string `json:"payload,omitempty"`
	bt.Coded                   // of Text
}

// Severity says how much a notice matters to the user.
type Severity string

// The severities. Info is for those who watch; the command line shows warnings.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
)

// The types of notice that do not depend on the assistant.
const (
	NoticeBudgetWarning   = "budget.warning"     // payload: kind, used, limit
	NoticeBudgetExhausted = "budget.exhausted"   // payload: kind, used, limit
	NoticeCut             = "budget.turn_cut"    // a turn was cut off, to leave time for the last one
	NoticeLoop            = "loop.detected"      // payload: pattern, step
	NoticeUnsureWrite     = "write.unsure"       // payload: tool, reason
	NoticeRedacted        = "write.redacted"     // payload: target; a secret was taken out of what was written
	NoticeTurnedAway      = "call.turned_away"   // payload: tool; no yes can be asked, or too many calls wait for one
	NoticeOtherModel      = "model.fallback"     // payload: answered, reason
	NoticeToolRefused     = "tool.refused"       // payload: tools; the model's provider refuses its schema
	NoticeSummarised      = "history.summarised" // payload: turns, tokens
	NoticeTooLong         = "history.too_long"   // results of tools were cut, so that a request fits
	// payload: sent, counted; the server read only a part of the request
	NoticeTruncated = "history.truncated"
)

// Pairs makes a payload of alternating names and values, which are formatted as text.
func Pairs(names ...any) map[string]string {
	p := make(map[string]string, len(names)/2)
	for i := 0; i+1 < len(names); i += 2 {
		p[fmt.Sprint(names[i])] = fmt.Sprint(names[i+1])
	}
	return p
}

// Notice enters a notice, once for each type and text; NoticeOtherModel once for each model.
func (l *Ledger) Notice(kind string, s Severity, payload map[string]string, why bt.Why) {
	n := Notice{Type: kind, Severity: s, Text: why.Text, Coded: why.Coded, Turn: l.Turn, Payload: payload}
	if !slices.ContainsFunc(l.Notices, func(o Notice) bool {
		return o.Type == n.Type && (o.Text == n.Text || n.Type == NoticeOtherModel &&
			o.Payload["answered"] == n.Payload["answered"])
	}) {
		l.Notices = append(l.Notices, n)
	}
}

// NoticeOncePerType enters a notice if the run has none of its type.
func (l *Ledger) NoticeOncePerType(kind string, s Severity, payload map[string]string, why bt.Why) {
	if !slices.ContainsFunc(l.Notices, func(o Notice) bool { return o.Type == kind }) {
		l.Notice(kind, s, payload, why)
	}
}

// The texts of notices.
const (
	resultsCut bt.Reason = "notice.results_cut: What was read does not fit in the model's context window, so tool " +
		"results were cut: use a larger window, or ask for less at a time."
	otherModel  bt.Reason = "notice.other_model: {model} answers instead: {reason}"
	toolRefused bt.Reason = "notice.tool_refused: The model's provider refuses what it was told of these tools, " +
		"so they are not offered: {tools}."
	readInPart bt.Reason = "notice.read_in_part: The server has read only a part of what was sent ({counted} of " +
		"about {sent} tokens): give its model a larger context window."
	unsureWrite bt.Reason = "notice.unsure_write: Not sure to be done: {tool}: {reason}"
	redacted    bt.Reason = "notice.redacted: A secret was taken out of what was written: {target} has {mark} in " +
		"its place."
	noApproval bt.Reason = "notice.no_approval: A call of {tool} needed approval, but nobody " +
		"can be asked here: it was not made ({why})."
	moreWait bt.Reason = "notice.more_wait: More calls of {tool} needed your approval than can wait; they were " +
		"refused and are not shown: ask for them one at a time."
	repeats   bt.Reason = "notice.repeats: The model repeats itself ({pattern})."
	stillSame bt.Reason = "notice.still_repeats: The model still repeats itself ({pattern}), step {step}."

	// What repeats itself.
	sameReason   bt.Reason = "loop.reason: the same reason"
	sameCall     bt.Reason = "loop.call: the same call"
	sameError    bt.Reason = "loop.error: the same error"
	cycleOfCalls bt.Reason = "loop.cycle: a cycle of calls"
	nothingNew   bt.Reason = "loop.nothing: nothing new"

	budgetLow bt.Reason = "notice.budget_low: {spent} were used."
	budgetOut bt.Reason = "notice.budget_out: The budget ran out: the last turn began after {spent}."
	turnCut   bt.Reason = "notice.turn_cut: A turn was cut off to leave time for the last one."
	timeUp    bt.Reason = "notice.time_up: The time is used up: the last turn was cut off."

	spentTurns   bt.Reason = "budget.turns: {used} of {limit} turns"
	spentTokens  bt.Reason = "budget.tokens: {used} of {limit} tokens"
	spentSeconds bt.Reason = "budget.seconds: {used} of {limit} seconds"
)

// noticeReasons are all reasons of notices.
func noticeReasons() []bt.Reason {
	return []bt.Reason{
		resultsCut, otherModel, toolRefused, readInPart, unsureWrite, redacted, noApproval, moreWait, repeats, stillSame,
		sameReason,
		sameCall, sameError, cycleOfCalls, nothingNew, budgetLow, budgetOut, turnCut, timeUp, spentTurns, spentTokens,
		spentSeconds,
	}
}

// Why says how much of the budget was used.
func (s Spent) Why() bt.Why {
	of := map[string]bt.Reason{"turns": spentTurns, "tokens": spentTokens, "seconds": spentSeconds}[s.Kind]
	return of.With(s.Used, s.Limit)
}
