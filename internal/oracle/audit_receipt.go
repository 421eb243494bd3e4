package oracle

import (
	"encoding/json"
	"strings"

	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/signal"
)

// heard is what any receipt may hold on signals, and how a model answered.
type heard struct {
	Signal   *signal.Signal   `json:"signal"`
	Extra    []signal.Signal  `json:"extra"`
	Problems []signal.Problem `json:"problems"`
	Model    string           `json:"model"`
	Attempts int              `json:"attempts"`
	Prompt   string           `json:"prompt"`
}

// receipt enters a completion, of its own record or of the record of a stop.
func (a *auditor) receipt(rec journal.Record, c run.CompletionRecord) {
	e := a.op(c.Op)
	e.Kind, e.Label, e.Leaf, e.Digest, e.Once = c.Kind, c.Label, c.Leaf, c.Digest, c.Once || e.Mark != nil
	e.Receipt, e.At, e.RunMS, e.TookMS = &rec.Seq, rec.At, c.Now, c.TookMS
	e.Stopped = rec.Kind == run.KindStopped
	e.State, e.Why = stateOf(c)
	a.lacks(rec, map[string]string{"kind of effect": c.Kind, "leaf": c.Leaf, "digest": c.Digest})
	var h heard
	switch c.Kind {
	case EffectTurn:
		a.reply(rec, c, e)
		a.result(rec, c, &h)
	case EffectCall:
		a.call(rec, c, e)
	default:
		if len(c.Result) > 0 {
			_ = json.Unmarshal(c.Result, &h) // an effect of another kind gives what it likes
		}
		if e.Turn = a.turns; c.Kind == EffectClassify {
			e.Turn = a.turnOf(rec, c.Payload)
		}
	}
	e.Model, e.Attempts, e.Prompt = h.Model, h.Attempts, h.Prompt
	a.signals(rec, c, e.Turn, h)
}

// stateOf says how an effect went by its receipt alone.
func stateOf(c run.CompletionRecord) (EffectState, string) {
	switch {
	case c.Err == nil && c.Found:
		return EffectFound, ""
	case c.Err == nil:
		return EffectOK, ""
	case c.Err.Kind == run.KindUnknown:
		return EffectUnknown, c.Err.Reason
	case c.Err.Kind == run.KindCancelled:
		return EffectWithdrawn, c.Err.Reason
	}
	return EffectFailed, c.Err.Reason
}

// result decodes what an effect gave. One that failed may have given nothing.
func (a *auditor) result(rec journal.Record, c run.CompletionRecord, into any) {
	if len(c.Result) == 0 && c.Err != nil {
		return
	}
	if err := json.Unmarshal(c.Result, into); err != nil {
		a.remark("record %d (%s): the result of operation %d can't be read: %v", rec.Seq, rec.Kind, c.Op, err)
	}
}

// reply counts a turn of the model.
func (a *auditor) reply(rec journal.Record, c run.CompletionRecord, e *AuditedEffect) {
	var p TurnPayload
	if json.Unmarshal(c.Payload, &p) != nil || p.Turn == 0 {
		p.Turn = a.turns + 1
		a.remark("record %d (%s) does not say which turn it holds: it is counted as turn %d", rec.Seq, rec.Kind, p.Turn)
	}
	a.turns, e.Turn = p.Turn, p.Turn
	a.turnAt[rec.Seq] = p.Turn
}

func (a *auditor) call(rec journal.Record, c run.CompletionRecord, e *AuditedEffect) {
	e.Turn = a.turnOf(rec, c.Payload)
	var r CallReceipt
	a.result(rec, c, &r)
	e.Arguments = r.Arguments
	if r.Error != nil && c.Err == nil {
		e.State, e.Why = EffectFailed, r.Error.Error()
	}
}

