package agent

import (
	"cmp"
	"maps"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

// Rule names why a call may be performed, or why it is held.
type Rule string

// The rules by which a call is admitted.
const (
	RuleStays   Rule = "stays"   // nothing of it leaves the machine, and it only reads; records leave it out
	RuleWords   Rule = "words"   // a write, and nothing was read whose writer may not cause one
	RulePublic  Rule = "public"  // nothing private was read
	RuleKnown   Rule = "known"   // the person wrote the address, or a search engine returned it
	RuleQuery   Rule = "query"   // a short query of words that the person or the web said
	RuleTrusted Rule = "trusted" // the person lets the server have what is private
	RuleTree    Rule = "tree"    // the tree's ports let it through
	RuleAllowed Rule = "allowed" // the person said yes to this very call
	// a write that needs approval: it is not made, and the tool says what it would change, or that it would refuse
	RulePreview Rule = "preview"
)

// ruleReasons are the rules for people; records that name none are of RuleStays.
var ruleReasons = map[Rule]bt.Reason{
	RuleStays:   "rule.stays: nothing of it leaves the machine",
	RuleWords:   "rule.words: own words may cause a write",
	RulePublic:  "rule.public: nothing private was read",
	RuleKnown:   "rule.known: the person or a search engine named the address",
	RuleQuery:   "rule.query: short, and of words that the person or the web said",
	RuleTrusted: "rule.trusted: the person lets the server have what is private",
	RuleTree:    "rule.tree: the tree lets it through",
	RuleAllowed: "rule.allowed: the person said yes",
	RulePreview: "rule.preview: nothing is written yet, it is only checked what would be",
}

// Why is the rule for people.
func (r Rule) Why() bt.Why { return cmp.Or(ruleReasons[r], ruleReasons[RuleStays]).With() }

// recorded is the rule as records have it.
func (r Rule) recorded() Rule {
	if r == RuleStays {
		return ""
	}
	return r
}

// Verdict is what was decided on one call of a reply. Exactly one of Rule and Refused is set.
type Verdict struct {
	Rule    Rule   `json:"rule,omitempty"`
	Labels  Labels `json:"labels,omitempty"` // of what the model had seen, unless it only reads here
	Asks    bool   `json:"asks,omitempty"`   // if performing it turns out to need approval, ask instead of refusing
	Refused bt.Why `json:"refused,omitzero"` // what the model is told
	Hold    bt.Why `json:"hold,omitzero"`    // of RulePreview: why the call needs approval
}

// Held is a call that waits for the user's approval: the record of the turn that proposes it, and its number there.
type Held struct {
	Turn   int64  `json:"turn"`
	Call   int    `json:"call"`
	Tool   string `json:"tool"`
	Digest string `json:"digest"` // of the tool and its arguments, however they are written
	bt.Why
	Size int  `json:"size"` // of the arguments, in bytes
	Once bool `json:"once,omitempty"`
	// the record that says what it would change; 0: none does
	Preview int64 `json:"preview,omitempty"`
}

// maxHeldCalls bounds how many calls of a run are held: of those that write, and of all others.
const maxHeldCalls = 8

// Why a call is held, as the person reads it.
const (
	whyWrite   bt.Reason = "held.strangers: text from strangers was read in this run"
	whyAddress bt.Reason = "held.address: private text was read in this run, and nobody but the model named this address"
	whyServer  bt.Reason = "held.server: private text was read in this run, and the server is somebody else's"
	whyLong    bt.Reason = "held.long: private text was read in this run, and the query has more than {most} characters"
)

// Why a call is held back, as the person reads it: {why} is the reason why it is held.
const (
	waitsForYou bt.Reason = "held.waits: {why}, so it waits for your yes"
	othersWait  bt.Reason = "held.others: {why}, and {others} other calls wait for your yes already"
	tooLongHeld bt.Reason = "held.too_long: {why}, and it is longer than the {most} bytes that you can be shown"
)

// forPerson is why a call is not made, in words for the person, where the model is told something of its own.
func forPerson(why bt.Why) bt.Why {
	held := why.Values["why"]
	switch why.Code {
	case askedFirst.Code():
		return waitsForYou.With(held)
	case tooManyWait.Code():
		return othersWait.With(held, maxHeldCalls)
	case tooLongRead.Code():
		return tooLongHeld.With(held, maxHeldBytes)
	}
	return why
}

// Why a call is not made, as the model is told it. {why} is the reason why the call is held.
const (
	nobodyAsked bt.Reason = "call.nobody_asked: {why}, so it is not called"
	tooManyWait bt.Reason = "call.too_many_wait: {why}, and {others} other calls wait for the person already: " +
		"go on without it, and say in your answer that it was not done"
	tooLongRead bt.Reason = "call.too_long: {why}, and the person reads {most} bytes of such calls at most: " +
		"make it shorter, or go on without it"
	askedFirst bt.Reason = "call.asked_first: {why}, so the person is asked first: " +
		"go on without it, and say in your answer that it waits for their yes"
	tooMany     bt.Reason = "call.too_many: a turn may call {most} tools at most"
	notOffered  bt.Reason = "call.not_offered: it is not offered for this question"
	namedTwice  bt.Reason = "call.named_twice: its arguments have the name \"{name}\" twice: write each once"
	noAddress   bt.Reason = "call.no_address: it names no address"
	notThere    bt.Reason = "call.not_there: it is not there for this question"
	notSeen     bt.Reason = "call.not_seen: it is not what the person saw"
	notAdmitted bt.Reason = "call.not_admitted: the tree has not admitted it"
)

// Reasons are all reasons of this package: why a call is admitted, held or refused, the notices besides an answer, and
// the sentences of a run's story.
func Reasons() []bt.Reason {
	all := []bt.Reason{
		whyWrite, whyAddress, whyServer, whyLong, whyUnsaid, whyCoded, waitsForYou, othersWait, tooLongHeld,
		nobodyAsked, tooManyWait, tooLongRead, askedFirst, tooMany,
		notOffered, namedTwice, noAddress, notThere, notSeen, notAdmitted,
	}
	all = append(append(append(all, noticeReasons()...), writeReasons()...), stories()...)
	return slices.AppendSeq(all, maps.Values(ruleReasons))
}

// gate is the input of Admit. The ports writes_take to servers_take say which labels may reach what they are named for.
type gate struct {
	Reply     Reply      `port:"reply"`
	Offered   []string   `port:"offered"`
	Tools     []ToolFact `port:"tools"`
	Ledger    Ledger     `port:"ledger,optional"`
	Said      Said       `port:"said,optional" doc:"how the words were said: the calls that they say yes to are let through"`
	Words     string     `port:"words,optional" doc:"what the person said: the addresses in it may be asked for"`
	Earlier   []string   `port:"earlier,optional" doc:"what they said before"`
	Most      int        `port:"most" default:"16" doc:"calls of one turn at most"`
	Writes    string     `port:"writes_take" default:"own" oneof:"person own stranger" doc:"a write may be caused by the words of these and of those before them"`
	Addresses string     `port:"addresses_take" default:"public" oneof:"public private" doc:"what may have been read where an address is asked for that neither the person nor a search engine named"`
	Queries   string     `port:"queries_take" default:"public" oneof:"public private" doc:"what may have been read where a query is long, or has words that neither the person nor the web said"`
	MostQuery int        `port:"most_query" default:"200" between:"1 2000" doc:"characters of a query, once private text was read"`
	Servers   string     `port:"servers_take" default:"public" oneof:"public private" doc:"what may have been read where a server of somebody else is called that the person does not trust"`
	Preview   bool       `port:"preview" default:"false" doc:"a write is held only once its tool has said what it would change; one that the tool would refuse is not held"`
	Otherwise string     `port:"otherwise" default:"ask" oneof:"ask refuse" doc:"ask holds the call until the person says yes"`
}

// Admit decides on each call of a reply whether it is performed, by the labels of what the model has seen (see “What
// may leave the machine” in docs/control.md).
func Admit() bt.Leaf {
	type out struct {
		Admitted []Verdict  `port:"admitted" doc:"a verdict on each call of the reply"`
		Held     []Held     `port:"held" doc:"calls that wait for the person's yes"`
		Used     []string   `port:"used" doc:"calls that a yes has let through: each once"`
		Ledger   Ledger     `port:"ledger" doc:"tells the person of calls for which too many others wait"`
		Events   []bt.Typed `port:",events"`
	}
	return bt.Func("Admit", "Decides which calls in the reply are performed, by what was read and where each call "+
		"goes. Calls that no rule allows wait for the user's approval.",
		func(i gate, o *out) error {
			o.Admitted = make([]Verdict, len(i.Reply.Calls))
			o.Ledger = o.Ledger.Clone()
			for k, c := range i.Reply.Calls {
				v, held := i.verdictOn(k, &i.Ledger, o.Used)
				switch {
				case v.Rule == RuleAllowed:
					o.Used = append(slices.Clip(o.Used), c.Digest)
				case v.Rule != "" && v.Rule != RulePreview && isHeld(o.Held, c.Digest): // another rule lets it through by now
					o.Held = slices.DeleteFunc(slices.Clone(o.Held), func(h Held) bool { return h.Digest == c.Digest })
				}
				if held != nil {
					v.Refused, o.Held = holdIfRoom(o.Held, *held, i.canAsk(), &o.Ledger)
					if isHeld(o.Held, held.Digest) {
						o.Events = append(o.Events, CallHeld{Tool: c.Name, Arguments: c.Brief, Why: held.Why,
							Labels: i.Ledger.Labels})
					}
				}
				o.Admitted[k] = v
			}
			return nil
		})
}

// canAsk says whether the user can be asked. If a program passed the words on, the question would go through that
// program, and a later yes could be meant for something else.
func (i *gate) canAsk() bool { return i.Otherwise == "ask" && !i.Said.Relayed }

// holdIfRoom adds a call to the held ones, if the user can be asked and there is room, and returns what the model is
// told. If the call is not held, a notice tells the user.
func holdIfRoom(all []Held, h Held, canAsk bool, l *Ledger) (refused bt.Why, now []Held) {
	size, others := h.Size, 0
	for _, o := range all {
		if o.Once == h.Once {
			size, others = size+o.Size, others+1
		}
	}
	switch {
	case !canAsk:
		l.Notice(NoticeTurnedAway, Warning, Pairs("tool", h.Tool), noApproval.With(h.Tool, h.Why))
		return nobodyAsked.With(h.Why), all
	case isHeld(all, h.Digest):
	case others == maxHeldCalls:
		l.noticeTurnedAway(h)
		return tooManyWait.With(h.Why, maxHeldCalls), all
	case size > maxHeldBytes:
		l.noticeTurnedAway(h)
		return tooLongRead.With(h.Why, maxHeldBytes), all
	default:
		all = append(slices.Clip(all), h)
	}
	return askedFirst.With(h.Why), all
}

// noticeTurnedAway tells the user of a call that can't be held.
func (l *Ledger) noticeTurnedAway(h Held) {
	l.Notice(NoticeTurnedAway, Warning, Pairs("tool", h.Tool), moreWait.With(h.Tool))
}

// heldCall is call k of a reply as a held one.
func (r *Reply) heldCall(k int, t ToolFact, why bt.Why) Held {
	c := r.Calls[k]
	return Held{Turn: r.Ref, Call: k, Tool: c.Name, Digest: c.Digest, Why: why, Size: c.Size, Once: t.Once}
}

// isHeld says whether a call with this digest waits for approval.
func isHeld(all []Held, digest string) bool {
	return slices.ContainsFunc(all, func(h Held) bool { return h.Digest == digest })
}

// verdictOn gives the verdict on call k, or the call to be held. used are the digests whose approval is used up.
func (i *gate) verdictOn(k int, l *Ledger, used []string) (Verdict, *Held) {
	c := i.Reply.Calls[k]
	t := factOf(i.Tools, c.Name)
	switch {
	case k >= i.Most:
		return Verdict{Refused: tooMany.With(i.Most)}, nil
	case t.Name == "" || !slices.Contains(i.Offered, c.Name):
		return Verdict{Refused: notOffered.With()}, nil
	case c.Twice != "":
		return Verdict{Refused: namedTwice.With(c.Twice)}, nil
	case !slices.Contains(used, c.Digest) && slices.ContainsFunc(i.Said.Yes, func(w Waiting) bool {
		return w.Digest() == c.Digest
	}):
		return Verdict{Rule: RuleAllowed, Labels: l.Labels}, nil
	}
	hold := func(why bt.Why) (Verdict, *Held) {
		h := i.Reply.heldCall(k, t, why)
		return Verdict{}, &h
	}
	if t.Once && !l.Labels.Integrity().isAtLeast(Integrity(i.Writes)) {
		if i.Preview && i.canAsk() {
			return Verdict{Rule: RulePreview, Labels: l.Labels, Asks: true, Hold: whyWrite.With()}, nil
		}
		return hold(whyWrite.With())
	}
	v, why := i.ruleForOutlet(t, c, l)
	if why.Text != "" {
		return hold(why)
	}
	if v.Rule.recorded() != "" {
		v.Labels = l.Labels
	}
	return v, nil
}

// ruleForOutlet decides by where the call goes. If why is set, the call is to be held for that reason.
func (i *gate) ruleForOutlet(t ToolFact, c CallFact, l *Ledger) (v Verdict, why bt.Why) {
	switch {
	case t.Out.To == "" && t.Once && l.Labels.Integrity().isAtLeast(Own):
		return Verdict{Rule: RuleWords}, bt.Why{}
	case t.Out.To == "" && t.Once:
		return Verdict{Rule: RuleTree}, bt.Why{}
	case t.Out.To == "":
		return Verdict{Rule: RuleStays}, bt.Why{}
	case !l.Labels.IsPrivate():
		return Verdict{Rule: RulePublic}, bt.Why{}
	case i.allowsPrivate(t.Out.To):
		return Verdict{Rule: RuleTree}, bt.Why{}
	case t.Out.To == tool.ToAddress && c.Where != "" && i.isKnownAddress(c.Where, l):
		return Verdict{Rule: RuleKnown}, bt.Why{}
	case t.Out.To == tool.ToAddress && c.Where == "":
		return Verdict{Refused: noAddress.With()}, bt.Why{}
	case t.Out.To == tool.ToAddress:
		return Verdict{}, whyAddress.With()
	case t.Out.To == tool.ToEngine && c.Length > i.MostQuery:
		return Verdict{}, whyLong.With(i.MostQuery)
	case t.Out.To == tool.ToEngine:
		return Verdict{Rule: RuleQuery, Asks: i.canAsk()}, bt.Why{}
	case t.Out.Trusted:
		return Verdict{Rule: RuleTrusted}, bt.Why{}
	}
	return Verdict{}, whyServer.With()
}

// allowsPrivate says whether the tree's ports let private text reach an outlet.
func (i *gate) allowsPrivate(o tool.Outlet) bool {
	const private = "private"
	return o == tool.ToAddress && i.Addresses == private || o == tool.ToEngine && i.Queries == private ||
		o == tool.ToServer && i.Servers == private
}

// isKnownAddress says whether the person wrote an address, or a search engine returned it.
func (i *gate) isKnownAddress(address string, l *Ledger) bool {
	if slices.Contains(l.Addresses, address) {
		return true
	}
	if i.Said.Relayed {
		return false
	}
	isIn := func(text string) bool { return slices.Contains(AddressesIn(text), address) }
	return !i.Said.Piped && isIn(i.Words) || slices.ContainsFunc(i.Earlier, isIn)
}
