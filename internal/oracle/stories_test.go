package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
	"sibyl/prompts"
)

// grabby is a model that calls every search there is, offered or not, all at once: what is called is the tree's doing.
func grabby() modeltest.Turn {
	t := modeltest.Say(needTurn("looking everywhere at once"))
	for _, name := range []string{"code_search", "vault_search", "thread_seek", "web_search"} {
		t = t.AndCall(name, `{"query":"all"}`)
	}
	return t
}

func TestQuestionIsClassifiedBeforeAnythingIsGathered(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("looking"), "code_search", `{"query":"auth"}`),
		modeltest.Say("Found. "+partial("the rest")))
	h.ask(auth)
	first := h.steps()[0]
	same(t, "record that the first step takes in", first.Record, int64(0))
	classified := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool {
		return e.Type == oracle.ClassChosen{}.EventType()
	})
	offering := slices.IndexFunc(first.Events, func(e run.TraceEvent) bool {
		return e.Type == oracle.ToolsOffered{}.EventType()
	})
	assert.That(t, classified >= 0 && offering >= classified,
		"Classify is event %d and OfferTools %d of the first step; want both, in this order", classified, offering)
	same(t, "effects of the first step", len(first.Start), 1)
	same(t, "the effect", first.Start[0].Name(), "turn 1 of 30")
}

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
		"half\n(cut here: ask for less at a time)")
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

const lastHint = "[control] This is your last turn. No tool can be called any more."

var spelled = []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
	"twelve", "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "sand", "wood", "clay", "iron",
	"salt", "wool", "silk",
	"wine", "corn", "milk"}

func TestStory4Scenario3EveryRequestHoldsTheWholeSignalInstructions(t *testing.T) {
	t.Parallel()
	text := assert.Must(prompts.FS.ReadFile("oracle/signals.md"))(t)
	for _, question := range []string{auth, caching, weather, thanks, save} {
		h := setUp(t, modeltest.Say(needTurn("think it over")), modeltest.Say(needTurn("once more")),
			modeltest.Say("So it is. "+enough()))
		h.turns = 3
		h.ask(question)
		for i, req := range h.script.Requests() {
			assert.That(t, strings.Contains(req.System, strings.TrimSpace(string(text))),
				"%s: request %d lacks the signal instructions", question, i+1)
		}
	}
}

func TestSameInputsGiveTheSamePrompt(t *testing.T) {
	prompted := func(question string) (hash, text string) {
		h := setUp(t, theEnd)
		h.ask(question)
		return h.receipts()[0].Prompt, h.request(1).System
	}
	firstHash, firstText := prompted(auth)
	againHash, againText := prompted(auth)
	same(t, "hash of the prompt", againHash, firstHash)
	same(t, "the prompt", againText, firstText)
	assert.That(t, strings.HasPrefix(firstHash, "sha256:"), "the receipt names the prompt %q", firstHash)
	other, _ := prompted(weather)
	assert.That(t, other != firstHash, "a research question has the prompt of a code question")
}

// silently is the nth of turns that call a tool without a signal.
func silently(n int) modeltest.Turn {
	return modeltest.Call("code_read", lines(spelled[n]+".go", 1, 9))
}

func TestStory5Scenario2ConfidenceBelowThreeTenthsIsDoubtedAndThreeTenthsIsNot(t *testing.T) {
	t.Parallel()
	fields := map[string][]string{
		"need_turn":              {"reason", "more to read"},
		"context_sufficient":     {"sources_found", "1"},
		"need_capability":        {"capability", "sending an email", "reason", "to ask"},
		"partial_answer":         {"missing", "the tests"},
		"delegation_recommended": {"reason", "too large", "scope", "all"},
	}
	verdicts := map[string]string{"need_turn": "retry", "context_sufficient": "go_on", "need_capability": "go_on",
		"partial_answer":         "go_on",
		"delegation_recommended": "go_on"}
	for kind, f := range fields {
		for confidence, doubted := range map[string]bool{"0": true, "0.2999999": true, "0.3": false,
			"0.9": false} {
			t.Run(kind+" "+confidence, func(t *testing.T) {
				h := setUp(t, modeltest.Say("It is so. "+element(kind, confidence, f...)), theEnd)
				a := h.play(auth)
				want := []string(nil)
				if doubted {
					want = []string{"1: unsure, " + verdicts[kind] + " by rules"}
				}
				same(t, "decisions", consulted(a), want)
			})
		}
	}
}

// Scenario 4 of user story 5, and SC-006: what fails and what was never there come to the same, but for the notice.
func TestStory5Scenario4WithoutAClassifierTheRulesDecide(t *testing.T) {
	t.Parallel()
	unsure := element("context_sufficient", "0.2", "sources_found", "1")
	look := modeltest.SayAndCall(needTurn("search"), "code_search", `{"query":"auth"}`)
	for name, turns := range map[string][]modeltest.Turn{
		"silent": {modeltest.Call("code_search", `{"query":"a"}`),
			modeltest.Call("code_search", `{"query":"b"}`), modeltest.Say("So.")},
		"silent calls": {modeltest.Call("code_search", `{"query":"a"}`),
			modeltest.Call("code_search", `{"query":"b"}`), silently(0), theEnd},
		"malformed":               {modeltest.Say("So. " + malformed), modeltest.Say("So. " + malformed)},
		"malformed after reading": {reading(1), modeltest.Say("So. " + malformed)},
		"malformed question":      {modeltest.Say("Which one? " + malformed)},
		"stuck to the end": {look, modeltest.Say(stuck("a")), modeltest.Say(stuck("b")),
			modeltest.Say(stuck("c")), theEnd},
		"the same reason": {modeltest.Say(needTurn("look")), modeltest.Say(needTurn("look")),
			modeltest.Say(needTurn("look")), modeltest.Say(needTurn("look")), theEnd},
		"unsure of the answer":       {modeltest.Say("So. " + unsure), modeltest.Say("So. " + unsure)},
		"unsure, and read thereupon": {modeltest.Say("So. " + unsure), reading(1), modeltest.Say("So. " + unsure)},
	} {
		t.Run(name, func(t *testing.T) {
			none := setUp(t, turns...)
			want := none.ask(auth)
			failing := setUp(t, turns...)
			failing.classifier = (&classifier{err: errors.New("the model can't be loaded")}).ask
			got := failing.ask(auth)
			same(t, "notices of the failing one", notices(got, oracle.NoticeClassifier),
				[]agent.Notice{{Type: "classifier.unavailable", Severity: agent.Warning,
					Turn:    want.Fallbacks[0].Turn,
					Text:    "The classifier is not available, so rules decide: the model can't be loaded",
					Payload: map[string]string{"reason": "the model can't be loaded"}}})
			got.Notices = slices.DeleteFunc(got.Notices, func(n agent.Notice) bool {
				return n.Type == oracle.NoticeClassifier
			})
			got.SessionID, want.SessionID = "", ""
			same(t, "answer", timeless(got), timeless(want))
			for i := range want.Turns {
				same(t, fmt.Sprintf("request %d", i+1), whole(failing.request(i+1)), whole(none.request(i+1)))
			}
			same(t, "is asked once a doubt", len(failing.completions(oracle.EffectClassify)), len(want.Fallbacks))
			same(t, "none is never asked", len(none.completions(oracle.EffectClassify)), 0)
		})
	}
}

// onlyCode leaves no other source than the code.
func (h *harness) onlyCode() {
	h.world.removeTools("vault_search", "vault_read", "vault_write", "thread_seek", "web_search", "web_fetch")
}