// turnOf is the turn whose record a payload names.
func (a *auditor) turnOf(rec journal.Record, payload json.RawMessage) int {
	var p struct{ Turn int64 }
	if json.Unmarshal(payload, &p) == nil {
		if turn := a.turnAt[p.Turn]; turn != 0 {
			return turn
		}
	}
	a.remark("record %d (%s) does not say which turn it belongs to", rec.Seq, rec.Kind)
	return a.turns
}

// signals enters all markup of a reply. Only the first well-formed signal of a reply that arrived whole reaches the tree.
func (a *auditor) signals(rec journal.Record, c run.CompletionRecord, turn int, h heard) {
	add := func(s AuditedSignal) {
		s.Turn, s.Record = turn, rec.Seq
		if s.Signal != nil {
			at := stamped(*s.Signal, c)
			s.Signal = &at
		}
		a.Signals = append(a.Signals, s)
	}
	if h.Signal != nil {
		s := AuditedSignal{Signal: h.Signal, Fate: Ignored}
		switch {
		case rec.Kind == run.KindStopped:
			s.Why = "the run was stopped before the tree took its turn in"
		case c.Err != nil:
			s.Why = "its turn failed: " + c.Err.Reason
		case c.Kind != EffectTurn:
			s.Why = "nobody asks for signals in a reply of " + c.Kind
		default:
			s.Fate = Pending
		}
		add(s)
	}
	for i := range h.Extra {
		add(AuditedSignal{Signal: &h.Extra[i], Fate: Ignored, Why: "extra: another signal came first in the reply"})
	}
	for i := range h.Problems {
		add(AuditedSignal{Malformed: &h.Problems[i], Fate: Ignored, Why: "malformed: " + h.Problems[i].Reason})
	}
}

// judge says of each signal that reached the tree what the tree made of it.
func (a *auditor) judge() {
	for i := range a.Signals {
		if s := &a.Signals[i]; s.Fate == Pending {
			a.fate(s)
		}
	}
}

func (a *auditor) fate(s *AuditedSignal) {
	first := true
	for _, step := range a.steps {
		if step.Record < s.Record {
			continue
		}
		if step.Record > s.Record && a.turnAt[step.Record] != 0 {
			break // the next turn's
		}
		for _, e := range ofTurn(step, s.Signal.Type, first) {
			switch {
			case asksFor(e, s.Signal.Type):
				s.Fate, s.Why, s.Rule = Steered, "a rule asked for it", e.Path
				if e.Note != string(s.Signal.Type) {
					s.Why += ": " + e.Note
				}
				return
			case first && e.Key == "" && (e.Status == "SUCCESS" || e.Status == "RUNNING"):
				s.Fate, s.Why, s.Rule = Noted, "another rule decided", e.Path
				if e.Note != "" {
					s.Why += ": " + e.Note
				}
			}
		}
		first = false
	}
	if s.Fate == Pending {
		s.Why = "what the tree made of it is not in the journal"
	}
}

// asksFor says whether a node asked for the signal: the check of its type says just that, and what a signal gives cause to
// doubt goes to the fallback.
func asksFor(e run.TraceEvent, t signal.Type) bool {
	node, _, _ := strings.Cut(e.Path[strings.LastIndexByte(e.Path, '/')+1:], "#")
	return e.Status == "SUCCESS" && (e.Note == string(t) || node == "CauseOfDoubt")
}

// ofTurn gives the events of a step that belong to the turn with the signal: in the first step, which took the reply in,
// those after the one that noted it; and none from where the tree goes on to the next turn.
func ofTurn(step run.TraceStep, t signal.Type, first bool) []run.TraceEvent {
	events := step.Events
	below := ""
	if first {
		for i, e := range events {
			if e.Key == "" && strings.HasPrefix(e.Note, "signal "+string(t)+" ") {
				below = e.Path[:strings.LastIndexByte(e.Path, '/')+1]
				events = events[i+1:]
				break
			}
		}
	}
	for i, e := range events {
		if e.Key == "" && below != "" && (!strings.HasPrefix(e.Path, below) || e.Path == step.Events[0].Path) {
			return events[:i]
		}
	}
	return events
}
