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

// ToolsText is the name under which a run keeps what models are told of its tools.
const ToolsText = "tools"

// ToolText is what models are told of tools, as a text that a run keeps.
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

// CallPayload asks for one call: which call of which turn, the digest of its arguments, and the rule that let it
// through. Unless it only reads here, it also says the labels of what the model had seen, and where to it leaves the
// machine, if it does.
type CallPayload struct {
	Turn   int64       `json:"turn"`
	Call   int         `json:"call"`
	Name   string      `json:"name"`
	Digest string      `json:"digest"`
	Rule   Rule        `json:"rule,omitempty"` // "": RuleStays
	To     tool.Outlet `json:"to,omitempty"`
	Labels Labels      `json:"labels,omitempty"`
}

// CallReceipt is what a tool gave. Exactly one of Result and Error is set.
type CallReceipt struct {
	Tool      string       `json:"tool"`
	Arguments string       `json:"arguments"`
	Result    *tool.Result `json:"result,omitempty"`
	Error     *tool.Error  `json:"error,omitempty"`
	Labels    Labels       `json:"labels,omitempty"` // of what it gave
	// why it was not called, where what it would have sent wants a yes of the person
	Held     string `json:"held,omitempty"`
	bt.Coded        // of Held
}

// held is why the call of a completion was not made, if it wants a yes of the person.
func held(c bt.Completion) bt.Why {
	r, err := bt.ResultOf[CallReceipt](c)
	if c.Err != nil || err != nil {
		return bt.Why{}
	}
	return bt.Why{Text: r.Held, Coded: r.Coded}
}

// callsOf is what RunTools reads.
type callsOf struct {
	Reply    Reply      `port:"reply"`
	Admitted []Verdict  `port:"admitted,optional" doc:"what Admit decided on each call"`
	Tools    []ToolFact `port:"tools"`
	Ledger   Ledger     `port:"ledger,optional"`
}

// may says whether call k of the reply is performed, and by which rule; if not, why.
func (i *callsOf) may(k int) (fact ToolFact, v Verdict) {
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

// notDone stands in the transcript for a call that has no result yet, and stays where the turn is cut off before.
const notDone = "it was not done in time"

// performed is the place of the call that request n is for. It goes by the transcript, since what is done may change
// what may be called.
func performed(tools []ToolEntry, n int) int {
	for k, t := range tools {
		if t.Ref == 0 && t.Refused != notDone { // it was never asked for
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
		func(i callsOf) ([]bt.Request, error) { return i.requests(), nil },
		func(i callsOf, n int, c bt.Completion, o *callsMade) error { return i.settleCall(n, c, o) },
		func(i callsOf, o *callsMade) error {
			i.entry(o)
			return nil
		})
}

// callsMade is what RunTools leaves.
type callsMade struct {
	Ledger     Ledger     `port:"ledger"`
	Transcript []Entry    `port:"transcript"`
	Held       []Held     `port:"held,optional" doc:"calls that wait for the person's yes"`
	Events     []bt.Typed `port:",events"`
}

// requests asks for the calls that were let through.
func (i *callsOf) requests() (all []bt.Request) {
	for k, c := range i.Reply.Calls {
		t, v := i.may(k)
		if v.Refused.Text != "" {
			continue
		}
		all = append(all, bt.Request{Kind: EffectCall, Label: c.Name + " " + c.Brief, Once: t.Once,
			Payload: CallPayload{Turn: i.Reply.Ref, Call: k, Name: c.Name, Digest: c.Digest, Rule: v.Rule.recorded(),
				To: t.Out.To, Labels: v.Labels}})
	}
	return all
}

// entry opens the last turn of the transcript to be written in. Its refused calls are entered with the first that is
// done.
func (i *callsOf) entry(o *callsMade) *Entry {
	o.Ledger = o.Ledger.cloneCounts()
	o.Transcript = slices.Clone(o.Transcript)
	last := &o.Transcript[len(o.Transcript)-1]
	last.Tools = slices.Clone(last.Tools)
	if last.Tools != nil || len(i.Reply.Calls) == 0 {
		return last
	}
	last.Tools = make([]ToolEntry, len(i.Reply.Calls))
	for k, c := range i.Reply.Calls {
		t, v := i.may(k)
		why := v.Refused
		if last.Tools[k].Refused = why.Text; why.Text == "" {
			last.Tools[k].Refused = notDone
			o.Ledger.tried(t.Source) // in the order of the calls
			continue
		}
		o.Events = append(o.Events, o.Ledger.refused(t, c, why))
	}
	return last
}

// settleCall enters what request n gave.
func (i *callsOf) settleCall(n int, c bt.Completion, o *callsMade) error {
	last := i.entry(o)
	k := performed(last.Tools, n)
	t, v := i.may(k)
	defer o.Ledger.order(i.Reply.Calls)
	if why := held(c); why.Text != "" {
		last.Tools[k] = ToolEntry{Ref: c.Ref, Refused: i.hold(k, why, o)}
		return nil
	}
	before := len(o.Ledger.Opened)
	last.Tools[k] = ToolEntry{Ref: c.Ref}
	done, err := o.Ledger.enterCall(t, i.Reply.Calls[k], c)
	done.letThrough(v)
	o.Ledger.Fresh = o.Ledger.Fresh || len(o.Ledger.Opened) > before
	o.Events = append(o.Events, done)
	return err
}

// hold has call k wait for the person after all, and gives what the model is told.
func (i *callsOf) hold(k int, why bt.Why, o *callsMade) string {
	t, v := i.may(k)
	h, c := i.Reply.hold(k, t, why), i.Reply.Calls[k]
	told, held := wait(o.Held, h, v.Asks, &o.Ledger)
	o.Held = held
	if waits(o.Held, h.Digest) {
		o.Events = append(o.Events, CallHeld{Tool: c.Name, Arguments: c.Brief, Why: why, Labels: v.Labels})
	}
	o.Events = append(o.Events, o.Ledger.refused(t, c, told))
	return told.Text
}

// ToldCall reads the receipt of a call as people read it, with its result or why there is none; false if it is none.
func ToldCall(c *run.CompletionRecord) (tool, arguments, gave string, ok bool) {
	got, ok := c.Value.(CallReceipt)
	switch {
	case got.Error != nil:
		gave = got.Error.Error()
	case got.Result != nil:
		gave = got.Result.Text
	}
	return got.Tool, Indented(json.RawMessage(got.Arguments)), gave, ok
}

// Indented is JSON as people read it; what is none stays as it is.
func Indented(raw json.RawMessage) string {
	b := &bytes.Buffer{}
	if json.Indent(b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
