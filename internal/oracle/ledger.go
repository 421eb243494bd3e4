package oracle

import (
	"encoding/json"
	"fmt"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Ledger is what the control layer keeps of a run (requirement: AgentState, AgentSignalState).
type Ledger struct {
	Signals  signal.State `json:"signals"`
	Sources  []Tried      `json:"sources,omitempty"`
	Opened   []string     `json:"opened,omitempty"` // places read, as they are cited
	Fresh    bool         `json:"fresh,omitempty"`  // the last round of tools opened something not read before
	Errors   int          `json:"errors,omitempty"`
	Tainted  bool         `json:"tainted,omitempty"` // text from strangers was read
	Gaps     []string     `json:"gaps,omitempty"`    // capabilities asked for that do not exist
	Notices  []Notice     `json:"notices,omitempty"` // what the person is told beside the answer
	AskedFor bool         `json:"asked_for,omitempty"`

	Turn      int       `json:"turn"`             // replies so far
	Rounds    []Round   `json:"rounds,omitempty"` // the latest
	Known     []string  `json:"known,omitempty"`  // digests of what tools have brought
	Strikes   int       `json:"strikes,omitempty"`
	StruckAt  int       `json:"struck_at,omitempty"`
	Taken     []string  `json:"taken,omitempty"` // tools that were taken away for good
	Consults  []Consult `json:"consults,omitempty"`
	Rephrased bool      `json:"rephrased,omitempty"` // other words were asked for, as no other source was left

	Tokens    int      `json:"tokens,omitempty"`    // spent so far
	Warned    []string `json:"warned,omitempty"`    // kinds of budget that are told to run low
	Exhausted *Spent   `json:"exhausted,omitempty"` // the budget that made a turn the last one
	History   int      `json:"history,omitempty"`   // tokens of the conversation, estimated
	Prompt    int      `json:"prompt,omitempty"`    // tokens of the system prompt
	NotedAt   int      `json:"noted_at,omitempty"`  // the turn before which notes were taken
}

// Tried counts what was done with one source (requirement FR-017). Hits are those of searches.
type Tried struct {
	Source tool.Source `json:"source"`
	Calls  int         `json:"calls"`
	Hits   int         `json:"hits"`
	Empty  int         `json:"empty"` // searches that found nothing
	Opened int         `json:"opened"`
	Errors int         `json:"errors"`
}

func (l *Ledger) tried(s tool.Source) *Tried {
	for i := range l.Sources {
		if l.Sources[i].Source == s {
			return &l.Sources[i]
		}
	}
	l.Sources = append(l.Sources, Tried{Source: s})
	return &l.Sources[len(l.Sources)-1]
}

// left are the tools that may still be offered.
func (l *Ledger) left(tools []ToolFact) []ToolFact {
	return slices.DeleteFunc(slices.Clone(tools), func(t ToolFact) bool { return slices.Contains(l.Taken, t.Name) })
}

// clone lets a leaf change the ledger without touching what the blackboard holds.
func (l Ledger) clone() Ledger {
	l.Sources = append([]Tried(nil), l.Sources...)
	l.Opened = append([]string(nil), l.Opened...)
	l.Gaps = append([]string(nil), l.Gaps...)
	l.Taken = append([]string(nil), l.Taken...)
	l.Notices = append([]Notice(nil), l.Notices...)
	l.Known = append([]string(nil), l.Known...)
	l.Consults = append([]Consult(nil), l.Consults...)
	l.Rounds = append([]Round(nil), l.Rounds...)
	return l
}

func noteReply() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply" doc:"what AskModel got"`
	}
	type out struct {
		Ledger     Ledger  `port:"ledger" doc:"signals, sources tried, gaps"`
		Transcript []Entry `port:"transcript" doc:"record numbers of the turns so far"`
		Note       string  `port:",note"`
	}
	return bt.Func("NoteReply", "Enters a reply and its signal into the ledger and the transcript.", func(i in, o *out) error {
		o.Ledger = o.Ledger.clone()
		o.Ledger.begin()
		o.Transcript = append(o.Transcript[:len(o.Transcript):len(o.Transcript)], Entry{Turn: i.Reply.Ref})
		o.Note = o.Ledger.heard(i.Reply)
		return nil
	})
}

