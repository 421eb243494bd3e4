package oracle_test

import (
	"context"
	"encoding/json"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/tool"
)

// signing is a model whose provider gives each turn a form of its own.
type signing struct{ model.Model }

func (s signing) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp, err := s.Model.Chat(ctx, req, emit)
	resp.Native = &model.Native{Provider: "scripted", Turn: json.RawMessage(`{"signed":true}`)}
	return resp, err
}

func TestProvidersOwnFormOfATurnIsSentBackOnlyWithItsCallsAnswered(t *testing.T) {
	h := setUp(t,
		reading(1),
		modeltest.SayAndCall(enough(), "code_read", `{}`), // its call is not run
		modeltest.Say("It checks a token. "+enough()))
	h.model = signing{h.script}
	h.ask(auth)
	var native []bool
	for _, m := range h.request(3).Messages {
		if m.Role == model.Assistant {
			native = append(native, m.Native != nil)
		}
	}
	same(t, "turns in their provider's form", native, []bool{true, false})
}

func TestResultThatWasCutSaysSoToTheModel(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("read"), "code_read", `{}`), modeltest.Say("Nothing. "+partial("all")))
	h.world.replaceTool("code_read", func(tool.Call) (tool.Result, error) {
		return tool.Result{Text: "half", Items: 1, Truncated: true}, nil
	})
	h.ask(auth)
	same(t, "what the model hears", textOfRole(h.request(2), model.ToolRole),
		"half\n[cut here: ask for less at a time]")
}

func TestToolTimeoutIsAFailureThatTheModelHears(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`),
		modeltest.Say("Nothing. "+partial("all")))
	h.timeout = 1 // ns
	h.world.replaceTool("code_search", func(tool.Call) (tool.Result, error) { return tool.Result{}, errSlow })
	h.ask(auth)
	wantParts(t, "what the model hears", textOfRole(h.request(2), model.ToolRole),
		"Failed: no result within 1ns (ask for less)")
}
