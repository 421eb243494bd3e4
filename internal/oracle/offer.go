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
	"sibyl/internal/text"
	"sibyl/internal/text/search"
	"sibyl/internal/tool"
)

// toolsOf names the tools of a source that only read; with writes, all tools of it.
func toolsOf(tools []agent.ToolFact, s tool.Source, writes bool) (names []string) {
	for _, t := range tools {
		if t.Source == s && (!t.Once || writes) {
			names = append(names, t.Name)
		}
	}
	return names
}

// OfferFrom is the least probability with which a source is offered, unless a tree says otherwise.
const OfferFrom = 0.1

func offerTools() bt.Leaf {
	type in struct {
		Class classify.Classification `port:"class" doc:"what Classify found"`
		Tools []agent.ToolFact        `port:"tools" doc:"the tools there are"`
		Said  agent.Said              `port:"said,optional" doc:"how the question was said: what was piped in causes no write, and what it says yes to is offered"`
		Named []tool.Source           `port:"named,optional" doc:"the sources that the person named"`
		From  float64                 `port:"from" default:"0.1" between:"0 1" doc:"a source of which it is this probable that the answer stands in it is offered"`
		Write float64                 `port:"write" default:"0.5" between:"0 1" doc:"tools that write are offered where a change is the likeliest wish, or this probable"`
		Talk  float64                 `port:"talk" default:"0.6" between:"0 1" doc:"from this probability on, small talk is clear"`
	}
	type out struct {
		Offered []string      `port:"offered" doc:"names of the tools offered to the model, those of the likeliest source first"`
		Later   []tool.Source `port:"later" doc:"named sources that are less probable: offered before any other once the likely ones had nothing"`
		Events  []bt.Typed    `port:",events"`
	}
	return bt.Func("OfferTools",
		"Chooses the tools by the probable types of the question (FR-016) and by what the user named. Tools that "+
			"write are offered only for actions.",
		func(i in, o *out) error {
			choice := sourceChoice{Class: i.Class, From: i.From, Named: i.Named,
				IsTalk: isSmallTalk(i.Class, i.Talk)}
			var sources []tool.Source
			sources, o.Later = choice.sources(func(s tool.Source) bool { return canBeSearched(i.Tools, s) })
			writes := mayWrite(i.Class, i.Write) && !i.Said.Piped
			o.Offered = make([]string, 0, len(i.Tools))
			for _, s := range sources {
				o.Offered = append(o.Offered, toolsOf(i.Tools, s, writes)...)
			}
			if !choice.IsTalk {
				o.Offered = append(o.Offered, toolsOf(i.Tools, tool.Server, writes)...)
			}
			for _, w := range i.Said.Yes {
				if !slices.Contains(o.Offered, w.Tool) {
					o.Offered = append(o.Offered, w.Tool)
				}
			}
			withheld := make([]string, 0, len(i.Tools)-min(len(o.Offered), len(i.Tools)))
			for _, t := range i.Tools {
				if !slices.Contains(o.Offered, t.Name) {
					withheld = append(withheld, t.Name)
				}
			}
			o.Events = []bt.Typed{ToolsOffered{Offered: o.Offered, Withheld: withheld}}
			return nil
		})
}

// isSmallTalk says whether it is clear enough that nothing needs to be looked up.
func isSmallTalk(c classify.Classification, clear float64) bool {
	return c.QueryType == classify.Conversational && c.Probabilities[classify.Conversational] >= clear
}

// mayWrite says whether it is clear enough that a change is wanted.
func mayWrite(c classify.Classification, from float64) bool {
	return c.QueryType == classify.Action || c.Probabilities[classify.Action] >= from
}

// Sources are the sources that a question of a class is offered if all are connected and none was named, the likeliest
// first.
func Sources(c classify.Classification) []tool.Source {
	sources, _ := sourceChoice{Class: c, From: OfferFrom}.sources(func(tool.Source) bool { return true })
	return sources
}

