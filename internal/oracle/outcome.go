package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Answer is the outcome of a run, and the exchange that its session keeps.
type Answer struct {
	Question    string                  `json:"question"`
	Answer      string                  `json:"answer"`
	Signal      *signal.Signal          `json:"signal"`
	QueryType   string                  `json:"query_type"`
	Class       classify.Classification `json:"classification"`
	TopicShift  bool                    `json:"topic_shift,omitempty"`
	Turns       int                     `json:"turns"`
	MaxTurns    int                     `json:"max_turns"`
	StopReason  string                  `json:"stop_reason"`
	Caveat      string                  `json:"caveat,omitempty"`
	Sources     []Source                `json:"sources"`
	Unsupported []string                `json:"unsupported_citations,omitempty"` // cited, but never read
	ToolCalls   []ToolUse               `json:"tool_calls"`
	Model       string                  `json:"model"`
	Usage       model.Usage             `json:"usage"`
	Signals     []signal.Signal         `json:"signals"` // all that were emitted, the ignored ones included
	Problems    []signal.Problem        `json:"signal_problems,omitempty"`
	Gaps        []string                `json:"capability_gaps,omitempty"`
	Tried       []Tried                 `json:"sources_tried,omitempty"`
	Notices     []Notice                `json:"notices,omitempty"`
	Fallbacks   []Consult               `json:"fallbacks,omitempty"`
	Budget      *Spent                  `json:"budget_exhausted,omitempty"` // what made the last turn the last one
	Error       *bt.Fault               `json:"error,omitempty"`
	SessionID   string                  `json:"session_id"`
	RunID       string                  `json:"run_id"`
	TookMS      int64                   `json:"took_ms"`            // of run time
	Composed    bool                    `json:"composed,omitempty"` // no model said it: it is a summary of what was tried
}

// Source is a place that was read, and whether the answer cites it.
type Source struct {
	tool.Ref
	Cite  string `json:"cite"`
	Cited bool   `json:"cited"`
}

// ToolUse is one call that was proposed. Refused calls were not performed.
type ToolUse struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Items     int    `json:"items"`
	Bytes     int    `json:"bytes"`
	TookMS    int64  `json:"took_ms"`
	Error     string `json:"error,omitempty"`
	Refused   string `json:"refused,omitempty"`
	Turn      int    `json:"turn"`
	Used      bool   `json:"used"` // the answer cites what it opened or named, or it wrote
}

// outcome composes the answer of the receipts.
func outcome(v *run.View, e run.Ending) (journal.Status, any) {
	w := wantedOf(e)
	a := Answer{QueryType: string(w.Class.QueryType), Class: w.Class, TopicShift: w.TopicShift, SessionID: v.Session, RunID: v.ID,
		Gaps: w.Ledger.Gaps, Tried: w.Ledger.Sources, Notices: w.Ledger.Notices, Fallbacks: w.Ledger.Consults, Budget: w.Ledger.Exhausted, Sources: []Source{}, ToolCalls: []ToolUse{}, Signals: []signal.Signal{}}
	_ = v.Given("question", &a.Question) // both were given at the start, or there is nothing to show
	_ = v.Given("max_turns", &a.MaxTurns)
	var env Env
	if json.Unmarshal(v.Start.Env, &env) == nil {
		a.Model = env.Model // until a receipt says which one answered
	}
	calls := a.gather(v, e.Under, w)
	status := a.stop(v, e, w)
	if !a.Composed {
		a.cite()
		a.use(calls)
	}
	a.doubt(len(env.Past) > 0)
	if left := len(env.Past) - 1; a.TopicShift && left > 0 {
		a.Notices = append(a.Notices, Notice{Type: NoticeShift, Severity: Info, Text: "The topic has changed: earlier exchanges but the last were left out.",
			Payload: pairs("left_out", left)})
	}
	a.TookMS = e.State.Now
	return status, a
}

// use marks the calls that the answer rests on: those that opened or named a place that it cites. Both are in the order of proposal.
func (a *Answer) use(calls []proposed) {
	for i, c := range calls {
		a.ToolCalls[i].Used = c.use.Used || slices.ContainsFunc(c.refs, func(ref tool.Ref) bool {
			return slices.ContainsFunc(a.Sources, func(s Source) bool { return s.Cited && s.overlaps(ref) })
		})
	}
}

// overlaps says whether two places have a line in common; 0 is the whole.
func (s *Source) overlaps(ref tool.Ref) bool {
	if s.Ref.Source != ref.Source || s.Path != ref.Path || s.URL != ref.URL {
		return false
	}
	return s.Start == 0 || ref.Start == 0 || s.Start <= max(ref.Start, ref.End) && ref.Start <= max(s.Start, s.End)
}

// Unnecessary counts the calls that the answer does not rest on, failed and refused ones included.
func (a *Answer) Unnecessary() (n int) {
	for _, c := range a.ToolCalls {
		if !c.Used {
			n++
		}
	}
	return n
}

