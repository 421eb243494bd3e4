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
	"sibyl/internal/text/search"
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

// OfferFrom is the probability from which on a source is offered, unless a tree says otherwise.
const OfferFrom = 0.1

func offerTools() bt.Leaf {
	type in struct {
		Class classify.Classification `port:"class" doc:"what Classify found"`
		Tools []agent.ToolFact        `port:"tools" doc:"the tools there are"`
		Said  agent.Said              `port:"said,optional" doc:"how the question was said: what was piped in causes no write, and what it says yes to is offered"`
		Named []tool.Source           `port:"named,optional" doc:"the sources that the person named: offered with every question that is no clear small talk"`
		From  float64                 `port:"from" default:"0.1" between:"0 1" doc:"a source of which it is this probable that the answer stands in it is offered"`
		Write float64                 `port:"write" default:"0.5" between:"0 1" doc:"tools that write are offered where a change is the likeliest wish, or this probable"`
		Alone float64                 `port:"alone" default:"0.5" between:"0 1" doc:"from this probability on, a source is searched before those that were named alone"`
		Talk  float64                 `port:"talk" default:"0.6" between:"0 1" doc:"from this probability on, small talk is clear"`
	}
	type out struct {
		Offered []string      `port:"offered" doc:"names of the tools offered to the model, those of the likeliest source first"`
		Later   []tool.Source `port:"later" doc:"sources that were named alone, where another is likely enough: to be searched where the others have nothing"`
		Events  []bt.Typed    `port:",events"`
	}
	return bt.Func("OfferTools", "Chooses the tools by the probable types of the question (FR-016) and by what the user named. Tools that write are offered only for actions.",
		func(i in, o *out) error {
			talk := smallTalk(i.Class, i.Talk)
			var sources []tool.Source
			sources, o.Later = offeredSources(i.Class, i.From, i.Alone, i.Named, talk, func(s tool.Source) bool { return canBeSearched(i.Tools, s) })
			writes := mayWrite(i.Class, i.Write) && !i.Said.Piped
			o.Offered = make([]string, 0, len(i.Tools))
			for _, s := range sources {
				o.Offered = append(o.Offered, named(i.Tools, s, writes)...)
			}
			if !talk {
				o.Offered = append(o.Offered, named(i.Tools, tool.Server, writes)...)
			}
			for _, w := range i.Said.Yes {
				if !slices.Contains(o.Offered, w.Tool) {
					o.Offered = append(o.Offered, w.Tool)
				}
			}
			held := make([]string, 0, len(i.Tools)-min(len(o.Offered), len(i.Tools)))
			for _, t := range i.Tools {
				if !slices.Contains(o.Offered, t.Name) {
					held = append(held, t.Name)
				}
			}
			o.Events = []bt.Typed{ToolsOffered{Offered: o.Offered, Withheld: held}}
			return nil
		})
}

// smallTalk says whether nothing needs to be looked up, clearly enough.
func smallTalk(c classify.Classification, clear float64) bool {
	return c.QueryType == classify.Conversational && c.Probabilities[classify.Conversational] >= clear
}

// mayWrite says whether a change is wanted, clearly enough for tools that write.
func mayWrite(c classify.Classification, from float64) bool {
	return c.QueryType == classify.Action || c.Probabilities[classify.Action] >= from
}

// Sources are the sources that a question of a class is offered where all are connected and none was named, the likeliest first.
func Sources(c classify.Classification) []tool.Source {
	sources, _ := offeredSources(c, OfferFrom, 1, nil, false, func(tool.Source) bool { return true })
	return sources
}

// offeredSources are those that are probable enough, the likeliest first, then those that were named alone, unless it is small talk; these are
// searched later where one of the others is likely enough to be searched alone. Where none can be searched, the next is offered: documents and code stand beside each other. What is about the world for sure stands in neither.
func offeredSources(c classify.Classification, from, alone float64, naming []tool.Source, talk bool, searchable func(tool.Source) bool) (sources, later []tool.Source) {
	order := sourceOrder(c)
	sources = make([]tool.Source, 0, len(order))
	for _, s := range order {
		if likely(c, s) >= from {
			sources = append(sources, s)
		}
	}
	likeliest := slices.ContainsFunc(sources, func(s tool.Source) bool { return likely(c, s) >= alone && searchable(s) })
	for _, s := range order {
		if !talk && slices.Contains(naming, s) && !slices.Contains(sources, s) {
			sources = append(sources, s)
			if likeliest {
				later = append(later, s)
			}
		}
	}
	for _, s := range order {
		if slices.ContainsFunc(sources, searchable) || c.QueryType != classify.Code && c.QueryType != classify.Documentation {
			break
		}
		if !slices.Contains(sources, s) {
			sources = append(sources, s)
		}
	}
	return sources, later
}

func offerEverything() bt.Leaf {
	type in struct {
		Tools []agent.ToolFact `port:"tools" doc:"the tools there are"`
	}
	type out struct {
		Class   classify.Classification `port:"class" doc:"of no type: the prompt has the segments of all"`
		Offered []string                `port:"offered" doc:"names of all tools"`
	}
	return bt.Func("OfferEverything", "Offers every tool for every question, including those that write: the baseline for comparisons.", func(i in, o *out) error {
		o.Class = classify.Classification{QueryType: prompt.AllTypes, NeedsCode: true, NeedsVault: true, NeedsWeb: true}
		o.Offered = []string{}
		for _, t := range i.Tools {
			o.Offered = append(o.Offered, t.Name)
		}
		return nil
	})
}

// canBeSearched says whether a tool that only reads searches a source.
func canBeSearched(tools []agent.ToolFact, s tool.Source) bool {
	return slices.ContainsFunc(tools, func(t agent.ToolFact) bool { return t.Source == s && t.Search && !t.Once })
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
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
	return bt.Func("Widen", "Offers the reading tools of the next source not yet offered. FAILURE if there is none.", func(i in, o *out) error {
		added, ok := nextSource(i.Class, o.Ledger.Left(i.Tools), o.Offered)
		if !ok {
			return fmt.Errorf("every readable source is already offered")
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
	return bt.Func("OfferCapability", "Offers the read-only tools with the requested capability. FAILURE if there is none.", func(i in, o *out) error {
		if i.Report.Signal == nil {
			return fmt.Errorf("no capability was requested")
		}
		capability := i.Report.Signal.Text("capability")
		names := toolsFor(capability, o.Ledger.Left(i.Tools))
		if len(names) == 0 {
			return fmt.Errorf("no read-only tool has “%s”", agent.Brief(capability, 60))
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
	return bt.Func("NoteGap", "Logs a capability that does not exist and tells the user. FAILURE if the same one was noted before.", func(i in, o *out) error {
		if i.Report.Signal == nil {
			return fmt.Errorf("no capability was requested")
		}
		gap := agent.Brief(i.Report.Signal.Text("capability"), 120)
		if slices.Contains(o.Reports.Gaps, gap) {
			return fmt.Errorf("“%s” was requested before", gap)
		}
		o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
		o.Reports.Gaps = append(o.Reports.Gaps, gap)
		o.Ledger.Notice(NoticeGap, agent.Warning, agent.Pairs("capability", gap), "The model requested a capability that is not available here: %s", gap)
		o.Events = []bt.Typed{CapabilityMissing{gap}}
		return nil
	})
}
