package oracle

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Given is what a run of the Oracle begins with.
type Given struct {
	Question     string     `port:"question"`
	Previous     []string   `port:"previous,optional"`
	PreviousType string     `port:"previous_type,optional"`
	Tools        []ToolFact `port:"tools"`
	MaxTurns     int        `port:"max_turns"`
}

// wanted is what the answer is made of; a run that fails early has none of it.
type wanted struct {
	Class      classify.Classification `port:"class,optional"`
	Ledger     Ledger                  `port:"ledger,optional"`
	Accepted   Accepted                `port:"accepted,optional"`
	Transcript []Entry                 `port:"transcript,optional"`
	TopicShift bool                    `port:"topic_shift,optional"`
}

// Registry has the Oracle's leaves; Options say what its trees are given and what is read from them.
func Registry() (*bt.Registry, bt.Options, error) {
	reg, err := bt.NewRegistry(classifyLeaf(), offerTools(), askModel(), noteReply(), signalIs(), hasText(), hasToolCalls(),
		sufficient(), silentTurns(), searchesEmpty(), firstTime(), accept(), hint(), widen(), offerCapability(), noteGap(), runTools())
	if err != nil {
		return nil, bt.Options{}, err
	}
	given, err := bt.Ports[Given]()
	if err != nil {
		return nil, bt.Options{}, err
	}
	want, err := bt.Ports[wanted]()
	return reg, bt.Options{Given: given, Wanted: want}, err
}

func classifyLeaf() bt.Leaf {
	type in struct {
		Question     string   `port:"question" doc:"the person's words"`
		Previous     []string `port:"previous,optional" doc:"earlier questions of the session, oldest first"`
		PreviousType string   `port:"previous_type,optional" doc:"type of the last question that was not conversational"`
	}
	type out struct {
		Class      classify.Classification `port:"class" doc:"type, sources needed, confidence"`
		TopicShift bool                    `port:"topic_shift" doc:"the question leaves the subject of those before"`
		Note       string                  `port:",note"`
	}
	return bt.Func("Classify", "Finds out what kind of question it is (FR-015).", func(i in, o *out) error {
		o.Class = classify.Classify(classify.Query{Text: i.Question, Previous: i.Previous, PreviousType: classify.Type(i.PreviousType)})
		o.TopicShift = len(i.Previous) > 0 && classify.TopicShift(i.Previous, i.Question)
		o.Note = fmt.Sprintf("%s (%.2f)", o.Class.QueryType, o.Class.Confidence)
		if len(o.Class.KeywordsMatched) > 0 {
			o.Note += ": " + strings.Join(o.Class.KeywordsMatched, ", ")
		}
		if o.TopicShift {
			o.Note += "; a topic shift"
		}
		return nil
	})
}

// named lists the tools of one source that may be offered: those that only read, and with writes all.
func named(tools []ToolFact, s tool.Source, writes bool) (names []string) {
	for _, t := range tools {
		if t.Source == s && (!t.Once || writes) {
			names = append(names, t.Name)
		}
	}
	return names
}

func offerTools() bt.Leaf {
	type in struct {
		Class classify.Classification `port:"class" doc:"what Classify found"`
		Tools []ToolFact              `port:"tools" doc:"the tools there are"`
		Sure  float64                 `port:"sure" default:"0.6" doc:"below this confidence, a question about the world is looked up in code or notes as well"`
	}
	type out struct {
		Offered []string `port:"offered" doc:"names of the tools offered to the model"`
		Note    string   `port:",note"`
	}
	return bt.Func("OfferTools", "Chooses the tools by the class of the question (FR-016). Tools that write are only for actions.",
		func(i in, o *out) error {
			o.Offered = []string{}
			unsure := i.Class.QueryType == classify.Research && i.Class.Confidence < i.Sure
			enough := false // a source that can be searched is offered; the web alone is none for an unsure guess
			for k, s := range sourceOrder(i.Class) {
				if enough || k == 0 && !needs(i.Class, s) || k > 0 && !mayLookElsewhere(i.Class, i.Sure) {
					break
				}
				of := named(i.Tools, s, i.Class.QueryType == classify.Action)
				o.Offered = append(o.Offered, of...)
				enough = canSearch(i.Tools, of) && !(k == 0 && unsure)
			}
			var held []string
			for _, t := range i.Tools {
				if !slices.Contains(o.Offered, t.Name) {
					held = append(held, t.Name)
				}
			}
			o.Note = "offered " + listed(o.Offered) + "; withheld " + listed(held)
			return nil
		})
}