// heard enters a reply: its costs, its signal, and what is to be told of both.
func (l *Ledger) heard(r Reply) (note string) {
	l.Tokens += r.Tokens
	l.History, l.Prompt = r.History, r.Prompt
	switch s := r.Signal; {
	case s != nil:
		l.Signals = l.Signals.OnSignal(*s, l.Fresh)
		note = fmt.Sprintf("signal %s (%.2f)", s.Type, s.Confidence)
		if s.Type == signal.DelegationRecommended {
			l.notice(NoticeDelegation, Warning, pairs("scope", s.Text("scope"), "reason", s.Text("reason")),
				"The model recommends to delegate: %s (%s)", s.Text("scope"), s.Text("reason"))
		}
	case r.Malformed:
		l.Signals = l.Signals.OnSilentTurn()
		note = "a signal that is not well-formed and counts as none: " + r.Problem
		l.notice(NoticeMalformed, Info, pairs("reason", r.Problem), "A signal was not well-formed and counts as none: %s", r.Problem)
	default:
		l.Signals = l.Signals.OnSilentTurn()
		note = "no signal"
	}
	if r.Extra > 0 {
		note += fmt.Sprintf("; %d more ignored", r.Extra)
		l.notice(NoticeExtra, Info, pairs("count", r.Extra), "Turn %d had several signals: only the first counts.", l.Turn)
	}
	if r.Instead != "" {
		note += "; " + r.Instead
		l.notice(NoticeOtherModel, Warning, pairs("answered", r.Model, "reason", r.Instead), "%s answers instead: %s", r.Model, r.Instead)
	}
	l.Fresh = false // until tools open something anew
	return note
}

// unsure tells the person of a write that may have taken effect.
func (l *Ledger) unsure(name string, f *bt.Fault) {
	l.notice(NoticeUnsureWrite, Warning, pairs("tool", name, "reason", f.Reason), "Not sure to be done: %s: %s", name, f.Reason)
}

// enter counts what one call gave.
func (l *Ledger) enter(t ToolFact, call CallFact, c bt.Completion) error {
	tried := l.tried(t.Source)
	tried.Calls++
	m := Made{Tool: t.Name, Key: call.Key, Digest: t.Name + " " + call.Digest}
	defer func() { l.made(m) }()
	if c.Err != nil {
		tried.Errors++
		l.Errors++
		m.Error = digest(t.Name + c.Err.Kind + maskAll(c.Err.Reason))
		if t.Once {
			l.unsure(t.Name, c.Err)
		}
		return nil
	}
	var r CallReceipt
	if err := json.Unmarshal(c.Result, &r); err != nil {
		return fmt.Errorf("receipt of %s: %w", t.Name, err)
	}
	l.Tainted = l.Tainted || t.Foreign // an error's text is a stranger's as well
	if r.Result == nil {
		tried.Errors++
		l.Errors++
		if r.Error != nil {
			m.Error = digest(t.Name + string(r.Error.Kind) + maskAll(r.Error.Message))
		}
		return nil
	}
	l.History += prompt.Tokens(r.Result.Text)
	m.Novel = l.learn(t, r.Result)
	if t.Once {
		l.Rounds[len(l.Rounds)-1].Wrote, m.Novel = true, true
	}
	switch {
	case t.Search && r.Result.Items == 0:
		tried.Empty++
	case t.Search:
		tried.Hits += r.Result.Items
	}
	for _, ref := range r.Result.Refs {
		if ref.Opened {
			tried.Opened++
			if cite := ref.String(); !slices.Contains(l.Opened, cite) {
				l.Opened = append(l.Opened, cite)
			}
		}
	}
	return nil
}
