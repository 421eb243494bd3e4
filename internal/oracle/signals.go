package oracle

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

// AuditedSignal is the markup of a signal that the model wrote (docs/requirements.md, FR-009 and SC-009). Exactly one
// of Signal, Malformed and Mention is set; each has the raw text. Turns count from 1.
type AuditedSignal struct {
	Turn      int             `json:"turn"`
	Record    int64           `json:"record"` // that holds it
	Signal    *signal.Signal  `json:"signal,omitempty"`
	Malformed *signal.Problem `json:"malformed,omitempty"`
	Mention   *signal.Mention `json:"mention,omitempty"` // the reply only quotes it
	Fate      Fate            `json:"fate"`
	Why       string          `json:"why"` // in words
	// the node of the tree that acted on it, or that decided without it
	Rule string `json:"rule,omitempty"`
}

// Fate is what became of a signal.
type Fate string

// The fates of a signal.
const (
	Steered Fate = "steered" // a rule of the tree acted on it
	Noted   Fate = "noted"   // the tree saw it, but another rule decided
	Ignored Fate = "ignored" // the tree did not see it
	Pending Fate = "pending" // its effect is not in the journal yet
)

// AuditSignals lists every signal in the records of a run, as run.Read returns them, and what became of it according to
// the steps. It only reports.
func AuditSignals(bodies []any, steps []run.TraceStep) []AuditedSignal {
	a := &signalAudit{steps: steps, turnOfRecord: map[int64]int{}, found: []AuditedSignal{}}
	for seq, body := range bodies {
		switch r := body.(type) {
		case *run.CompletionRecord:
			a.addReceipt(int64(seq), r, false)
		case *run.StoppedRecord:
			for i := range r.Under {
				a.addReceipt(int64(seq), &r.Under[i], true)
			}
		}
	}
	for i := range a.found {
		if s := &a.found[i]; s.Fate == Pending {
			a.findFate(s)
		}
	}
	return a.found
}

type signalAudit struct {
	steps        []run.TraceStep
	turns        int           // replies so far
	turnOfRecord map[int64]int // by the record that holds the reply
	found        []AuditedSignal
}

func (a *signalAudit) addReceipt(record int64, c *run.CompletionRecord, stopped bool) {
	if c.Kind != agent.EffectTurn && c.Kind != agent.EffectNotes {
		return
	}
	turn := a.turns + 1 // notes belong to the next turn
	if c.Kind == agent.EffectTurn {
		a.turns++
		a.turnOfRecord[record] = a.turns
	}
	var r agent.TurnReceipt[Heard]
	if json.Unmarshal(c.Result, &r) != nil {
		return
	}
	add := func(s AuditedSignal) {
		s.Turn, s.Record = turn, record
		a.found = append(a.found, s)
	}
	h := r.Report
	if h.Signal != nil {
		s := AuditedSignal{Signal: h.Signal, Fate: Ignored}
		switch {
		case stopped:
			s.Why = "the run was stopped before the tree processed its turn"
		case c.Err != nil:
			s.Why = "its turn failed: " + c.Err.Reason
		case c.Kind != agent.EffectTurn:
			s.Why = "no signals are expected in a reply of " + c.Kind
		default:
			s.Fate = Pending
		}
		add(s)
	}
	for i := range h.Extra {
		add(AuditedSignal{Signal: &h.Extra[i], Fate: Ignored, Why: "extra: only the first signal in a reply counts"})
	}
	for i := range h.Problems {
		add(AuditedSignal{Malformed: &h.Problems[i], Fate: Ignored, Why: "malformed: " + h.Problems[i].Reason})
	}
	for i := range h.Mentions {
		add(AuditedSignal{Mention: &h.Mentions[i], Fate: Ignored, Why: "a mention: it is quoted (" +
			string(h.Mentions[i].Form) + ")"})
	}
}

func (a *signalAudit) findFate(s *AuditedSignal) {
	first := true
	for _, step := range a.steps {
		if step.Record < s.Record {
			continue
		}
		if step.Record > s.Record && a.turnOfRecord[step.Record] != 0 {
			break // the next turn's
		}
		because := "" // what the next node with a status has reported
		for _, e := range eventsOfTurn(step, first) {
			switch {
			case e.Type == SignalTaken{}.EventType(), e.Type == ReplyDoubted{}.EventType():
				s.Fate, s.Why, s.Rule = Steered, "a rule acted on it", e.Rule
				if e.Type == (ReplyDoubted{}).EventType() {
					s.Why += ": " + e.String()
				}
				return
			case first && (e.Status == "SUCCESS" || e.Status == "RUNNING"):
				s.Fate, s.Why, s.Rule = Noted, "another rule decided", e.Rule
				if because = cmp.Or(e.Reason, because); because != "" {
					s.Why += ": " + because
				}
			}
			if because = ""; e.Type != "" {
				because = e.String()
			}
		}
		first = false
	}
	if s.Fate == Pending {
		s.Why = "the journal does not say what the tree did with it"
	}
}

// eventsOfTurn selects the events of a step that belong to the signal's turn. In the first step, these are the events
// after the signal was heard. Events from the next turn on are left out.
func eventsOfTurn(step run.TraceStep, first bool) []run.TraceEvent {
	events := step.Events
	within := ""
	for i, e := range events {
		if first && e.Type == (SignalHeard{}).EventType() {
			within = e.Rule[:strings.LastIndexByte(e.Rule, '/')+1]
			// of the node that heard it
			own := slices.IndexFunc(events[i:], func(e run.TraceEvent) bool { return e.Status != "" })
			events = events[i+own+1:]
			break
		}
	}
	for i, e := range events {
		if within != "" && !strings.HasPrefix(e.Rule, within) {
			return events[:i]
		}
	}
	return events
}
