package agent

import (
	"cmp"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

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
	Used      bool   `json:"used"` // the answer cites what it opened or found, or it wrote
}

// Account is what a run has done, by its receipts: turns, what they cost, the calls in the order in which they were
// proposed, and what was read.
type Account struct {
	Turns      int
	Model      string // that answered last
	Usage      model.Usage
	Models     []ModelUsage // the same by model, in the order in which they first answered
	Calls      []ToolUse
	Refs       [][]tool.Ref // what each of them opened or found
	Sources    []Source
	uses       []callUse
	notReached []callUse // proposed, and neither performed nor refused
}

// ModelUsage is how many tokens a model took.
type ModelUsage struct {
	Model string `json:"model"`
	model.Usage
}

func (a *Account) addUsage(name string, u model.Usage) {
	i := slices.IndexFunc(a.Models, func(m ModelUsage) bool { return m.Model == name })
	if i < 0 {
		i, a.Models = len(a.Models), append(a.Models, ModelUsage{Model: name})
	}
	a.Models[i].Usage = a.Models[i].Add(u)
}

// callUse is a call with the record of the turn that proposed it, its number there, and what became of it and why.
type callUse struct {
	ToolUse
	refs []tool.Ref
	turn int64
	call int
	fate WriteFate
	why  string
}

// Writes counts the changes among the calls, from the receipts alone; tools are those of the run.
func (a *Account) Writes(tools []ToolFact) (w Writes) {
	for _, u := range slices.Concat(a.uses, a.notReached) {
		if t := factOf(tools, u.Name); t.Once {
			w.countCall(t, u.Arguments, u.Turn, u.fate, u.why)
		}
	}
	return w.withoutTexts()
}

// AccountOf reads the receipts of a run, and those that arrived while it was stopped. onReply is called for each reply
// and each notes, in order.
func AccountOf[R any](
	v *run.View, stopped []run.CompletionRecord, transcript []Entry, onReply func(c *run.CompletionRecord,
		r TurnReceipt[R]),
) Account {
	a := Account{Calls: []ToolUse{}, Sources: []Source{}}
	var uses []callUse
	var turns []int64
	proposed := map[int64][]model.ToolCall{}
	proposed[0], _ = allowedCallsOf(v) // it was given at the start, or there is nothing to name
	for seq, c := range v.Receipts() {
		switch r := c.Value.(type) {
		case TurnReceipt[R]:
			if c.Kind == EffectLookUp {
				proposed[seq] = r.Calls
				continue
			}
			a.Usage = a.Usage.Add(r.Usage)
			a.addUsage(r.Model, r.Usage)
			if c.Kind == EffectTurn {
				a.Turns, a.Model = a.Turns+1, r.Model
				turns, proposed[seq] = append(turns, seq), r.Calls
			}
			onReply(c, r)
		default:
			uses = appendCall(uses, c)
		}
	}
	for i := range stopped {
		if stopped[i].Kind == EffectTurn {
			a.Turns++
		}
		uses = appendCall(uses, &stopped[i])
	}
	for _, e := range TurnsOf(transcript) {
		for k, t := range e.Tools {
			if t.Refused != "" && t.Ref == 0 {
				uses = append(uses, callUse{turn: e.Turn, call: k, ToolUse: ToolUse{Refused: t.Refused}, fate: WriteRefused,
					why: t.Refused})
			}
		}
	}
	slices.SortStableFunc(uses, func(x, y callUse) int {
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.call, y.call))
	})
	seen := map[string]bool{}
	a.notReached = callsNotReached(turns, proposed, uses)
	for i := range uses {
		c := &uses[i]
		c.Turn, _ = slices.BinarySearch(turns, c.turn+1)
		if of := proposed[c.turn]; c.call < len(of) {
			c.Name, c.Arguments = of[c.call].Name, of[c.call].Arguments
		}
		a.Calls, a.Refs = append(a.Calls, c.ToolUse), append(a.Refs, c.refs)
		for _, ref := range c.refs {
			if cite := ref.String(); ref.Opened && !seen[cite] {
				seen[cite] = true
				a.Sources = append(a.Sources, Source{Ref: ref, Cite: cite})
			}
		}
	}
	a.uses = uses
	return a
}

// callsNotReached are the proposed calls that were neither performed nor refused, since the run ended first.
func callsNotReached(turns []int64, proposed map[int64][]model.ToolCall, uses []callUse) (never []callUse) {
	type place struct {
		turn int64
		call int
	}
	known := map[place]bool{}
	for _, u := range uses {
		known[place{u.turn, u.call}] = true
	}
	for _, turn := range turns {
		for k, c := range proposed[turn] {
			if !known[place{turn, k}] {
				u := callUse{turn: turn, call: k, fate: WriteRefused, why: "the run ended before it"}
				u.Name, u.Arguments = c.Name, c.Arguments
				never = append(never, u)
			}
		}
	}
	return never
}

// appendCall adds the call of a receipt; a receipt of another effect adds nothing.
func appendCall(uses []callUse, c *run.CompletionRecord) []callUse {
	p, ok := c.Asked.(CallPayload)
	if !ok {
		return uses
	}
	u := callUse{turn: p.Turn, call: p.Call, ToolUse: ToolUse{Name: p.Name, TookMS: c.TookMS}, fate: WriteUnsure}
	r, ok := c.Value.(CallReceipt)
	switch {
	case c.Err != nil:
		u.Error = c.Err.Reason
	case !ok || r.Result == nil && r.Error == nil:
		u.Error = "its receipt can't be read"
	case r.Held != "":
		u.Refused, u.fate = r.Held, WriteRefused
	case r.Error != nil:
		u.Error, u.fate, u.why = r.Error.Error(), WriteFailed, r.Error.Message
	default:
		u.Items, u.Bytes = r.Result.Items, len(r.Result.Text)
		u.refs, u.Used, u.fate = r.Result.Refs, c.Once, WriteDone
	}
	u.why = cmp.Or(u.why, u.Refused, u.Error)
	return append(uses, u)
}

// EffectTypes are the effects of an agent. R is what its replies report.
func EffectTypes[R any]() map[string]run.EffectType {
	return map[string]run.EffectType{EffectTurn: run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectNotes:  run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectLookUp: run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectCall:   run.EffectOf[CallPayload, CallReceipt]()}
}

// Overlaps says whether two places have a line in common. A place that starts at 0 is a whole file or page.
func (s *Source) Overlaps(ref tool.Ref) bool {
	if s.Ref.Source != ref.Source || s.Path != ref.Path || s.URL != ref.URL {
		return false
	}
	return s.Start == 0 || ref.Start == 0 || s.Start <= max(ref.Start, ref.End) && ref.Start <= max(s.Start, s.End)
}
