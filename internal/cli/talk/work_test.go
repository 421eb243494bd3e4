package talk

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
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
		if got := UnderWay(run.RequestedEffect{Kind: agent.EffectCall, Label: label}); got != want {
			t.Errorf("%s is told as %q, not %q", label, got, want)
		}
	}
}

func TestProgressTellsWhatWasDoneAndNotHowTheRunIsControlled(t *testing.T) {
	for _, c := range []struct {
		event         bt.Typed
		told, control string
	}{
		{oracle.ClassChosen{Type: "code", Confidence: 0.9}, "", "Took it for a question about the code"},
		{oracle.TurnTaken{Turn: 1, MaxTurns: 30, Signal: "need_turn", Model: "a:b", TookMS: 2000}, "",
			"Asked a:b, which replied (2.0 s)"},
		{oracle.SignalHeard{Malformed: "cut off"}, "", ""},
		{agent.CallDone{Tool: "code_search", Arguments: `{"query":"lease"}`, Items: 3, TookMS: 1200, Rule: "own"},
			"Searched the code for “lease”: 3 found (1.2 s)", "Searched the code for “lease”: 3 found (1.2 s)"},
		{agent.CallDone{Tool: "web_fetch", Arguments: `{"url":"https://e.org"}`, Error: "it does not answer"},
			"Web fetch https://e.org failed: it does not answer", "Web fetch https://e.org failed: it does not answer"},
		{agent.CallRefused{Tool: "x", Why: bt.Because("never")}, "Was not allowed to use x, because never",
			"Was not allowed to use x, because never"},
	} {
		data, err := json.Marshal(c.event)
		if err != nil {
			t.Fatal(err)
		}
		u := service.Update{Event: &service.Event{TraceEvent: run.TraceEvent{Type: c.event.EventType(), Data: data}}}
		if told, narrated := c.event.(bt.Narrated); narrated {
			u.Told = told.Story()
		}
		if told, control := Progress(u, false), Progress(u, true); told != c.told || control != c.control {
			t.Errorf("%s is told as %q, or %q", c.event.EventType(), told, control)
		}
	}
}

func TestLineThatLivesIsOneLineOfTheTerminalWithItsTokens(t *testing.T) {
	var w Work
	searches := []run.RequestedEffect{{Op: 1, Label: strings.Repeat("search 日本語 ", 30)}, {Op: 2}}
	w.Track(service.Update{Step: &service.Step{Started: searches}})
	w.Track(service.Update{Record: &journal.Record{Kind: run.KindCompletion}, Used: assistant.Usage{Input: 90,
		Output: 10}})
	for _, width := range []int{30, 60, 200} {
		line := w.Line(began, began.Add(3*time.Second), width, "")
		if n := ansi.StringWidth(line); n >= width || !strings.HasPrefix(line, "3 s ") ||
			!strings.HasSuffix(line, " and 1 more · 100 tokens") {
			t.Errorf("at %d columns (%d): %q", width, n, line)
		}
	}
}

func TestWorkEndsWithItsReceiptsAndCountsTokens(t *testing.T) {
	var w Work
	w.Track(service.Update{Step: &service.Step{Started: []run.RequestedEffect{{Op: 1, Label: "Skeptic"},
		{Op: 2, Label: "Optimist"}}}})
	if got := w.Line(began, began, 80, ""); got != "0 s · Skeptic and 1 more" {
		t.Error(got)
	}
	w.Track(service.Update{Text: strings.Repeat("word ", 8)})
	if got := w.Line(began, began.Add(61*time.Second), 80, ""); got != "1:01 min · writing and 1 more · 10 tokens" {
		t.Error(got)
	}
	raw, err := json.Marshal(run.CompletionRecord{RequestedEffect: run.RequestedEffect{Op: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w.Track(service.Update{Record: &journal.Record{Kind: run.KindCompletion, Data: raw}, Used: assistant.Usage{Input: 20,
		Output: 5}})
	if got := w.Line(began, began, 80, ""); got != "0 s · Optimist · 25 tokens" {
		t.Error(got)
	}
	if w.Track(service.Update{Step: &service.Step{Withdrawn: []uint64{2}}}); w.What() != "" {
		t.Errorf("%q is under way", w.What())
	}
}