// mayLookElsewhere says whether the next source is offered where the first can't be searched: documents and code stand beside
// each other, and an unsure guess must be recoverable.
func mayLookElsewhere(c classify.Classification, sure float64) bool {
	switch c.QueryType {
	case classify.Code, classify.Documentation:
		return true
	case classify.Research:
		return c.Confidence < sure
	}
	return false
}

func canSearch(tools []ToolFact, offered []string) bool {
	return slices.ContainsFunc(tools, func(t ToolFact) bool { return t.Search && slices.Contains(offered, t.Name) })
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func needs(c classify.Classification, s tool.Source) bool {
	switch s {
	case tool.Code:
		return c.NeedsCode
	case tool.Vault:
		return c.NeedsVault
	case tool.Web:
		return c.NeedsWeb
	}
	return false
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
		o.Transcript = append(o.Transcript[:len(o.Transcript):len(o.Transcript)], Entry{Turn: i.Reply.Ref})
		switch s := i.Reply.Signal; {
		case s != nil:
			o.Ledger.Signals = o.Ledger.Signals.OnSignal(*s, o.Ledger.Fresh)
			o.Note = fmt.Sprintf("signal %s (%.2f)", s.Type, s.Confidence)
			if s.Type == signal.DelegationRecommended {
				o.Ledger.notice("The model recommends to delegate: " + s.Text("scope") + " (" + s.Text("reason") + ")")
			}
		case i.Reply.Malformed:
			o.Ledger.Signals = o.Ledger.Signals.OnSilentTurn()
			o.Note = "a signal that is not well-formed and counts as none: " + i.Reply.Problem
		default:
			o.Ledger.Signals = o.Ledger.Signals.OnSilentTurn()
			o.Note = "no signal"
		}
		if i.Reply.Extra > 0 {
			o.Note += fmt.Sprintf("; %d more ignored", i.Reply.Extra)
		}
		o.Ledger.Fresh = false // until tools open something anew
		return nil
	})
}

// notice tells the person something beside the answer, once.
func (l *Ledger) notice(text string) {
	if !slices.Contains(l.Notices, text) {
		l.Notices = append(l.Notices, text)
	}
}

func signalIs() bt.Leaf {
	type in struct {
		Reply Reply  `port:"reply"`
		Type  string `port:"type" doc:"need_turn, context_sufficient, stuck, need_capability, partial_answer or delegation_recommended"`
	}
	return bt.Check("SignalIs", "Is the reply's signal of this type?", func(i in) (bool, string) {
		if i.Reply.Signal == nil {
			return false, "no signal"
		}
		if is := string(i.Reply.Signal.Type); is != i.Type {
			return false, is + ", not " + i.Type
		}
		return true, i.Type
	})
}

func hasText() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	return bt.Check("HasText", "Does the reply say anything beside its signal?", func(i in) (bool, string) {
		return i.Reply.HasText, map[bool]string{true: "it has text", false: "it has no text"}[i.Reply.HasText]
	})
}

func hasToolCalls() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	return bt.Check("HasToolCalls", "Does the reply ask for tools?", func(i in) (bool, string) {
		if len(i.Reply.Calls) == 0 {
			return false, "no calls"
		}
		var names []string
		for _, c := range i.Reply.Calls {
			names = append(names, c.Name)
		}
		return true, strings.Join(names, ", ")
	})
}