// sourceChoice decides which sources a question is offered.
type sourceChoice struct {
	Class  classify.Classification
	From   float64 // the least probability of a source that is offered at once
	Named  []tool.Source
	IsTalk bool // it is clear small talk
}

// sources are the sources to offer now and later. Now: those that are probable enough, the likeliest first, and the web
// if the user named it. Another source that was named comes later, once these had nothing; or now, if none of these can
// be searched. A question about code or documents has the next source, if then still none can be searched: documents
// stand beside code.
func (o sourceChoice) sources(searchable func(tool.Source) bool) (now, later []tool.Source) {
	order := sourceOrder(o.Class)
	now = make([]tool.Source, 0, len(order))
	for _, s := range order {
		if likely(o.Class, s) >= o.From {
			now = append(now, s)
		}
	}
	if o.IsTalk {
		return now, nil
	}
	canSearch := slices.ContainsFunc(now, searchable)
	for _, s := range order {
		switch {
		case slices.Contains(now, s) || !slices.Contains(o.Named, s):
		case canSearch && s != tool.Web:
			later = append(later, s)
		default:
			now = append(now, s)
		}
	}
	near := o.Class.QueryType == classify.Code || o.Class.QueryType == classify.Documentation
	for _, s := range order {
		if near && !slices.ContainsFunc(now, searchable) && !slices.Contains(now, s) {
			now = append(now, s)
		}
	}
	return now, later
}

// unconnectedSource is the source that surely has the answer, if no tool can search it; "" if a tool can, or the class
// is not sure.
func unconnectedSource(c classify.Classification, tools []agent.ToolFact) tool.Source {
	if s := sourceOrder(c)[0]; c.QueryType != classify.Conversational && likely(c, s) >= sureClass &&
		!canBeSearched(tools, s) {
		return s
	}
	return ""
}

