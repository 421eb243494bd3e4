package talk

import (
	"encoding/json"
	"slices"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

func TestWorkIsToldInWords(t *testing.T) {
	for label, want := range map[string]string{
		"turn 3 of 30":                             "turn 3 of 30",
		`code_read {"start":3,"path":"a b.go"}`:    "code read: a b.go",
		`web_fetch {"url":"https://e.org/\u001b"}`: "web fetch: https://e.org/",
		`x {"list":["a"],"b":"c"}`:                 "x",
		`x {"query":"cut of…`:                      "x",
		"x {}":                                     "x",
	} {
		if got := UnderWay(run.Asked{Kind: agent.EffectCall, Label: label}); got != want {
			t.Errorf("%s is told as %q, not %q", label, got, want)
		}
	}
}

func TestProgressHasNoWordsForMachines(t *testing.T) {
	for _, c := range []struct {
		event bt.Typed
		want  []string
	}{
		{oracle.ClassChosen{Type: "code", Confidence: 0.9}, []string{"asking a:b"}},
		{oracle.TurnTaken{Turn: 1, MaxTurns: 30, Signal: "need_turn"}, nil},
		{oracle.SignalHeard{Malformed: "cut off"}, nil},
		{agent.CallDone{Tool: "code_search", Arguments: `{"query":"lease"}`, Items: 3, TookMS: 1200, Rule: "own"}, []string{"  code search: lease (3 found, 1.2 s)"}},
		{agent.CallDone{Tool: "web_fetch", Arguments: `{"url":"https://e.org"}`, Error: "it does not answer"}, []string{"  web fetch: https://e.org (it does not answer, 0.0 s)"}},
		{agent.CallRefused{Tool: "x", Why: bt.Because("never")}, []string{"first", "asking a:b"}},
	} {
		data, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		u := service.Update{Event: &service.Event{TraceEvent: run.TraceEvent{Type: c.event.EventType(), Data: data}}, Lines: []string{"first", "asking a:b"}}
		if got := Progress(u); !slices.Equal(got, c.want) {
			t.Errorf("%s is told as %q, not %q", c.event.EventType(), got, c.want)
		}
	}
}
