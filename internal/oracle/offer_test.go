package oracle

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/model"
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
		got, later := offeredSources(of(classify.Code, shares{classify.Code: 0.85, classify.Documentation: c.docs}), c.from, 0.5, nil, false, everywhere)
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

func TestWhatThePersonNamedIsOfferedLastWhereTheClassPointsElsewhere(t *testing.T) {
	weather := of(classify.Research, shares{classify.Research: 0.97})
	got, later := offeredSources(weather, OfferFrom, 0.5, []tool.Source{tool.Code, tool.Web}, false, everywhere)
	differs(t, got, []tool.Source{tool.Web, tool.Code})
	differs(t, later, []tool.Source{tool.Code})
}

func TestWhatThePersonNamedIsSearchedAtOnceWhereNoOtherSourceIsLikelyEnough(t *testing.T) {
	unsure := of(classify.Research, shares{classify.Research: 0.6, classify.Code: 0.3, classify.Documentation: 0.09})
	noWeb := func(s tool.Source) bool { return s != tool.Web }
	got, later := offeredSources(unsure, OfferFrom, 0.5, []tool.Source{tool.Vault}, false, noWeb)
	differs(t, got, []tool.Source{tool.Web, tool.Code, tool.Vault})
	differs(t, later, nil)
	_, later = offeredSources(unsure, OfferFrom, 0.5, []tool.Source{tool.Vault}, false, everywhere)
	differs(t, later, []tool.Source{tool.Vault})
}

func TestClearSmallTalkIsOfferedNothingThatWasNamed(t *testing.T) {
	naming := []tool.Source{tool.Code}
	for p, want := range map[float64][]tool.Source{0.95: nil, 0.6: nil, 0.55: naming} {
		c := of(classify.Conversational, shares{classify.Conversational: p, classify.Research: 0.05})
		got, _ := offeredSources(c, OfferFrom, 0.5, naming, smallTalk(c, 0.6), everywhere)
		differs(t, got, want)
	}
	if c := of(classify.Code, shares{classify.Code: 0.35, classify.Conversational: 0.3}); smallTalk(c, 0.2) {
		t.Error("what is no small talk counts as clear small talk")
	}
}

func TestWhereNothingOfferedCanBeSearchedTheNextSourceIs(t *testing.T) {
	only := func(s tool.Source) func(tool.Source) bool { return func(o tool.Source) bool { return o == s } }
	code := of(classify.Code, shares{classify.Code: 0.97})
	got, _ := offeredSources(code, OfferFrom, 0.5, nil, false, only(tool.Web))
	differs(t, got, []tool.Source{tool.Code, tool.Vault, tool.Web})
	weather := of(classify.Research, shares{classify.Research: 0.97})
	got, _ = offeredSources(weather, OfferFrom, 0.5, nil, false, only(tool.Code))
	differs(t, got, []tool.Source{tool.Web})
	got, _ = offeredSources(weather, OfferFrom, 0.5, []tool.Source{tool.Code}, false, only(tool.Code))
	differs(t, got, []tool.Source{tool.Web, tool.Code})
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

func TestOfflineSearchesWhatComesLaterOnlyWhereTheOthersHaveNothing(t *testing.T) {
	takesWords := json.RawMessage(`{"properties":{"query":{"type":"string"}}}`)
	sit := Situation{Question: "What is the weather in Paris?", Class: "research", Later: []tool.Source{tool.Code}, Tools: []tool.Spec{
		{Name: "web_search", Source: tool.Web, Search: true, Schema: takesWords}, {Name: "code_search", Source: tool.Code, Search: true, Schema: takesWords}}}
	asks := func() (names []string) {
		reply, err := OfflineRule(t.Context(), model.Request{Facts: sit})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range reply.ToolCalls {
			names = append(names, c.Name)
		}
		return names
	}
	if got := asks(); !cmp.Equal(got, []string{"web_search"}) {
		t.Errorf("first it calls %v", got)
	}
	sit.Steps = []Step{{Call: model.ToolCall{Name: "web_search"}, Receipt: agent.CallReceipt{Result: &tool.Result{}}}}
	if got := asks(); !cmp.Equal(got, []string{"code_search"}) {
		t.Errorf("after an empty search it calls %v", got)
	}
}
