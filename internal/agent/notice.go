package agent

import (
	"fmt"
	"slices"
)

// Notice tells the person, and whoever watches, something beside the answer.
type Notice struct {
	Type     string            `json:"type"` // what happened, dotted: budget.warning
	Severity Severity          `json:"severity"`
	Text     string            `json:"text"`
	Turn     int               `json:"turn,omitempty"` // of the model, from 1; 0: before or after them all
	Payload  map[string]string `json:"payload,omitempty"`
}

// Severity says how much a notice matters to the person.
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
	NoticeCut             = "budget.turn_cut"    // a turn, for the sake of the last one
	NoticeLoop            = "loop.detected"      // payload: pattern, step
	NoticeUnsureWrite     = "write.unsure"       // payload: tool, reason
	NoticeTurnedAway      = "call.turned_away"   // payload: tool; so many wait for a yes that this one can't
	NoticeSearchedInPart  = "search.in_part"     // a folder is too large to be searched whole
	NoticeOtherModel      = "model.fallback"     // payload: answered, reason
	NoticeSummarised      = "history.summarised" // payload: turns, tokens
	NoticeTooLong         = "history.too_long"   // results of tools were cut, so that a request fits
	NoticeTruncated       = "history.truncated"  // payload: sent, counted; the server has read only a part of the request
)

// Pairs makes a payload of names and values in turn.
func Pairs(names ...any) map[string]string {
	p := make(map[string]string, len(names)/2)
	for i := 0; i+1 < len(names); i += 2 {
		p[fmt.Sprint(names[i])] = fmt.Sprint(names[i+1])
	}
	return p
}

// Notice enters a notice, once for each text; that another model answers, once for each model.
func (l *Ledger) Notice(kind string, s Severity, payload map[string]string, format string, args ...any) {
	n := Notice{Type: kind, Severity: s, Text: fmt.Sprintf(format, args...), Turn: l.Turn, Payload: payload}
	if !slices.ContainsFunc(l.Notices, func(o Notice) bool {
		return o.Type == n.Type && (o.Text == n.Text || n.Type == NoticeOtherModel && o.Payload["answered"] == n.Payload["answered"])
	}) {
		l.Notices = append(l.Notices, n)
	}
}

// NoticeOnce enters a notice if the run has none of its type.
func (l *Ledger) NoticeOnce(kind string, s Severity, payload map[string]string, format string, args ...any) {
	if !slices.ContainsFunc(l.Notices, func(o Notice) bool { return o.Type == kind }) {
		l.Notice(kind, s, payload, format, args...)
	}
}