// doubt makes an answer partial whose citations all lead to places that nobody read, and says where none was read at all.
func (a *Answer) doubt(goesOn bool) {
	needs := a.Class.NeedsCode || a.Class.NeedsVault || a.Class.NeedsWeb
	if a.StopReason == StopSatisfied && needs && !goesOn && len(a.Sources) == 0 && !slices.ContainsFunc(a.ToolCalls, func(c ToolUse) bool { return c.Used }) {
		a.Notices = append(a.Notices, Notice{Type: NoticeUnread, Severity: Warning, Text: "No source was opened for this answer: it rests on what the model knows.", Turn: a.Turns})
	}
	cited := slices.ContainsFunc(a.Sources, func(s Source) bool { return s.Cited })
	if a.StopReason == StopSatisfied && len(a.Unsupported) > 0 && !cited {
		a.StopReason = StopPartial
		a.Caveat = "nothing that the answer cites was read"
	}
}

func wantedOf(e run.Ending) wanted {
	var w wanted
	get := func(key string, into any) {
		if v, ok := e.Tree.Get(e.State, key); ok {
			switch p := into.(type) {
			case *classify.Classification:
				*p, _ = v.(classify.Classification)
			case *Ledger:
				*p, _ = v.(Ledger)
			case *Accepted:
				*p, _ = v.(Accepted)
			case *[]Entry:
				*p, _ = v.([]Entry)
			case *bool:
				*p, _ = v.(bool)
			}
		}
	}
	get("class", &w.Class)
	get("ledger", &w.Ledger)
	get("accepted", &w.Accepted)
	get("transcript", &w.Transcript)
	get("topic_shift", &w.TopicShift)
	return w
}

// gather reads all receipts: usage, signals, calls and what was read. It returns the calls in the order of proposal.
func (a *Answer) gather(v *run.View, under []run.CompletionRecord, w wanted) []proposed {
	turns := map[int64]TurnReceipt{}
	var calls []proposed
	for _, rec := range v.Records() {
		if rec.Kind != run.KindCompletion {
			continue
		}
		c, err := v.Receipt(rec.Seq)
		if err != nil {
			continue
		}
		switch c.Kind {
		case EffectTurn:
			var t TurnReceipt
			if json.Unmarshal(c.Result, &t) == nil {
				a.turn(t, c)
				turns[rec.Seq] = t
			}
		case EffectNotes:
			var n NotesReceipt
			if json.Unmarshal(c.Result, &n) == nil {
				a.notes(n, c)
			}
		case EffectCall:
			calls = append(calls, performed(c))
		}
	}
	for _, c := range under {
		if c.Kind == EffectTurn {
			a.Turns++
		}
		if c.Kind != EffectCall {
			continue
		}
		p := performed(c)
		calls = append(calls, p)
		if c.Once && c.Err != nil {
			w.Ledger.unsure(p.use.Name, c.Err)
			a.Notices = w.Ledger.Notices
		}
	}
	for _, e := range turnsOf(w.Transcript) {
		for k, t := range e.Tools {
			if t.Refused != "" {
				calls = append(calls, proposed{turn: e.Turn, call: k, use: ToolUse{Refused: t.Refused}})
			}
		}
	}
	a.calls(calls, turns)
	return calls
}

// turn counts one turn of the model.
func (a *Answer) turn(t TurnReceipt, c run.CompletionRecord) {
	a.Turns++
	a.Usage = a.Usage.Add(t.Usage)
	a.Model = t.Model
	if t.Signal != nil {
		a.Signals = append(a.Signals, stamped(*t.Signal, c))
	}
	for _, s := range t.Extra {
		a.Signals = append(a.Signals, stamped(s, c))
	}
	a.Problems = append(a.Problems, t.Problems...)
}

// notes counts what notes of the conversation cost, and keeps the signals in them, which steered nothing.
func (a *Answer) notes(n NotesReceipt, c run.CompletionRecord) {
	a.Usage = a.Usage.Add(n.Usage)
	for _, s := range n.Extra {
		a.Signals = append(a.Signals, stamped(s, c))
	}
	a.Problems = append(a.Problems, n.Problems...)
}

// stamped gives a signal the run time at which its turn came in.
func stamped(s signal.Signal, c run.CompletionRecord) signal.Signal {
	s.At = c.Now
	return s
}

// proposed is a call in its place: the record of its turn, and which of the turn's calls it is.
type proposed struct {
	turn int64
	call int
	use  ToolUse
	refs []tool.Ref
}

// performed reads the receipt of a call.
func performed(c run.CompletionRecord) proposed {
	var p CallPayload
	_ = json.Unmarshal(c.Payload, &p) // the tree wrote it
	call := proposed{turn: p.Turn, call: p.Call, use: ToolUse{Name: p.Name, TookMS: c.TookMS}}
	var r CallReceipt
	switch {
	case c.Err != nil:
		call.use.Error = c.Err.Reason
	case json.Unmarshal(c.Result, &r) != nil || r.Result == nil && r.Error == nil:
		call.use.Error = "its receipt can't be read"
	case r.Error != nil:
		call.use.Error = r.Error.Error()
	default:
		call.use.Items, call.use.Bytes = r.Result.Items, len(r.Result.Text)
		call.refs = r.Result.Refs
		call.use.Used = c.Once
	}
	return call
}

