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
	Used      bool   `json:"used"` // the answer cites what it opened or named, or it wrote
}

// Account is what a run has done, by its receipts: turns, what they cost, the calls in the order in which they were
// proposed, and what was read.
type Account struct {
	Turns   int
	Model   string // that answered last
	Usage   model.Usage
	Models  []ModelUsage // the same by model, in the order in which they first answered
	Calls   []ToolUse
	Named   [][]tool.Ref // what each of them opened or named
	Sources []Source
	uses    []use
	never   []use // proposed, and neither performed nor refused
}

// ModelUsage is how many tokens a model took.
type ModelUsage struct {
	Model string `json:"model"`
	model.Usage
}

func (a *Account) used(name string, u model.Usage) {
	i := slices.IndexFunc(a.Models, func(m ModelUsage) bool { return m.Model == name })
	if i < 0 {
		i, a.Models = len(a.Models), append(a.Models, ModelUsage{Model: name})
	}
	a.Models[i].Usage = a.Models[i].Add(u)
}

// use is a call in its place: the record of the turn that proposed it, and which of its calls it is; what became of it,
// and why.
type use struct {
	ToolUse
	refs []tool.Ref
	turn int64
	call int
	fate WriteFate
	why  string
}

// Writes reckons what became of the changes among the calls, by the receipts alone; tools are those that the run had.
func (a *Account) Writes(tools []ToolFact) (w Writes) {
	for _, u := range slices.Concat(a.uses, a.never) {
		if t := factOf(tools, u.Name); t.Once {
			w.enterCall(t, u.Arguments, u.Turn, u.fate, u.why)
		}
	}
	return w.withoutTexts()
}

// AccountOf reads the receipts of a run, and those that came in when it was stopped. heard is called for each reply and
// each notes, in order.
func AccountOf[R any](
	v *run.View, under []run.CompletionRecord, transcript []Entry, heard func(c *run.CompletionRecord,
		r TurnReceipt[R]),
) Account {
	a := Account{Calls: []ToolUse{}, Sources: []Source{}}
	var uses []use
	var turns []int64
	proposed := map[int64][]model.ToolCall{}
	proposed[0], _ = allowedIn(v) // it was given at the start, or there is nothing to name
	for seq, c := range v.Receipts() {
		switch r := c.Value.(type) {
		case TurnReceipt[R]:
			a.Usage = a.Usage.Add(r.Usage)
			a.used(r.Model, r.Usage)
			if c.Kind == EffectTurn {
				a.Turns, a.Model = a.Turns+1, r.Model
				turns, proposed[seq] = append(turns, seq), r.Calls
			}
			heard(c, r)
		default:
			uses = called(uses, c)
		}
	}
	for i := range under {
		if under[i].Kind == EffectTurn {
			a.Turns++
		}
		uses = called(uses, &under[i])
	}
	for _, e := range TurnsOf(transcript) {
		for k, t := range e.Tools {
			if t.Refused != "" && t.Ref == 0 {
				uses = append(uses, use{turn: e.Turn, call: k, ToolUse: ToolUse{Refused: t.Refused}, fate: WriteRefused,
					why: t.Refused})
			}
		}
	}
	slices.SortStableFunc(uses, func(x, y use) int {
		return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.call, y.call))
	})
	seen := map[string]bool{}
	a.never = neverDone(turns, proposed, uses)
	for i := range uses {
		c := &uses[i]
		c.Turn, _ = slices.BinarySearch(turns, c.turn+1)
		if of := proposed[c.turn]; c.call < len(of) {
			c.Name, c.Arguments = of[c.call].Name, of[c.call].Arguments
		}
		a.Calls, a.Named = append(a.Calls, c.ToolUse), append(a.Named, c.refs)
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

// neverDone are the calls of replies that ended the run, or were cut off.
func neverDone(turns []int64, proposed map[int64][]model.ToolCall, uses []use) (never []use) {
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
				u := use{turn: turn, call: k, fate: WriteRefused, why: "the run ended before it"}
				u.Name, u.Arguments = c.Name, c.Arguments
				never = append(never, u)
			}
		}
	}
	return never
}

// called adds the call of a receipt; other receipts are of none.
func called(uses []use, c *run.CompletionRecord) []use {
	p, ok := c.Asked.(CallPayload)
	if !ok {
		return uses
	}
	u := use{turn: p.Turn, call: p.Call, ToolUse: ToolUse{Name: p.Name, TookMS: c.TookMS}, fate: WriteUnsure}
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

// EffectTypes are the effects of an agent whose replies are reported on by R.
func EffectTypes[R any]() map[string]run.EffectType {
	return map[string]run.EffectType{EffectTurn: run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectNotes: run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectCall:  run.EffectOf[CallPayload, CallReceipt]()}
}

// Overlaps says whether two places have a line in common; 0 is the whole.
func (s *Source) Overlaps(ref tool.Ref) bool {
	if s.Ref.Source != ref.Source || s.Path != ref.Path || s.URL != ref.URL {
		return false
	}
	return s.Start == 0 || ref.Start == 0 || s.Start <= max(ref.Start, ref.End) && ref.Start <= max(s.Start, s.End)
}