func sufficient() bt.Leaf {
	type in struct {
		Class   classify.Classification `port:"class"`
		Offered []string                `port:"offered"`
		Ledger  Ledger                  `port:"ledger"`
	}
	return bt.Check("Sufficient", "Is there context enough for an answer (FR-018)? Yes if the class needs no source, none can be had, or one was read.",
		func(i in) (bool, string) {
			switch {
			case !i.Class.NeedsCode && !i.Class.NeedsVault && !i.Class.NeedsWeb:
				return true, "a " + string(i.Class.QueryType) + " question needs no source"
			case len(i.Ledger.Opened) > 0:
				return true, fmt.Sprintf("%d places were read", len(i.Ledger.Opened))
			case len(i.Offered) == 0:
				return true, "no tool is there that could read one"
			}
			return false, "nothing was read yet"
		})
}

func silentTurns() bt.Leaf {
	type in struct {
		Ledger  Ledger `port:"ledger"`
		AtLeast int    `port:"at_least" default:"3" doc:"how many replies in a row had no signal"`
	}
	return bt.Check("SilentTurns", "Were the last replies without a signal?", func(i in) (bool, string) {
		n := i.Ledger.Signals.TurnsWithoutSignal
		return n >= i.AtLeast, fmt.Sprintf("%d of %d", n, i.AtLeast)
	})
}

func searchesEmpty() bt.Leaf {
	type in struct {
		Ledger Ledger `port:"ledger"`
	}
	return bt.Check("SearchesEmpty", "Did every search so far find nothing? One that failed is no such search.", func(i in) (bool, string) {
		empty := 0
		for _, t := range i.Ledger.Sources {
			if t.Hits > 0 || t.Opened > 0 {
				return false, fmt.Sprintf("%s gave %d hits, %d read", t.Source, t.Hits, t.Opened)
			}
			empty += t.Empty
		}
		return empty > 0, fmt.Sprintf("%d searches found nothing", empty)
	})
}

func firstTime() bt.Leaf {
	type none struct{}
	type out struct {
		Ledger Ledger `port:"ledger"`
	}
	return bt.Func("FirstTime", "SUCCESS the first time in a run, then FAILURE: the signal is asked for once.", func(_ none, o *out) error {
		if o.Ledger.AskedFor {
			return fmt.Errorf("it was asked for before")
		}
		o.Ledger = o.Ledger.clone()
		o.Ledger.AskedFor = true
		return nil
	})
}

func accept() bt.Leaf {
	type in struct {
		Reply      Reply  `port:"reply"`
		StopReason string `port:"stop_reason" doc:"satisfied, partial, budget or stuck"`
	}
	type out struct {
		Accepted Accepted `port:"accepted" doc:"the reply that is the answer"`
		Done     bool     `port:"done"`
		Note     string   `port:",note"`
	}
	return bt.Func("Accept", "Makes the reply the answer and ends the loop.", func(i in, o *out) error {
		o.Accepted, o.Done = Accepted{Ref: i.Reply.Ref, StopReason: i.StopReason}, true
		o.Note = "stop: " + i.StopReason
		if i.Reply.Signal == nil {
			o.Note += " (signal missing)"
		}
		return nil
	})
}

func hint() bt.Leaf {
	type in struct {
		Text string `port:"text" doc:"what the control layer tells the model before its next turn"`
	}
	type out struct {
		Transcript []Entry `port:"transcript"`
		Note       string  `port:",note"`
	}
	return bt.Func("Hint", "Adds a word of the control layer to the last turn of the transcript.", func(i in, o *out) error {
		if len(o.Transcript) == 0 {
			return fmt.Errorf("there is no turn yet to add a hint to")
		}
		o.Transcript = slices.Clone(o.Transcript)
		last := &o.Transcript[len(o.Transcript)-1]
		if last.Hint != "" {
			last.Hint += " "
		}
		last.Hint += i.Text
		o.Note = i.Text
		return nil
	})
}

