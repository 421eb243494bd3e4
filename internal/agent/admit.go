package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

// Rule names why a call may be performed, or why it is held.
type Rule string

// The rules by which a call is admitted.
const (
	RuleStays   Rule = "stays"   // nothing of it leaves the machine, and it only reads
	RuleWords   Rule = "words"   // a write, and nothing was read whose writer may not cause one
	RulePublic  Rule = "public"  // nothing private was read
	RuleKnown   Rule = "known"   // the person wrote the address, or a search engine returned it
	RuleQuery   Rule = "query"   // a short query that quotes nothing private
	RuleTrusted Rule = "trusted" // the person lets the server have what is private
	RuleTree    Rule = "tree"    // the tree's ports let it through
	RuleAllowed Rule = "allowed" // the person said yes to this very call
)

// Verdict is what was decided on one call of a reply. Exactly one of Rule and Refused is set.
type Verdict struct {
	Rule    Rule   `json:"rule,omitempty"`
	Refused string `json:"refused,omitempty"` // what the model is told
}

// Held is a call that waits for a yes of the person: the record of the turn that proposes it, and which of its calls it is.
type Held struct {
	Turn   int64  `json:"turn"`
	Call   int    `json:"call"`
	Tool   string `json:"tool"`
	Digest string `json:"digest"` // of the tool and its arguments, to the letter
	Why    string `json:"why"`
	Once   bool   `json:"once,omitempty"`
}

// mostHeld bounds how many calls of a run wait for the person.
const mostHeld = 8

// Why a call is held, as the person reads it.
const (
	whyWrite   = "text from strangers was read in this run"
	whyAddress = "private text was read in this run, and neither you nor a search engine named this address"
	whyServer  = "private text was read in this run, and the server is somebody else's"
)

// DigestOf names a call by its tool and its arguments, to the letter.
func DigestOf(name, arguments string) string { return Digest(name + " " + arguments) }

// gate is what Admit reads. Each port of a sink names the labels that it takes.
type gate struct {
	Reply     Reply      `port:"reply"`
	Offered   []string   `port:"offered"`
	Tools     []ToolFact `port:"tools"`
	Allowed   []Waiting  `port:"allowed,optional" doc:"calls that the person has said yes to"`
	Most      int        `port:"most" default:"16" doc:"calls of one turn at most"`
	Writes    string     `port:"writes_take" default:"own" oneof:"person own stranger" doc:"a write may be caused by the words of these and of those before them"`
	Addresses string     `port:"addresses_take" default:"public" oneof:"public private" doc:"what may have been read where an address is asked for that neither the person nor a search engine named"`
	Queries   string     `port:"queries_take" default:"public" oneof:"public private" doc:"what may have been read where a query is long or quotes private text"`
	MostQuery int        `port:"most_query" default:"200" between:"1 2000" doc:"characters of a query, once private text was read"`
	Servers   string     `port:"servers_take" default:"public" oneof:"public private" doc:"what may have been read where a server of somebody else is called that the person does not trust"`
	Otherwise string     `port:"otherwise" default:"ask" oneof:"ask refuse" doc:"ask holds the call until the person says yes"`
}

// Admit decides on each call of a reply whether it is performed, by the labels of what the model has seen (FR-016; the design's “What may
// leave”).
func Admit() bt.Leaf {
	type out struct {
		Admitted []Verdict  `port:"admitted" doc:"a verdict on each call of the reply"`
		Ledger   Ledger     `port:"ledger"`
		Events   []bt.Typed `port:",events"`
	}
	return bt.Func("Admit", "Decides which calls of the reply are performed: by what was read, and by where the call goes. What no rule lets through waits for the person's yes.",
		func(i gate, o *out) error {
			o.Admitted = make([]Verdict, len(i.Reply.Calls))
			o.Ledger = o.Ledger.Clone()
			for k, c := range i.Reply.Calls {
				v, held := i.decide(k, o.Ledger)
				if held != nil {
					v.Refused = held.Why + "; the person has to say no"
					if i.Otherwise == "ask" {
						v.Refused = held.Why + ", so the person is asked first: go on without it, and say in your answer that it waits for their yes"
						o.Ledger.hold(*held)
						o.Events = append(o.Events, CallHeld{Tool: c.Name, Arguments: c.Brief, Why: held.Why, Labels: o.Ledger.Labels})
					}
				}
				o.Admitted[k] = v
			}
			return nil
		})
}

// hold keeps a call for the person, once.
func (l *Ledger) hold(h Held) {
	if len(l.Held) < mostHeld && !slices.ContainsFunc(l.Held, func(o Held) bool { return o.Digest == h.Digest }) {
		l.Held = append(l.Held[:len(l.Held):len(l.Held)], h)
	}
}

// decide gives the verdict on call k, or the call as it is held.
func (i *gate) decide(k int, l Ledger) (Verdict, *Held) {
	c := i.Reply.Calls[k]
	at := slices.IndexFunc(i.Tools, func(t ToolFact) bool { return t.Name == c.Name })
	switch {
	case k >= i.Most:
		return Verdict{Refused: fmt.Sprintf("a turn may call %d tools at most", i.Most)}, nil
	case at < 0 || !slices.Contains(i.Offered, c.Name):
		return Verdict{Refused: "it is not offered for this question"}, nil
	case slices.ContainsFunc(i.Allowed, func(w Waiting) bool { return w.Digest() == c.Digest }):
		return Verdict{Rule: RuleAllowed}, nil
	}
	t := i.Tools[at]
	hold := func(why string) (Verdict, *Held) {
		return Verdict{}, &Held{Turn: i.Reply.Ref, Call: k, Tool: c.Name, Digest: c.Digest, Why: why, Once: t.Once}
	}
	if t.Once && !l.Labels.Integrity.atLeast(Integrity(i.Writes)) {
		return hold(whyWrite)
	}
	v, why := i.leaves(t, c, l)
	if why != "" {
		return hold(why)
	}
	return v, nil
}

// leaves decides by where the call goes; why it is held otherwise.
func (i *gate) leaves(t ToolFact, c CallFact, l Ledger) (v Verdict, why string) {
	rule := func(r Rule) (Verdict, string) { return Verdict{Rule: r}, "" }
	refuse := func(why string) (Verdict, string) { return Verdict{Refused: why}, "" }
	takes := map[tool.Outlet]string{tool.ToAddress: i.Addresses, tool.ToEngine: i.Queries, tool.ToServer: i.Servers}[t.Out.To]
	switch {
	case t.Out.To == "" && t.Once:
		return rule(RuleWords)
	case t.Out.To == "":
		return rule(RuleStays)
	case !l.Labels.Private:
		return rule(RulePublic)
	case takes == "private":
		return rule(RuleTree)
	case t.Out.To == tool.ToAddress && slices.Contains(l.Addresses, c.Where):
		return rule(RuleKnown)
	case t.Out.To == tool.ToAddress && c.Where == "":
		return refuse("it names no address")
	case t.Out.To == tool.ToAddress:
		return Verdict{}, whyAddress
	case t.Out.To == tool.ToEngine && c.Length > i.MostQuery:
		return refuse(fmt.Sprintf("private text was read in this run, so a query has %d characters at most: search with a few words of the question", i.MostQuery))
	case t.Out.To == tool.ToEngine:
		return rule(RuleQuery)
	case t.Out.Trusted:
		return rule(RuleTrusted)
	}
	return Verdict{}, whyServer
}
