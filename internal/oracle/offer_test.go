package oracle

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// of is a classification with these probabilities; the rest belongs to small talk.
func of(t classify.Type, p map[classify.Type]float64) classify.Classification {
	rest := 1.0
	for _, x := range p {
		rest -= x
	}
	if p[classify.Conversational] == 0 {
		p[classify.Conversational] = rest
	}
	return classify.Classification{QueryType: t, Probabilities: p}
}

type shares = map[classify.Type]float64

func everywhere(tool.Source) bool { return true }

func differs(t *testing.T, got, want []tool.Source) {
	t.Helper()
	if len(got)+len(want) > 0 && !cmp.Equal(got, want) {
		t.Errorf("it is %v, not %v", got, want)
	}
}

func TestASourceIsOfferedFromItsProbabilityOn(t *testing.T) {
	for _, c := range []struct {
		docs, from float64
		want       []tool.Source
	}{
		{0.1, OfferFrom, []tool.Source{tool.Code, tool.Vault}},
		{0.09, OfferFrom, []tool.Source{tool.Code}},
		{0.09, 0.05, []tool.Source{tool.Code, tool.Vault}},
	} {
		got, later := offering{Class: of(classify.Code, shares{classify.Code: 0.85, classify.Documentation: c.docs}), From: c.from}.sources(everywhere)
		differs(t, got, c.want)
		differs(t, later, nil)
	}
}

func TestTheLikeliestSourceIsOfferedFirst(t *testing.T) {
	differs(t, Sources(of(classify.Research, shares{classify.Research: 0.5, classify.Documentation: 0.3, classify.Code: 0.2})),
		[]tool.Source{tool.Web, tool.Vault, tool.Code})
	differs(t, Sources(of(classify.Documentation, shares{classify.Documentation: 0.5, classify.Research: 0.2, classify.Code: 0.3})),
		[]tool.Source{tool.Vault, tool.Code, tool.Web})
	differs(t, Sources(of(classify.Action, shares{classify.Action: 0.8, classify.Documentation: 0.02, classify.Code: 0.15})), []tool.Source{tool.Vault, tool.Code})
}

func TestWhatThePersonNamedComesOnceTheLikelySourcesHadNothing(t *testing.T) {
	weather := of(classify.Research, shares{classify.Research: 0.97})
	now, later := offering{Class: weather, From: OfferFrom, Named: []tool.Source{tool.Code, tool.Web}}.sources(everywhere)
	differs(t, now, []tool.Source{tool.Web})
	differs(t, later, []tool.Source{tool.Code})
}

func TestWhatThePersonNamedIsOfferedAtOnceWhereNoLikelySourceCanBeSearched(t *testing.T) {
	weather := of(classify.Research, shares{classify.Research: 0.97})
	now, later := offering{Class: weather, From: OfferFrom, Named: []tool.Source{tool.Vault}}.sources(only(tool.Vault))
	differs(t, now, []tool.Source{tool.Web, tool.Vault})
	differs(t, later, nil)
}

func TestTheFolderThatOneStandsInIsLikelyAndNotNamed(t *testing.T) {
	here := offering{Class: of(classify.Research, shares{classify.Research: 0.97}), From: OfferFrom, Likely: []tool.Source{tool.Code}}
	now, later := here.sources(everywhere)
	differs(t, now, []tool.Source{tool.Web})
	differs(t, later, nil)
	now, _ = here.sources(only(tool.Code)) // no search engine
	differs(t, now, []tool.Source{tool.Web, tool.Code})
}

func TestClearSmallTalkIsOfferedNothingThatWasNamed(t *testing.T) {
	naming := []tool.Source{tool.Code}
	for p, want := range map[float64][]tool.Source{0.95: nil, 0.6: nil, 0.55: naming} {
		c := of(classify.Conversational, shares{classify.Conversational: p, classify.Research: 0.05})
		now, _ := offering{Class: c, From: OfferFrom, Named: naming, Likely: naming, Talk: smallTalk(c, 0.6)}.sources(everywhere)
		differs(t, now, want)
	}
	if c := of(classify.Code, shares{classify.Code: 0.35, classify.Conversational: 0.3}); smallTalk(c, 0.2) {
		t.Error("what is no small talk counts as clear small talk")
	}
}

func only(s tool.Source) func(tool.Source) bool { return func(o tool.Source) bool { return o == s } }

