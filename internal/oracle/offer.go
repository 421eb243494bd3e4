package oracle

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/search"
	"sibyl/internal/tool"
)

// named lists the tools of one source that may be offered: those that only read, and with writes all.
func named(tools []agent.ToolFact, s tool.Source, writes bool) (names []string) {
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
		Tools []agent.ToolFact        `port:"tools" doc:"the tools there are"`
		Said  agent.Said              `port:"said,optional" doc:"how the question was said: what was piped in causes no write, and what it says yes to is offered"`
		Sure  float64                 `port:"sure" default:"0.6" doc:"below this confidence, a question about the world is looked up in code or notes as well"`
	}
	type out struct {
		Offered []string   `port:"offered" doc:"names of the tools offered to the model"`
		Events  []bt.Typed `port:",events"`
	}
	return bt.Func("OfferTools", "Chooses the tools by the class of the question (FR-016). Tools that write are only for actions.",
		func(i in, o *out) error {
			o.Offered = []string{}
			writes := i.Class.QueryType == classify.Action && !i.Said.Piped
			unsure := i.Class.QueryType == classify.Research && i.Class.Confidence < i.Sure
			enough := false // a source that can be searched is offered; the web alone is none for an unsure guess
			for k, s := range sourceOrder(i.Class) {
				if enough || k == 0 && !needs(i.Class, s) || k > 0 && !mayLookElsewhere(i.Class, i.Sure) {
					break
				}
				of := named(i.Tools, s, writes)
				o.Offered = append(o.Offered, of...)
				enough = canSearch(i.Tools, of) && !(k == 0 && unsure)
			}
			if mayNeedServers(i.Class, i.Sure) {
				o.Offered = append(o.Offered, named(i.Tools, tool.Server, writes)...)
			}
			for _, w := range i.Said.Yes {
				if !slices.Contains(o.Offered, w.Tool) {
					o.Offered = append(o.Offered, w.Tool)
				}
			}
			held := []string{}
			for _, t := range i.Tools {
				if !slices.Contains(o.Offered, t.Name) {
					held = append(held, t.Name)
				}
			}
			o.Events = []bt.Typed{ToolsOffered{Offered: o.Offered, Withheld: held}}
			return nil
		})
}

func offerEverything() bt.Leaf {
	type in struct {
		Tools []agent.ToolFact `port:"tools" doc:"the tools there are"`
	}
	type out struct {
		Class   classify.Classification `port:"class" doc:"of no type: the prompt has the segments of all"`
		Offered []string                `port:"offered" doc:"names of all tools"`
	}
	return bt.Func("OfferEverything", "Offers every tool for every question, writing ones too: what the Oracle is compared with.", func(i in, o *out) error {
		o.Class = classify.Classification{QueryType: prompt.AllTypes, NeedsCode: true, NeedsVault: true, NeedsWeb: true}
		o.Offered = []string{}
		for _, t := range i.Tools {
			o.Offered = append(o.Offered, t.Name)
		}
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

// mayNeedServers says whether the servers of others are offered: what they know no class can say, so with all that is no clear small talk.
func mayNeedServers(c classify.Classification, sure float64) bool {
	return c.QueryType != classify.Conversational || c.Confidence < sure
}

func canSearch(tools []agent.ToolFact, offered []string) bool {
	return slices.ContainsFunc(tools, func(t agent.ToolFact) bool { return t.Search && slices.Contains(offered, t.Name) })
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

func widen() bt.Leaf {
	type in struct {
		Class classify.Classification `port:"class"`
		Tools []agent.ToolFact        `port:"tools"`
	}
	type out struct {
		Offered []string     `port:"offered"`
		Ledger  agent.Ledger `port:"ledger"`
		Events  []bt.Typed   `port:",events"`
	}
	return bt.Func("Widen", "Offers the reading tools of the next source that was not offered. FAILURE if there is none.", func(i in, o *out) error {
		added, ok := nextSource(i.Class, o.Ledger.Left(i.Tools), o.Offered)
		if !ok {
			return fmt.Errorf("every source that can be read is offered already")
		}
		o.Offered = append(slices.Clone(o.Offered), added...)
		o.Events = []bt.Typed{ToolsAdded{added}}
		return nil
	})
}

// nextSource names the reading tools of the next source of which none is offered.
func nextSource(c classify.Classification, tools []agent.ToolFact, offered []string) (added []string, ok bool) {
	for _, s := range append(slices.Clone(sourceOrder(c)), tool.Server) {
		names := named(tools, s, false)
		if len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(offered, n) }) {
			return names, true
		}
	}
	return nil, false
}

func offerCapability() bt.Leaf {
	type in struct {
		Report Report           `port:"report"`
		Tools  []agent.ToolFact `port:"tools"`
	}
	type out struct {
		Offered []string     `port:"offered"`
		Ledger  agent.Ledger `port:"ledger"`
		Events  []bt.Typed   `port:",events"`
	}
	return bt.Func("OfferCapability", "Offers the tools that only read and have the capability asked for. FAILURE if there is none.", func(i in, o *out) error {
		if i.Report.Signal == nil {
			return fmt.Errorf("no capability was asked for")
		}
		capability := i.Report.Signal.Text("capability")
		names := toolsFor(capability, o.Ledger.Left(i.Tools))
		if len(names) == 0 {
			return fmt.Errorf("no tool that only reads has “%s”", agent.Brief(capability, 60))
		}
		added := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(o.Offered, n) })
		if len(added) == 0 {
			o.Events = []bt.Typed{ToolsAdded{}}
			return nil
		}
		o.Offered = append(slices.Clone(o.Offered), added...)
		o.Events = []bt.Typed{ToolsAdded{added}}
		return nil
	})
}

