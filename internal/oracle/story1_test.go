package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
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