func TestWhereNothingOfferedCanBeSearchedTheNextSourceIs(t *testing.T) {
	sources := func(c classify.Classification, naming ...tool.Source) []tool.Source {
		now, _ := offering{Class: c, From: OfferFrom, Named: naming}.sources(only(tool.Code))
		return now
	}
	differs(t, sources(of(classify.Documentation, shares{classify.Documentation: 0.97})), []tool.Source{tool.Vault, tool.Code})
	weather := of(classify.Research, shares{classify.Research: 0.97})
	differs(t, sources(weather), []tool.Source{tool.Web})
	differs(t, sources(weather, tool.Code), []tool.Source{tool.Web, tool.Code})
}

// searchers are one tool for each source, that searches it.
func searchers(sources ...tool.Source) (tools []agent.ToolFact) {
	for _, s := range sources {
		tools = append(tools, agent.ToolFact{Name: string(s) + "_search", Source: s, Search: true})
	}
	return tools
}

func TestASourceCountsAsSearchedOnceACallOfItWentWell(t *testing.T) {
	tools := searchers(tool.Code, tool.Vault, tool.Web)
	ledger := agent.Ledger{Sources: []agent.Tried{{Source: tool.Code, Calls: 1, Empty: 1}, {Source: tool.Web, Calls: 2, Errors: 2}}}
	differs(t, notSearched(tools, ledger), []tool.Source{tool.Vault, tool.Web})
	differs(t, notSearched(searchers(tool.Code), ledger), nil)
}

func TestTheLikeliestSourceThatNoToolCanSearchIsNotConnected(t *testing.T) {
	weather := of(classify.Research, shares{classify.Research: 0.9})
	unsure := of(classify.Research, shares{classify.Research: 0.45, classify.Code: 0.4})
	for _, c := range []struct {
		class classify.Classification
		tools []agent.ToolFact
		want  tool.Source
	}{
		{weather, searchers(tool.Code), tool.Web},
		{weather, []agent.ToolFact{{Name: "web_fetch", Source: tool.Web}}, tool.Web},
		{weather, searchers(tool.Web), ""},
		{unsure, searchers(tool.Code), ""},
		{of(classify.Conversational, shares{classify.Conversational: 0.9}), nil, ""},
	} {
		if got := notConnected(c.class, c.tools); got != c.want {
			t.Errorf("%s with %v: it is %q, not %q", c.class.QueryType, c.tools, got, c.want)
		}
	}
}

func TestAWishForSearchIsNotServedByAToolThatOnlyOpens(t *testing.T) {
	fetch := []agent.ToolFact{{Name: "web_fetch", Source: tool.Web}}
	for capability, want := range map[string]int{"web search": 0, "web": 0, "search the internet": 0, "open a web page": 1, "fetch a URL": 1} {
		if got := toolsFor(capability, fetch); len(got) != want {
			t.Errorf("%q is served by %v", capability, got)
		}
		if got := toolsFor(capability, append(searchers(tool.Web), fetch...)); len(got) != 2 {
			t.Errorf("with a search engine, %q is served by %v", capability, got)
		}
	}
}

func TestToolsThatWriteWaitForAnAction(t *testing.T) {
	for _, c := range []struct {
		class classify.Classification
		want  bool
	}{
		{of(classify.Action, shares{classify.Action: 0.4, classify.Code: 0.3}), true},
		{of(classify.Code, shares{classify.Action: 0.45, classify.Code: 0.55}), false},
		{of(classify.Documentation, shares{classify.Action: 0.5, classify.Documentation: 0.5}), true},
	} {
		if got := mayWrite(c.class, 0.5); got != c.want {
			t.Errorf("%s with %v: tools that write are offered: %v", c.class.QueryType, c.class.Probabilities, got)
		}
	}
}

// A capability is granted by the source that it names, search and reader together, and not by a word that several sources share.
func TestEdgeCapabilityIsFoundByWhatItNames(t *testing.T) {
	facts := append(searchers(tool.Code, tool.Vault, tool.Web), agent.ToolFact{Name: "code_read", Source: tool.Code},
		agent.ToolFact{Name: "vault_read", Source: tool.Vault}, agent.ToolFact{Name: "vault_write", Source: tool.Vault, Once: true},
		agent.ToolFact{Name: "web_fetch", Source: tool.Web})
	web, vault := "web_search web_fetch", "vault_search vault_read"
	for capability, want := range map[string]string{
		"web search": web, "web_search": web, "Search the web for current prices": web, "internet access": web, "looking something up online": web, "web": web,
		"vault search": vault, "thread search": vault, "searching the notes": vault, "the vault": vault,
		"calendar search": "", "read the person's mail": "", "code execution": "", "running the tests of the code": "",
		"opening lines of places by words in a database": "", "vault write": "", "vault_write": "", "write a note into the vault": "", "…": "",
	} {
		if got := strings.Join(toolsFor(capability, facts), " "); got != want {
			t.Errorf("%q is served by %q, and not by %q", capability, got, want)
		}
	}
}
