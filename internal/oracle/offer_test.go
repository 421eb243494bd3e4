package oracle

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// classOf is a classification with these probabilities; the rest belongs to small talk.
func classOf(t classify.Type, p map[classify.Type]float64) classify.Classification {
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

func TestSourcesAreOfferedByProbabilityAndNaming(t *testing.T) {
	weather := classOf(classify.Research, shares{classify.Research: 0.97})
	code := func(docs float64) classify.Classification {
		return classOf(classify.Code, shares{classify.Code: 0.85, classify.Documentation: docs})
	}
	talk := func(p float64) sourceChoice {
		c := classOf(classify.Conversational, shares{classify.Conversational: p, classify.Research: 0.05})
		return sourceChoice{Class: c, Named: []tool.Source{tool.Code}, IsTalk: isSmallTalk(c, 0.6)}
	}
	for name, c := range map[string]struct {
		sourceChoice
		only       tool.Source // that can be searched; "": all can
		now, later string
	}{
		"from its probability on":  {sourceChoice{Class: code(0.1)}, "", "code vault", ""},
		"below it is not":          {sourceChoice{Class: code(0.09)}, "", "code", ""},
		"from another probability": {sourceChoice{Class: code(0.09), From: 0.05}, "", "code vault", ""},
		"the likeliest first": {
			sourceChoice{Class: classOf(classify.Research, shares{classify.Research: 0.5, classify.Documentation: 0.3,
				classify.Code: 0.2})}, "", "web vault code", ""},
		"equals as they stand near": {sourceChoice{Class: classOf(classify.Documentation,
			shares{classify.Documentation: 0.5, classify.Research: 0.2, classify.Code: 0.3})}, "", "vault code web", ""},
		"an action is of notes": {
			sourceChoice{Class: classOf(classify.Action, shares{classify.Action: 0.8, classify.Documentation: 0.02,
				classify.Code: 0.15})}, "", "vault code", ""},
		"what is named comes later": {sourceChoice{Class: weather, Named: []tool.Source{tool.Code, tool.Web}}, "", "web",
			"code"},
		"what is named comes at once where nothing likely can be searched": {sourceChoice{Class: weather,
			Named: []tool.Source{tool.Vault}}, tool.Vault, "web vault", ""},
		"without a search engine, the code is not searched for the weather": {sourceChoice{Class: weather}, tool.Code,
			"web", ""},
		"the web comes at once where it is to be searched": {sourceChoice{Class: classOf(classify.Documentation,
			shares{classify.Documentation: 0.97}), Named: []tool.Source{tool.Code, tool.Web}}, "", "vault web", "code"},
		"the web is not for clear small talk": {sourceChoice{Class: classOf(classify.Conversational,
			shares{classify.Conversational: 0.95}), Named: []tool.Source{tool.Web}, IsTalk: true}, "", "", ""},
		"clear small talk":             {talk(0.95), "", "", ""},
		"small talk at its bound":      {talk(0.6), "", "", ""},
		"small talk that is not clear": {talk(0.55), "", "code", ""},
		"code stands beside documents": {sourceChoice{Class: classOf(classify.Documentation,
			shares{classify.Documentation: 0.97})}, tool.Code, "vault code", ""},
	} {
		if c.From == 0 {
			c.From = OfferFrom
		}
		now, later := c.sources(func(s tool.Source) bool { return c.only == "" || s == c.only })
		assert.That(t, fmt.Sprint(now) == "["+c.now+"]" && fmt.Sprint(later) == "["+c.later+"]",
			"%s: now %v, later %v; want %s, and %s", name, now, later, c.now, c.later)
	}
	c := classOf(classify.Code, shares{classify.Code: 0.35, classify.Conversational: 0.3})
	assert.That(t, !isSmallTalk(c, 0.2), "what is no small talk counts as clear small talk")
}

// searchers are one tool for each source, that searches it.
func searchers(sources ...tool.Source) (tools []agent.ToolFact) {
	for _, s := range sources {
		tools = append(tools, agent.ToolFact{Name: string(s) + "_search", Source: s, Search: true})
	}
	return tools
}

func TestAWishForSearchIsNotServedByAToolThatOnlyOpens(t *testing.T) {
	fetch := []agent.ToolFact{{Name: "web_fetch", Source: tool.Web}}
	for capability, want := range map[string]int{"web search": 0, "web": 0, "search the internet": 0,
		"open a web page": 1, "fetch a URL": 1} {
		got := toolsFor(capability, fetch)
		assert.That(t, len(got) == want, "%q is served by %v", capability, got)
		got = toolsFor(capability, append(searchers(tool.Web), fetch...))
		assert.That(t, len(got) == 2, "with a search engine, %q is served by %v", capability, got)
	}
}

// A capability is granted by the source that it names, search and reader together, and not by a word that several
// sources share.
func TestEdgeCapabilityIsFoundByWhatItNames(t *testing.T) {
	facts := append(searchers(tool.Code, tool.Vault, tool.Web), agent.ToolFact{Name: "code_read", Source: tool.Code},
		agent.ToolFact{Name: "vault_read", Source: tool.Vault}, agent.ToolFact{Name: "vault_write",
			Source: tool.Vault, Once: true},
		agent.ToolFact{Name: "web_fetch", Source: tool.Web})
	web, vault := "web_search web_fetch", "vault_search vault_read"
	for capability, want := range map[string]string{
		"web search": web, "web_search": web, "Search the web for current prices": web, "internet access": web,
		"looking something up online": web, "web": web,
		"vault search": vault, "thread search": vault, "searching the notes": vault, "the vault": vault,
		"calendar search": "", "read the person's mail": "", "code execution": "", "running the tests of the code": "",
		"opening lines of places by words in a database": "", "vault write": "", "vault_write": "",
		"write a note into the vault": "", "…": "",
	} {
		got := strings.Join(toolsFor(capability, facts), " ")
		assert.That(t, got == want, "%q is served by %q, and not by %q", capability, got, want)
	}
}

func TestToolsThatWriteWaitForAnAction(t *testing.T) {
	for _, c := range []struct {
		class classify.Classification
		want  bool
	}{
		{classOf(classify.Action, shares{classify.Action: 0.4, classify.Code: 0.3}), true},
		{classOf(classify.Code, shares{classify.Action: 0.45, classify.Code: 0.55}), false},
		{classOf(classify.Documentation, shares{classify.Action: 0.5, classify.Documentation: 0.5}), true},
	} {
		assert.Equalf(t, mayWrite(c.class, 0.5), c.want,
			"%s with %v: tools that write are offered", c.class.QueryType, c.class.Probabilities)
	}
}

func TestTheLikeliestSourceThatNoToolCanSearchIsNotConnected(t *testing.T) {
	weather := classOf(classify.Research, shares{classify.Research: 0.9})
	unsure := classOf(classify.Research, shares{classify.Research: 0.45, classify.Code: 0.4})
	for _, c := range []struct {
		class classify.Classification
		tools []agent.ToolFact
		want  tool.Source
	}{
		{weather, searchers(tool.Code), tool.Web},
		{weather, []agent.ToolFact{{Name: "web_fetch", Source: tool.Web}}, tool.Web},
		{weather, searchers(tool.Web), ""},
		{unsure, searchers(tool.Code), ""},
		{classOf(classify.Conversational, shares{classify.Conversational: 0.9}), nil, ""},
	} {
		assert.Equalf(t, unconnectedSource(c.class, c.tools), c.want, "%s with %v: it", c.class.QueryType, c.tools)
	}
}
