package oracle_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// grabby is a model that calls every search there is, offered or not, all at once: what is called is the tree's doing.
func grabby() modeltest.Turn {
	t := modeltest.Say(needTurn("looking everywhere at once"))
	for _, name := range []string{"code_search", "vault_search", "thread_seek", "web_search"} {
		t = t.AndCall(name, `{"query":"all"}`)
	}
	return t
}

// opensFirst is a model that opens what the last search found, with the reader that is offered.
func opensFirst() modeltest.Turn {
	return modeltest.Func(func(req model.Request) modeltest.Turn {
		for _, reader := range []string{"code_read", "vault_read", "web_fetch"} {
			if !slices.Contains(offered(req), reader) {
				continue
			}
			if reader == "web_fetch" {
				return modeltest.SayAndCall(needTurn("opening the page"), reader, `{"url":"https://weather.example/paris"}`)
			}
			return modeltest.SayAndCall(needTurn("opening the place"), reader, lines("found/there.md", 3, 9))
		}
		return modeltest.Say("I was offered nothing to read with. " + partial("everything"))
	})
}

func TestStory1Scenario1WeatherCallsWebSearchFirst(t *testing.T) {
	h := setUp(t, grabby(), opensFirst(), modeltest.Say("It rains: https://weather.example/paris\n"+enough()))
	a := h.ask(weather)
	same(t, "tools that were reached", h.world.called(), []string{"web_search", "web_fetch"})
	same(t, "query type", a.QueryType, "research")
	same(t, "tools offered", offered(h.request(1)), []string{"web_fetch", "web_search"})
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "cited", cites(a), []string{"https://weather.example/paris"})
}

func TestStory1Scenario2AuthMiddlewareSearchesCodeFirst(t *testing.T) {
	h := setUp(t, grabby(), opensFirst(), modeltest.Say("It checks a token.\n"+enough()))
	a := h.ask(auth)
	same(t, "tools that were reached", h.world.called(), []string{"code_search", "code_read"})
	same(t, "query type", a.QueryType, "code")
	same(t, "tools offered", offered(h.request(1)), []string{"code_read", "code_search"})
}

func TestStory1Scenario3DecisionAboutCachingSearchesVaultAndThreadsFirst(t *testing.T) {
	h := setUp(t, grabby(), opensFirst(), modeltest.Say("Per tenant.\n"+enough()))
	a := h.ask(caching)
	reached := h.world.called()
	slices.Sort(reached[:2]) // these two may go at the same time
	same(t, "tools that were reached", reached, []string{"thread_seek", "vault_search", "vault_read"})
	same(t, "query type", a.QueryType, "documentation")
	same(t, "tools offered", offered(h.request(1)), []string{"thread_seek", "vault_read", "vault_search"})
}

func TestStory1Scenario4ThanksGetsAnAnswerWithoutAnyToolCall(t *testing.T) {
	h := setUp(t, modeltest.Say("You're welcome! "+enough()))
	a := h.ask(thanks)
	same(t, "answer", a.Answer, "You're welcome!")
	same(t, "query type", a.QueryType, "conversational")
	same(t, "tools that were reached", h.world.called(), []string{})
	same(t, "tools offered", offered(h.request(1)), []string{})
	same(t, "turns", a.Turns, 1)
}

func TestStory1Scenario4ThanksReachesNoToolEvenIfTheModelCallsSome(t *testing.T) {
	h := setUp(t, grabby(), modeltest.Say("You're welcome! "+enough()))
	h.ask(thanks)
	same(t, "tools that were reached", h.world.called(), []string{})
}

// The independent test of user story 1.
func TestStory1WeatherTouchesNeitherCodeNorVault(t *testing.T) {
	h := setUp(t, grabby(), grabby(), opensFirst(), modeltest.Say("It rains: https://weather.example/paris "+enough()))
	a := h.ask(weather)
	for _, name := range h.world.called() {
		if !strings.HasPrefix(name, "web_") {
			t.Errorf("%s was called", name)
		}
	}
	for _, tried := range a.Tried {
		same(t, "source that was tried", string(tried.Source), "web")
	}
}

func TestQuestionIsClassifiedBeforeAnythingIsGathered(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("looking"), "code_search", `{"query":"auth"}`), modeltest.Say("Found. "+partial("the rest")))
	h.ask(auth)
	first := h.steps()[0]
	same(t, "record that the first step takes in", first.Record, int64(0))
	classified := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool { return e.Type == oracle.ClassChosen{}.EventType() })
	offering := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool { return e.Type == oracle.ToolsOffered{}.EventType() })
	if classified < 0 || offering < classified {
		t.Errorf("Classify is event %d and OfferTools %d of the first step; want both, in this order", classified, offering)
	}
	same(t, "effects of the first step", len(first.Start), 1)
	same(t, "the effect", first.Start[0].Name(), "turn 1 of 30")
}

