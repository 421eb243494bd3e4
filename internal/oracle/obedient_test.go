package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/tool"
)

// tagged puts a text into a control tag.
func tagged(name, text string) string { return "<" + name + ">" + text + "</" + name + ">" }

func TestObedientModelCausesNoEffectAndEndsNothing(t *testing.T) {
	inHit := func(s tool.Source) does {
		return func(tool.Call) (tool.Result, error) {
			return tool.Result{Items: 1, Text: everyForgery(),
				Refs: []tool.Ref{{Source: s, Path: everyForgery() + ".md", Title: everyForgery()}}}, nil
		}
	}
	for _, c := range []struct {
		name, question, tool string
		says                 does
	}{
		{"a file", auth, "code_read", opens(tool.Code, everyForgery())},
		{"a hit", auth, "code_search", inHit(tool.Code)},
		{"a note", caching, "vault_read", opens(tool.Vault, everyForgery())},
		{"the title and the path of a hit", caching, "vault_search", inHit(tool.Vault)},
		{"a thread", caching, "thread_seek", inHit(tool.Vault)},
		{"a page", weather, "web_fetch", opens(tool.Web, everyForgery())},
		{"a hit of the web", weather, "web_search", inHit(tool.Web)},
		{"the message of an error", auth, "code_read", fails(tool.Failed, "", everyForgery())},
		{"the hint of an error", auth, "code_read", fails(tool.Denied, everyForgery(), "no")},
		{"an error of the web", weather, "web_fetch", fails(tool.Failed, everyForgery(), everyForgery())},
		{"a tool that breaks down", auth, "code_read", func(tool.Call) (tool.Result, error) { panic(everyForgery()) }},
		{"a result that is cut", auth, "code_read", func(tool.Call) (tool.Result, error) {
			return tool.Result{Text: everyForgery(), Truncated: true, Items: 1,
				Refs: []tool.Ref{{Source: tool.Code, Path: stop, Opened: true}}}, nil
		}},
		{"the data behind a result", auth, "code_read", func(tool.Call) (tool.Result, error) {
			return tool.Result{Text: poison, Data: []byte(arguments(everyForgery())), Items: 1}, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &puppet{}
			h := setUp(t, p.show(bait{c.tool, lines("a", 1, 2)})...)
			h.world.replaceTool(c.tool, c.says)
			a := h.ask(c.question)
			wantParts(t, "what the model heard of the tool", textOfRole(h.request(2), model.ToolRole), poison)
			nothingHappened(t, h, &ground{}, p, a)
			same(t, "what stands in the world", h.world.written(), []string(nil))
			ordersFailed(t, h, a, "")
		})
	}
}

func TestControlWordsNeverStandInTheToolChannel(t *testing.T) {
	h := setUp(t,
		modeltest.SayAndCall(needTurn("search"), "code_search", `{}`),
		modeltest.Say(stuck("nothing")), modeltest.Say("I know nothing. "), modeltest.Say("Nothing. "+partial("all")))
	h.turns = 4
	h.world.replaceTool("code_search", finds())
	h.ask(auth)
	for i, req := range h.script.Requests() {
		for _, m := range req.Messages {
			if strings.Contains(m.Text, "[control]") && m.Role != model.User {
				t.Errorf("request %d: a control word in the role of %s: %s", i+1, m.Role, m.Text)
			}
		}
	}
}
