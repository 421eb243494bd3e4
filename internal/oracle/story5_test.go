package oracle_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

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
			modeltest.Call("code_search", `{"query":"b"}`), modeltest.Say("So."), theEnd},
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