func TestWhereTheFirstSourceIsNotConnectedTheNextOneIsOfferedAtOnce(t *testing.T) {
	inCode, inVault, inWeb := []string{"code_read", "code_search"}, []string{"thread_seek", "vault_read", "vault_search"}, []string{"web_fetch", "web_search"}
	for _, c := range []struct {
		name, question string
		without, want  []string
	}{
		{"documents stand beside the code", caching, inVault, inCode},
		{"code stands beside documents", auth, inCode, inVault},
		{"two sources are missing", auth, append(slices.Clone(inCode), inVault...), inWeb},
		{"the world is not in the notes", weather, inWeb, []string{}},
		{"an unsure guess is recoverable", "Zanzibar quokka frobnicator rules?", inWeb, slices.Concat(inCode, inVault)},
		{"an unsure guess is looked up in all", "Zanzibar quokka frobnicator rules?", nil, slices.Concat(inCode, inVault, inWeb)},
		{"thanks needs none", thanks, inCode, []string{}},
		{"an action is carried out in its place only", save, inVault, []string{"vault_write"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := setUp(t, theEnd)
			h.world.without(c.without...)
			h.ask(c.question)
			same(t, "tools offered", offered(h.request(1)), c.want)
		})
	}
}

func TestSourcesTriedAreCounted(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("searching"), "code_search", `{"query":"auth"}`),
		modeltest.SayAndCall(needTurn("reading"), "code_read", lines("auth/middleware.go", 10, 30)).AndCall("code_read", `{"path":`),
		modeltest.Say("It checks a token. "+enough()))
	a := h.ask(auth)
	same(t, "sources tried", a.Tried, []agent.Tried{{Source: "code", Calls: 3, Hits: 1, Opened: 1, Errors: 1}})
}

func TestWhatThePersonNamedIsNotOfferedBeforeTheLikelySourceHadNothing(t *testing.T) {
	for _, c := range []struct {
		question string
		want     []string
	}{
		{weather, []string{"web_fetch", "web_search"}},
		{auth, []string{"code_read", "code_search"}},
		{caching, []string{"thread_seek", "vault_read", "vault_search"}},
		{thanks, []string{}},
	} {
		h := setUp(t, theEnd)
		h.named = []tool.Source{tool.Code}
		h.ask(c.question)
		same(t, c.question, inOrder(h.request(1)), c.want)
	}
}

func TestWhatThePersonNamedIsTheNextSourceAfterAnEmptySearch(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "web_search", `{}`), theEnd)
	h.named = []tool.Source{tool.Code}
	h.world.on("web_search", finds())
	h.ask(weather)
	same(t, "tools", inOrder(h.request(2)), []string{"web_fetch", "web_search", "code_read", "code_search"})
	holds(t, "what is said", lastText(h.request(2)), "Your searches found nothing. More tools are offered to you from now on")
}

func TestAMissingSearchEngineIsSaidToThePersonAndToTheModel(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("web search")), modeltest.Say("I can't know it. "+partial("the weather")))
	h.env.Web = false
	h.world.without("web_search")
	a := h.ask(weather)
	holds(t, "the prompt", h.request(1).System, "Not connected: web search (no search engine is set up")
	holds(t, "what the model hears of its wish", lastText(h.request(2)), "That capability does not exist here.")
	lacks(t, "what the model hears of its wish", lastText(h.request(2)), "is offered to you")
	holds(t, "what the person is told", strings.Join(told(a), "\n"), "No search engine is set up, so the web was not searched")
}

func TestToolsAndSourcesStandInThePromptByLikelihood(t *testing.T) {
	h := setUp(t, theEnd)
	h.ask("What does the documentation of the Go standard library on the web say about contexts?")
	system := h.request(1).System
	var at []int
	for _, name := range inOrder(h.request(1)) {
		at = append(at, strings.Index(system, "- `"+name+"`"))
	}
	if !slices.IsSorted(at) || len(at) == 0 || at[0] < 0 {
		t.Errorf("the tools %v stand at %v", inOrder(h.request(1)), at)
	}
	h = setUp(t, theEnd)
	h.ask(weather)
	holds(t, "the prompt", h.request(1).System, "Sources that exist here: web, vault, code.")
}

// inOrder names the tools of a request as the model sees them.
func inOrder(req model.Request) []string {
	names := []string{}
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

func TestATreeMayOfferAndWriteFromOtherProbabilities(t *testing.T) {
	all := []string{"code_read", "code_search", "thread_seek", "vault_read", "vault_search", "vault_write", "web_fetch", "web_search"}
	h := setUp(t, theEnd)
	h.tree.Text = bytes.ReplaceAll(h.tree.Text, []byte(`from="0.1" write="0.5"`), []byte(`from="0" write="0"`))
	h.ask(auth)
	same(t, "the first tool", inOrder(h.request(1))[0], "code_read")
	same(t, "tools offered", offered(h.request(1)), all)
}
