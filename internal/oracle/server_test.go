package oracle_test

import (
	"slices"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/tool"
)

// withServer adds the tools of an MCP server of others: one that reads, and one that writes.
func withServer(h *harness) {
	h.world.add(tool.Spec{Name: "tracker__search_issues", Source: tool.Server, Foreign: true}, func(tool.Call) (tool.Result, error) {
		return tool.Result{Text: "issue 7 is open", Items: 1, Refs: []tool.Ref{{Source: tool.Server, Path: "tracker/search_issues", Opened: true}}}, nil
	})
	h.world.add(tool.Spec{Name: "tracker__create_issue", Source: tool.Server, Foreign: true, Effect: tool.Once, Destructive: true},
		func(tool.Call) (tool.Result, error) { return tool.Result{Text: "created", Items: 1}, nil })
}

func TestServersOfOthersAreOfferedWithAllButSmallTalkAndTheirWritesForActions(t *testing.T) {
	for question, want := range map[string][]string{
		auth:    {"tracker__search_issues"},
		weather: {"tracker__search_issues"},
		thanks:  nil,
		save:    {"tracker__create_issue", "tracker__search_issues"},
	} {
		h := setUp(t, modeltest.Say("No. "+partial("all")))
		withServer(h)
		h.ask(question)
		var got []string
		for _, name := range offered(h.request(1)) {
			if strings.HasPrefix(name, "tracker__") {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		same(t, "offered for “"+question+"”", got, want)
	}
}

func TestWhatAServerOfOthersSaysIsASourceAndTaints(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("look for it"), "tracker__search_issues", `{}`),
		modeltest.SayAndCall(needTurn("write it down"), "vault_write", `{"path":"a.md"}`),
		modeltest.SayAndCall(needTurn("or there"), "tracker__create_issue", `{}`),
		modeltest.Say("Issue 7 is open; I wrote nothing. "+partial("the note")))
	withServer(h)
	a := h.ask("Create a note about the open issues")
	same(t, "tools that were reached", h.world.called(), []string{"tracker__search_issues"})
	same(t, "what stands in the world", h.world.written(), []string(nil))
	holds(t, "what the model hears", said(h.request(4), model.ToolRole), "text from strangers was read in this run, so the person is asked first")
	if len(a.Sources) != 1 || a.Sources[0].Cite != "tracker/search_issues" {
		t.Errorf("sources %+v", a.Sources)
	}
}

func TestCapabilityThatAServerOfOthersHasIsOffered(t *testing.T) {
	for capability, want := range map[string]bool{"search the issues of the tracker": true, "delete issues": false, "send mail": false} {
		h := setUp(t, modeltest.Say(needCapability(capability)), modeltest.Say("No. "+partial("all")))
		withServer(h)
		h.ask(thanks)
		got := false
		for _, name := range offered(h.request(2)) {
			got = got || name == "tracker__search_issues"
			if name == "tracker__create_issue" {
				t.Errorf("%s: a tool that writes is offered", capability)
			}
		}
		same(t, capability, got, want)
	}
}

func TestServerThatIsLeftOutIsTold(t *testing.T) {
	h := setUp(t, modeltest.Say("It rains. "+partial("all")))
	h.env.LeftOut = []string{"The tools of tracker are left out: it does not start"}
	if a := h.ask(weather); !slices.Contains(told(a), h.env.LeftOut[0]) {
		t.Errorf("told %q", told(a))
	}
}