func offerEverything() bt.Leaf {
	type in struct {
		Tools []agent.ToolFact `port:"tools" doc:"the tools there are"`
	}
	type out struct {
		Class   classify.Classification `port:"class" doc:"of no type: the prompt has the segments of all"`
		Offered []string                `port:"offered" doc:"names of all tools"`
	}
	return bt.Func("OfferEverything",
		"Offers every tool for every question, including those that write: the baseline for comparisons.",
		func(i in, o *out) error {
			o.Class = classify.Classification{QueryType: prompt.AllTypes, NeedsCode: true, NeedsVault: true,
				NeedsWeb: true}
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

// offerNextSource offers the tools of the next source (or of all that are left), and tells the model in a hint; also
// which offered sources were not searched yet. After empty searches only what the person named is offered: nothing else
// is likely. It fails if there is nothing to tell.
func offerNextSource() bt.Leaf {
	type in struct {
		Class   classify.Classification `port:"class"`
		Tools   []agent.ToolFact        `port:"tools"`
		Later   []tool.Source           `port:"later,optional" doc:"named sources that were not offered at once: they come first"`
		Empty   bool                    `port:"if_empty" default:"false" doc:"only if every search so far found nothing, and only sources that come later"`
		All     bool                    `port:"all" default:"false" doc:"offer all sources that are left, and not only the next"`
		Instead string                  `port:"instead,optional" doc:"what the model is told where no source is left"`
	}
	type out struct {
		Offered    []string      `port:"offered"`
		Ledger     agent.Ledger  `port:"ledger"`
		Reports    Reports       `port:"reports"`
		Transcript []agent.Entry `port:"transcript"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("Widen", "Offers the reading tools of the next source, points to those that are offered and were "+
		"not searched, and tells the model. FAILURE if there is nothing to tell.",
		func(i in, o *out) (err error) {
			if i.Empty && !foundNothing(&o.Ledger) {
				return fmt.Errorf("not every search found nothing")
			}
			tools := o.Ledger.Offerable(i.Tools)
			var added []string
			order := i.Later
			if !i.Empty {
				order = allSources(i.Class, i.Later)
			}
			for names := nextSource(order, tools, o.Offered); names != nil && (added == nil || i.All); {
				o.Offered = append(slices.Clip(o.Offered), names...)
				added = append(added, names...)
				names = nextSource(order, tools, o.Offered)
			}
			isOffered := func(t agent.ToolFact) bool { return slices.Contains(o.Offered, t.Name) }
			uncalled := o.Reports.withoutPointedAt(sourcesNotCalled(slices.DeleteFunc(tools,
				func(t agent.ToolFact) bool { return !isOffered(t) }), o.Ledger))
			told := i.Instead
			if len(added)+len(uncalled) > 0 {
				told = searchHint(added, uncalled)
			}
			if len(added) > 0 {
				o.Events = append(o.Events, ToolsAdded{added})
			}
			if told == "" {
				return fmt.Errorf("no source is left")
			}
			if i.Empty {
				told = "Your searches found nothing. " + told
			}
			o.Reports = o.Reports.clone()
			o.Reports.PointedAt = append(o.Reports.PointedAt, uncalled...)
			return agent.AddHint(&o.Transcript, &o.Events, told)
		})
}

// searchHint tells the model where to search, and which tools were added.
func searchHint(added []string, unsearched []tool.Source) string {
	text := "You have not searched everything that is offered."
	if len(added) > 0 {
		text = "More tools are offered to you from now on: " + strings.Join(added, ", ") + "."
	}
	if len(unsearched) == 0 {
		return text + " Try them, with other words than before."
	}
	return text + " Search " + sourcePhrase(unsearched) + " too, with other words than before."
}

// allSources are all sources: those that come later, the others by their nearness to the question, and servers.
func allSources(c classify.Classification, later []tool.Source) []tool.Source {
	return slices.Concat(later, sourceOrder(c), []tool.Source{tool.Server})
}

// nextSource names the reading tools of the first source without an offered tool; nil if there is none.
func nextSource(order []tool.Source, tools []agent.ToolFact, offered []string) []string {
	for _, s := range order {
		names := toolsOf(tools, s, false)
		if len(names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(offered, n) }) {
			return names
		}
	}
	return nil
}

// sourcesNotSearched are the sources that a tool could search, and in which no call has succeeded.
func sourcesNotSearched(tools []agent.ToolFact, l agent.Ledger) []tool.Source {
	return sourcesWhereNo(tools, l, func(t agent.SourceCalls) bool { return t.Calls > t.Errors })
}

// sourcesNotCalled are the sources that a tool could search, and of which no tool was called.
func sourcesNotCalled(tools []agent.ToolFact, l agent.Ledger) []tool.Source {
	return sourcesWhereNo(tools, l, func(t agent.SourceCalls) bool { return t.Calls > 0 })
}

// sourcesWhereNo are the sources that a tool could search, and whose counts don't pass the test.
func sourcesWhereNo(tools []agent.ToolFact, l agent.Ledger, test func(agent.SourceCalls) bool) (sources []tool.Source) {
	for _, s := range sourcesByNearness("") {
		if canBeSearched(tools, s) && !slices.ContainsFunc(l.Sources, func(t agent.SourceCalls) bool {
			return t.Source == s && test(t)
		}) {
			sources = append(sources, s)
		}
	}
	return sources
}

// withoutPointedAt leaves out the sources that a hint named before.
func (r *Reports) withoutPointedAt(sources []tool.Source) []tool.Source {
	return slices.DeleteFunc(slices.Clone(sources), func(s tool.Source) bool { return slices.Contains(r.PointedAt, s) })
}

// sourcePhrase names sources in a sentence.
func sourcePhrase(sources []tool.Source) string {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = map[tool.Source]string{tool.Code: "the code", tool.Vault: "the notes", tool.Web: "the web"}[s]
	}
	return strings.Join(names, " and ")
}

func offerCapability() bt.Leaf {
	type in struct {
		Report Report           `port:"report"`
		Tools  []agent.ToolFact `port:"tools"`
		Have   string           `port:"have" doc:"what the model is told if there is a tool"`
		Lack   string           `port:"lack" doc:"what it is told if there is none"`
	}
	type out struct {
		Offered    []string      `port:"offered"`
		Ledger     agent.Ledger  `port:"ledger"`
		Reports    Reports       `port:"reports"`
		Transcript []agent.Entry `port:"transcript"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("OfferCapability",
		"Offers the tools that only read and have the requested capability. If there are none, it logs the gap and "+
			"tells the user; FAILURE if it did so before.", func(i in, o *out) (err error) {
			if i.Report.Signal == nil {
				return fmt.Errorf("no capability was requested")
			}
			gap := text.Brief(i.Report.Signal.Text("capability"), 120)
			names := toolsFor(i.Report.Signal.Text("capability"), o.Ledger.Offerable(i.Tools))
			told := i.Have
			switch {
			case len(names) > 0:
				names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(o.Offered, n) })
				o.Offered = append(slices.Clip(o.Offered), names...)
				o.Events = []bt.Typed{ToolsAdded{names}}
			case slices.Contains(o.Reports.Gaps, gap):
				return fmt.Errorf("“%s” was requested before", gap)
			default:
				told = i.Lack
				o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
				o.Reports.Gaps = append(o.Reports.Gaps, gap)
				o.Ledger.Notice(NoticeGap, agent.Warning, agent.Pairs("capability", gap), noCapability.With(gap))
				o.Events = []bt.Typed{CapabilityMissing{gap}}
			}
			if len(names) > 0 {
				told += " You may call: " + strings.Join(names, ", ") + "."
			}
			return agent.AddHint(&o.Transcript, &o.Events, told)
		})
}

// Words for each source, for searching, and for opening.
var (
	sourceWords = map[tool.Source]string{
		tool.Code:  "code codebase repository repo implementation",
		tool.Vault: "vault note notebook wiki documentation thread",
		tool.Web:   "web internet online website webpage page url",
	}
	searchWords = "search seek find look lookup"
	openWords   = "read open fetch browse access view page webpage url"
)

// toolsFor names the reading tools for a capability: all tools of each source that it names, since searching is of no
// use without opening, and tools of servers that it names. There are none if it names another activity than searching
// or opening. A source that no tool can search serves only a capability that opens and does not search.
func toolsFor(capability string, tools []agent.ToolFact) (names []string) {
	var sources []tool.Source
	var serverTools []string
	searches, opens, other := false, false, false
	for _, w := range search.Words(capability) {
		stem := search.Stem(strings.ToLower(w))
		toSearch, toOpen := containsStem(searchWords, stem), containsStem(openWords, stem)
		isName := false
		for _, t := range tools {
			if t.Source == tool.Server && !toSearch && !toOpen && containsStem(wordsOfName(t.Name), stem) {
				serverTools, isName = append(serverTools, t.Name), true
			}
		}
		for s, say := range sourceWords {
			if containsStem(say, stem) {
				sources, isName = append(sources, s), true
			}
		}
		searches, opens = searches || toSearch, opens || toOpen
		other = other || !isName && !toSearch && !toOpen && !search.IsStop(strings.ToLower(w))
	}
	if other && !searches && !opens {
		return nil
	}
	isServed := func(s tool.Source) bool {
		return slices.Contains(sources, s) && (opens && !searches || canBeSearched(tools, s))
	}
	for _, t := range tools {
		if !t.Once && (isServed(t.Source) || slices.Contains(serverTools, t.Name)) {
			names = append(names, t.Name)
		}
	}
	return names
}

// wordsOfName are the words of a tool's name in lower case, with blanks between them.
func wordsOfName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, name))
}

func containsStem(words, stem string) bool {
	for w := range strings.FieldsSeq(words) {
		if search.Stem(w) == stem {
			return true
		}
	}
	return false
}
