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

	Refs []tool.Ref `json:"-"` // what it opened or named
	turn int64      // the record of the turn that proposed it
	call int        // which of its calls
}

// Account is what a run has done, by its receipts: turns, what they cost, the calls in the order in which they were proposed, and what
// was read.
type Account struct {
	Turns   int
	Model   string // that answered last
	Usage   model.Usage
	Calls   []ToolUse
	Sources []Source
}

// AccountOf reads the receipts of a run, and those that came in when it was stopped. heard is called for each reply and each notes, in
// order.
func AccountOf[R any](v *run.View, under []run.CompletionRecord, transcript []Entry, heard func(c *run.CompletionRecord, r TurnReceipt[R])) Account {
	a := Account{Calls: []ToolUse{}, Sources: []Source{}}
	var turns []int64
	proposed := map[int64][]model.ToolCall{}
	for seq, c := range v.Receipts() {
		switch r := c.Value.(type) {
		case TurnReceipt[R]:
			a.Usage = a.Usage.Add(r.Usage)
			if c.Kind == EffectTurn {
				a.Turns, a.Model = a.Turns+1, r.Model
				turns, proposed[seq] = append(turns, seq), r.Calls
			}
			heard(c, r)
		default:
			a.called(c)
		}
	}
	for i := range under {
		if under[i].Kind == EffectTurn {
			a.Turns++
		}
		a.called(&under[i])
	}
	for _, e := range TurnsOf(transcript) {
		for k, t := range e.Tools {
			if t.Refused != "" {
				a.Calls = append(a.Calls, ToolUse{turn: e.Turn, call: k, Refused: t.Refused})
			}
		}
	}
	slices.SortStableFunc(a.Calls, func(x, y ToolUse) int { return cmp.Or(cmp.Compare(x.turn, y.turn), cmp.Compare(x.call, y.call)) })
	seen := map[string]bool{}
	for i := range a.Calls {
		c := &a.Calls[i]
		c.Turn, _ = slices.BinarySearch(turns, c.turn+1)
		if of := proposed[c.turn]; c.call < len(of) {
			c.Name, c.Arguments = of[c.call].Name, of[c.call].Arguments
		}
		for _, ref := range c.Refs {
			if cite := ref.String(); ref.Opened && !seen[cite] {
				seen[cite] = true
				a.Sources = append(a.Sources, Source{Ref: ref, Cite: cite})
			}
		}
	}
	return a
}

// called reads the receipt of a call; other receipts are none.
func (a *Account) called(c *run.CompletionRecord) {
	p, ok := c.Asked.(CallPayload)
	if !ok {
		return
	}
	use := ToolUse{turn: p.Turn, call: p.Call, Name: p.Name, TookMS: c.TookMS}
	r, ok := c.Value.(CallReceipt)
	switch {
	case c.Err != nil:
		use.Error = c.Err.Reason
	case !ok || r.Result == nil && r.Error == nil:
		use.Error = "its receipt can't be read"
	case r.Error != nil:
		use.Error = r.Error.Error()
	default:
		use.Items, use.Bytes = r.Result.Items, len(r.Result.Text)
		use.Refs, use.Used = r.Result.Refs, c.Once
	}
	a.Calls = append(a.Calls, use)
}

// EffectTypes are the effects of an agent whose replies are reported on by R.
func EffectTypes[R any]() map[string]run.EffectType {
	return map[string]run.EffectType{EffectTurn: run.EffectOf[TurnPayload, TurnReceipt[R]](), EffectNotes: run.EffectOf[TurnPayload, TurnReceipt[R]](),
		EffectCall: run.EffectOf[CallPayload, CallReceipt]()}
}

// Overlaps says whether two places have a line in common; 0 is the whole.
func (s *Source) Overlaps(ref tool.Ref) bool {
	if s.Ref.Source != ref.Source || s.Path != ref.Path || s.URL != ref.URL {
		return false
	}
	return s.Start == 0 || ref.Start == 0 || s.Start <= max(ref.Start, ref.End) && ref.Start <= max(s.Start, s.End)
}