// How the sources are called, and what it is to read in one.
var (
	sourcesSay = map[tool.Source]string{
		tool.Code:  "code codebase repository repo implementation",
		tool.Vault: "vault note notebook wiki documentation thread",
		tool.Web:   "web internet online website webpage page url",
	}
	readingSays = "search seek find look lookup read open fetch browse access view"
)

// toolsFor finds the tools that only read of the sources that a capability names, all of a source, as what finds is of no use without what
// opens. Those of servers are named by their names. A capability that names something else to do there than to read is none of theirs.
func toolsFor(capability string, tools []agent.ToolFact) (names []string) {
	var sources []tool.Source
	var called []string // tools of servers
	reads, other := false, false
	for _, w := range search.Words(capability) {
		stem := search.Stem(strings.ToLower(w))
		found := false
		for _, t := range tools {
			if t.Source == tool.Server && !saysStem(readingSays, stem) && saysStem(wordsOfName(t.Name), stem) {
				called, found = append(called, t.Name), true
			}
		}
		for s, say := range sourcesSay {
			if saysStem(say, stem) {
				sources, found = append(sources, s), true
			}
		}
		is := saysStem(readingSays, stem)
		reads = reads || is
		other = other || !found && !is && !search.IsStop(strings.ToLower(w))
	}
	if other && !reads {
		return nil
	}
	for _, t := range tools {
		if !t.Once && (slices.Contains(sources, t.Source) || slices.Contains(called, t.Name)) {
			names = append(names, t.Name)
		}
	}
	return names
}

// wordsOfName are the words of a tool's name, with blanks between.
func wordsOfName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, name))
}

func saysStem(words, stem string) bool {
	for w := range strings.FieldsSeq(words) {
		if search.Stem(w) == stem {
			return true
		}
	}
	return false
}

func noteGap() bt.Leaf {
	type in struct {
		Report Report `port:"report"`
	}
	type out struct {
		Ledger  agent.Ledger `port:"ledger"`
		Reports Reports      `port:"reports"`
		Events  []bt.Typed   `port:",events"`
	}
	return bt.Func("NoteGap", "Logs a capability that does not exist and tells the person. FAILURE if the same was noted before.", func(i in, o *out) error {
		if i.Report.Signal == nil {
			return fmt.Errorf("no capability was asked for")
		}
		gap := agent.Brief(i.Report.Signal.Text("capability"), 120)
		if slices.Contains(o.Reports.Gaps, gap) {
			return fmt.Errorf("“%s” was asked for before", gap)
		}
		o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
		o.Reports.Gaps = append(o.Reports.Gaps, gap)
		o.Ledger.Notice(NoticeGap, agent.Warning, agent.Pairs("capability", gap), "The model asked for a capability that does not exist here: %s", gap)
		o.Events = []bt.Typed{CapabilityMissing{gap}}
		return nil
	})
}
