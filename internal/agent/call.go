package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// ToolFact is what a tree knows of a tool.
type ToolFact struct {
	Name    string      `json:"name"`
	Source  tool.Source `json:"source"`
	Once    bool        `json:"once,omitempty"` // it writes, and is never repeated
	Search  bool        `json:"search,omitempty"`
	Foreign bool        `json:"foreign,omitempty"` // what it gives was written by strangers
	Out     tool.Out    `json:"out,omitzero"`
	Target  string      `json:"target,omitempty"` // the argument that names what it changes
}

// FactsOf lists the tools that a run may offer.
func FactsOf(specs []tool.Spec) []ToolFact {
	facts := make([]ToolFact, len(specs))
	for i, s := range specs {
		facts[i] = ToolFact{Name: s.Name, Source: s.Source, Once: s.Effect == tool.Once, Search: s.Search,
			Foreign: s.Foreign, Out: s.Out, Target: s.Target}
	}
	return facts
}

// ToolsText is the name of the text in which a run keeps the descriptions of its tools.
const ToolsText = "tools"

// ToolText is the descriptions of tools as a text that a run keeps.
func ToolText(specs []tool.Spec) run.Text {
	content, _ := json.Marshal(specs) // texts, flags and schemas, which are JSON
	return run.Text{Name: ToolsText, Content: content}
}

// KeptTools reads the descriptions of tools that a run keeps.
func KeptTools(ctx context.Context, v *run.View) (specs []tool.Spec, err error) {
	content, err := v.Text(ctx, ToolsText)
	if err == nil {
		err = json.Unmarshal(content, &specs)
	}
	return specs, err
}

// CallPayload asks for one call: which call of which turn, the digest of its arguments, and the rule that admitted it.
// Unless the call only reads on this machine, it also has the labels of what the model had seen, and where it goes.
type CallPayload struct {
	Turn   int64       `json:"turn"`
	Call   int         `json:"call"`
	Name   string      `json:"name"`
	Digest string      `json:"digest"`
	Rule   Rule        `json:"rule,omitempty"` // "": RuleStays
	To     tool.Outlet `json:"to,omitempty"`
	Labels Labels      `json:"labels,omitempty"`
	Hold   bt.Why      `json:"hold,omitzero"` // of RulePreview
}

// CallReceipt is what a tool gave. Exactly one of Result and Error is set.
type CallReceipt struct {
	Tool      string       `json:"tool"`
	Arguments string       `json:"arguments"`
	Result    *tool.Result `json:"result,omitempty"`
	Error     *tool.Error  `json:"error,omitempty"`
	Labels    Labels       `json:"labels,omitempty"` // of what it gave
	// why it was not performed, if what it would have sent needs approval
	Held     string `json:"held,omitempty"`
	bt.Coded        // of Held
	// what a held call would change; nil: not known
	Change *tool.Change `json:"change,omitempty"`
}

// heldReason is why the call of a completion was not performed, if it needs approval; otherwise empty. changes says
// that it has what the call would change.
func heldReason(c bt.Completion) (why bt.Why, changes bool) {
	r, err := bt.ResultOf[CallReceipt](c)
	if c.Err != nil || err != nil {
		return bt.Why{}, false
	}
	return bt.Why{Text: r.Held, Coded: r.Coded}, r.Change != nil
}

// callsInput is the input of RunTools.
type callsInput struct {
	Reply    Reply      `port:"reply"`
	Admitted []Verdict  `port:"admitted,optional" doc:"what Admit decided on each call"`
	Tools    []ToolFact `port:"tools"`
	Ledger   Ledger     `port:"ledger,optional"`
}

// verdictOn is the tool of call k of the reply, and what Admit decided on it.
func (i *callsInput) verdictOn(k int) (fact ToolFact, v Verdict) {
	if k < len(i.Admitted) {
		v = i.Admitted[k]
	}
	if v.Rule == "" && v.Refused.Text == "" {
		v.Refused = notAdmitted.With()
	}
	return factOf(i.Tools, i.Reply.Calls[k].Name), v
}

// factOf finds a tool by its name.
func factOf(tools []ToolFact, name string) ToolFact {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return ToolFact{}
}

// notDone is the result text of a call in the transcript until its result arrives. It stays if the turn is cut off.
const notDone = "it was not done in time"

// callOfRequest is the index of the call that request n is for. It counts in the transcript, since completions may
// change which calls are admitted.
func callOfRequest(tools []ToolEntry, n int) int {
	for k, t := range tools {
		if t.Ref == 0 && t.Refused != notDone { // it was never requested
			continue
		}
		if n--; n < 0 {
			return k
		}
	}
	return len(tools)
}