// calls lists calls and what they opened in the order in which the model proposed them, whichever was done first.
func (a *Answer) calls(calls []proposed, turns map[int64]TurnReceipt) {
	sort.SliceStable(calls, func(i, j int) bool {
		if calls[i].turn != calls[j].turn {
			return calls[i].turn < calls[j].turn
		}
		return calls[i].call < calls[j].call
	})
	seen := map[string]bool{}
	for _, c := range calls {
		for record := range turns {
			if record <= c.turn {
				c.use.Turn++
			}
		}
		if proposals := turns[c.turn].Calls; c.call < len(proposals) {
			c.use.Name, c.use.Arguments = proposals[c.call].Name, proposals[c.call].Arguments
		}
		a.ToolCalls = append(a.ToolCalls, c.use)
		for _, ref := range c.refs {
			if cite := ref.String(); ref.Opened && !seen[cite] {
				seen[cite] = true
				a.Sources = append(a.Sources, Source{Ref: ref, Cite: cite})
			}
		}
	}
}

// stop says why the run ended, and takes the text that is the answer.
func (a *Answer) stop(v *run.View, e run.Ending, w wanted) journal.Status {
	switch {
	case e.Cancelled:
		a.StopReason = StopCancelled
		a.Answer = partialText(e.Under)
		return journal.Cancelled
	case e.Status == bt.Success && w.Accepted.StopReason != "":
		return a.accepted(v, w)
	}
	a.StopReason, a.Error = StopError, e.Fault
	if e.Fault == nil {
		a.Error = &bt.Fault{Kind: "tree", Reason: "the tree ended without an answer"}
	}
	if a.Error.Kind == string(model.Refused) {
		a.StopReason = StopRefused
	}
	a.Answer = arrived(v)
	return journal.Failed
}

// arrived is what the turn that failed had said.
func arrived(v *run.View) string {
	recs := v.Records()
	for i := len(recs) - 1; i >= 0; i-- {
		if recs[i].Kind != run.KindCompletion {
			continue
		}
		c, err := v.Receipt(recs[i].Seq)
		if err != nil || c.Err == nil {
			return ""
		}
		return partialText([]run.CompletionRecord{c})
	}
	return ""
}

func (a *Answer) accepted(v *run.View, w wanted) journal.Status {
	a.StopReason = w.Accepted.StopReason
	var t TurnReceipt
	if c, err := v.Receipt(w.Accepted.Ref); err == nil {
		_ = json.Unmarshal(c.Result, &t) // the fold has read this receipt before
		if t.Signal != nil {
			*t.Signal = stamped(*t.Signal, c)
		}
	}
	a.Answer, a.Signal = strings.TrimSpace(t.Text), t.Signal
	if t.Signal != nil && t.Signal.Type == signal.PartialAnswer {
		if a.StopReason == StopSatisfied {
			a.StopReason = StopPartial
		}
		a.Caveat = t.Signal.Text("caveat")
		if a.Caveat == "" {
			a.Caveat = "Missing: " + t.Signal.Text("missing")
		}
	}
	if t.Signal == nil && t.Finish == model.FinishLength {
		a.cut()
	}
	if a.Answer == "" {
		a.Answer, a.Composed = a.summary(), true
		if a.StopReason == StopSatisfied {
			a.StopReason = StopPartial
		}
	}
	if a.StopReason == StopNeedsUser {
		return journal.NeedsUser
	}
	return journal.Done
}

// cut says that the model's provider ended the answer before its end.
func (a *Answer) cut() {
	a.Caveat = "The answer was cut at the model's limit of output."
	if a.StopReason == StopSatisfied {
		a.StopReason = StopPartial
	}
}

// summary is what can be said when the model said nothing to the end.
func (a *Answer) summary() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "I have no answer. After %s the model had given none.", counted(a.Turns, "turn"))
	for _, t := range a.Tried {
		fmt.Fprintf(b, " %s: %s, %s, %s read.", t.Source, counted(t.Calls, "call"), counted(t.Hits, "hit"), counted(t.Opened, "place"))
	}
	if len(a.Sources) > 0 {
		b.WriteString(" Read:")
		for i, s := range a.Sources {
			if i == 8 {
				fmt.Fprintf(b, " and %d more", len(a.Sources)-i)
				break
			}
			b.WriteString(" " + s.Cite)
		}
		b.WriteString(".")
	}
	return b.String()
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// partialText is what a stopped turn had said.
func partialText(under []run.CompletionRecord) string {
	for _, c := range under {
		var t TurnReceipt
		if c.Kind == EffectTurn && json.Unmarshal(c.Result, &t) == nil {
			return strings.TrimSpace(t.Text)
		}
	}
	return ""
}

// Partial says that there is an answer, but not a whole one.
func (a *Answer) Partial() bool {
	switch a.StopReason {
	case StopPartial, StopBudget, StopStuck, StopLoop:
		return true
	}
	return false
}