func widen() bt.Leaf {
	type in struct {
		Class classify.Classification `port:"class"`
		Tools []ToolFact              `port:"tools"`
	}
	type out struct {
		Offered []string `port:"offered"`
		Ledger  Ledger   `port:"ledger"`
		Note    string   `port:",note"`
	}
	return bt.Func("Widen", "Offers the reading tools of the next source that was not offered. FAILURE if there is none.", func(i in, o *out) error {
		for _, s := range sourceOrder(i.Class) {
			var added []string
			for _, name := range named(i.Tools, s, false) {
				if !slices.Contains(o.Offered, name) {
					added = append(added, name)
				}
			}
			if len(added) > 0 {
				o.Offered = append(slices.Clone(o.Offered), added...)
				o.Note = "also offered: " + strings.Join(added, ", ")
				return nil
			}
		}
		return fmt.Errorf("every source that can be read is offered already")
	})
}

func offerCapability() bt.Leaf {
	type in struct {
		Reply Reply      `port:"reply"`
		Tools []ToolFact `port:"tools"`
	}
	type out struct {
		Offered []string `port:"offered"`
		Ledger  Ledger   `port:"ledger"`
		Note    string   `port:",note"`
	}
	return bt.Func("OfferCapability", "Offers the tools that only read and have the capability asked for. FAILURE if there is none.", func(i in, o *out) error {
		if i.Reply.Signal == nil {
			return fmt.Errorf("no capability was asked for")
		}
		wish := i.Reply.Signal.Text("capability")
		names := toolsFor(wish, i.Tools)
		if len(names) == 0 {
			return fmt.Errorf("no tool that only reads has “%s”", brief(wish, 60))
		}
		added := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(o.Offered, n) })
		if len(added) == 0 {
			o.Note = "offered already: " + strings.Join(names, ", ")
			return nil
		}
		o.Offered = append(slices.Clone(o.Offered), added...)
		o.Note = "also offered: " + strings.Join(added, ", ")
		return nil
	})
}

// otherWords are what people call the parts of tools' names.
var otherWords = map[string][]string{
	"search": {"searching", "searches", "find", "finding", "look", "lookup"},
	"seek":   {"search", "searching", "find", "finding"},
	"read":   {"reading", "open", "opening"},
	"fetch":  {"fetching", "read", "reading", "open", "opening", "browse", "browsing"},
	"web":    {"internet", "online"},
	"vault":  {"note", "notes"},
	"thread": {"threads"},
	"code":   {"repository", "repo", "codebase"},
}

// toolsFor finds the tools that only read and that a wish names: every part of the tool's name, as it stands or in other words, so that
// a search of something else is not taken for one of theirs.
func toolsFor(wish string, tools []ToolFact) (names []string) {
	words := strings.FieldsFunc(strings.ToLower(wish), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	has := func(part string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return w == part || slices.Contains(otherWords[part], w) })
	}
	for _, t := range tools {
		parts := strings.Split(strings.ToLower(t.Name), "_")
		if !t.Once && !slices.ContainsFunc(parts, func(p string) bool { return !has(p) }) {
			names = append(names, t.Name)
		}
	}
	return names
}

func noteGap() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	type out struct {
		Ledger Ledger `port:"ledger"`
		Note   string `port:",note"`
	}
	return bt.Func("NoteGap", "Logs a capability that does not exist and tells the person. FAILURE if the same was noted before.", func(i in, o *out) error {
		if i.Reply.Signal == nil {
			return fmt.Errorf("no capability was asked for")
		}
		gap := brief(i.Reply.Signal.Text("capability"), 120)
		if slices.Contains(o.Ledger.Gaps, gap) {
			return fmt.Errorf("“%s” was asked for before", gap)
		}
		o.Ledger = o.Ledger.clone()
		o.Ledger.Gaps = append(o.Ledger.Gaps, gap)
		o.Ledger.notice("The model asked for a capability that does not exist here: " + gap)
		o.Note = "capability gap: " + gap
		return nil
	})
}