// RunTools performs the calls of a reply.
func RunTools() bt.Leaf {
	return bt.Each("RunTools", "Calls the tools requested by the reply, if Admit allowed them.",
		func(i callsInput) ([]bt.Request, error) { return i.requests(), nil },
		func(i callsInput, n int, c bt.Completion, o *callsOutput) error { return i.enterResult(n, c, o) },
		func(i callsInput, o *callsOutput) error {
			if len(i.Reply.Calls) > 0 || len(o.Transcript) > 0 { // before the first turn there may be neither
				i.openEntry(o)
			}
			return nil
		})
}

// callsOutput is the output of RunTools.
type callsOutput struct {
	Ledger     Ledger     `port:"ledger"`
	Transcript []Entry    `port:"transcript"`
	Held       []Held     `port:"held,optional" doc:"calls that wait for the person's yes"`
	Events     []bt.Typed `port:",events"`
}

// requests are the effects of the admitted calls.
func (i *callsInput) requests() (all []bt.Request) {
	for k, c := range i.Reply.Calls {
		t, v := i.verdictOn(k)
		if v.Refused.Text != "" {
			continue
		}
		all = append(all, bt.Request{Kind: EffectCall, Label: c.Name + " " + c.Brief, Once: t.Once && v.Rule != RulePreview,
			Payload: CallPayload{Turn: i.Reply.Ref, Call: k, Name: c.Name, Digest: c.Digest, Rule: v.Rule.recorded(),
				To: t.Out.To, Labels: v.Labels, Hold: v.Hold}})
	}
	return all
}

// openEntry returns the last entry of the transcript, copied so that it may be changed. The first time for a turn, it
// enters the refused calls.
func (i *callsInput) openEntry(o *callsOutput) *Entry {
	o.Ledger = o.Ledger.cloneCounts()
	o.Transcript = slices.Clone(o.Transcript)
	last := &o.Transcript[len(o.Transcript)-1]
	last.Tools = slices.Clone(last.Tools)
	if last.Tools != nil || len(i.Reply.Calls) == 0 {
		return last
	}
	last.Tools = make([]ToolEntry, len(i.Reply.Calls))
	for k, c := range i.Reply.Calls {
		t, v := i.verdictOn(k)
		why := v.Refused
		if last.Tools[k].Refused = why.Text; why.Text == "" {
			last.Tools[k].Refused = notDone
			o.Ledger.countsOf(t.Source) // in the order of the calls
			continue
		}
		o.Events = append(o.Events, o.Ledger.enterRefused(t, c, why))
	}
	return last
}

// enterResult enters the completion of request n into transcript and ledger.
func (i *callsInput) enterResult(n int, c bt.Completion, o *callsOutput) error {
	last := i.openEntry(o)
	k := callOfRequest(last.Tools, n)
	t, v := i.verdictOn(k)
	defer o.Ledger.sortCalls(i.Reply.Calls)
	why, changes := heldReason(c)
	if c.Err != nil {
		why = v.Hold // nothing was done, and what it would change is not known
	}
	if why.Text != "" {
		h := i.Reply.heldCall(k, t, why)
		if changes {
			h.Preview = c.Ref
		}
		last.Tools[k] = ToolEntry{Ref: c.Ref, Refused: i.holdCall(k, h, o)}
		return nil
	}
	before := len(o.Ledger.Opened)
	last.Tools[k] = ToolEntry{Ref: c.Ref}
	done, err := o.Ledger.enterCall(t, i.Reply.Calls[k], c)
	done.setRule(v)
	o.Ledger.Fresh = o.Ledger.Fresh || len(o.Ledger.Opened) > before
	o.Events = append(o.Events, done)
	return err
}

// holdCall holds call k, although it was admitted, and returns the result text for the model.
func (i *callsInput) holdCall(k int, h Held, o *callsOutput) string {
	t, v := i.verdictOn(k)
	c := i.Reply.Calls[k]
	told, all := holdIfRoom(o.Held, h, v.Asks, &o.Ledger)
	o.Held = all
	if isHeld(o.Held, h.Digest) {
		o.Events = append(o.Events, CallHeld{Tool: c.Name, Arguments: c.Brief, Why: h.Why, Labels: v.Labels})
	}
	o.Events = append(o.Events, o.Ledger.enterRefused(t, c, told))
	return told.Text
}

// ShownCall is a call for people, with its result or error; false if the record is no receipt of a call.
func ShownCall(c *run.CompletionRecord) (tool, arguments, gave string, ok bool) {
	got, ok := c.Value.(CallReceipt)
	switch {
	case got.Error != nil:
		gave = got.Error.Error()
	case got.Result != nil:
		gave = got.Result.Text
	}
	return got.Tool, Indented(json.RawMessage(got.Arguments)), gave, ok
}

// Indented is indented JSON; other text is returned unchanged.
func Indented(raw json.RawMessage) string {
	b := &bytes.Buffer{}
	if json.Indent(b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
