package talk

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

func TestEditedQuestionTakesThePlaceOfTheLast(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	editor := filepath.Join(t.TempDir(), "editor")
	// #nosec G306 -- it is run
	assert.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nprintf ' and why' >> \"$2\"\n"), 0o700))
	t.Setenv("TMPDIR", t.TempDir())
	h := hold(t, 80, 24, func(c *Config) { c.Environ = append(c.Environ, "EDITOR="+editor+" -x") })
	h.ask("How does it end").end(answer("Badly."))
	h.rests("Badly.")
	h.press("/edit\r")
	h.shows("edit ❯ How does it end and why\n")
	h.press("\r")
	r := <-h.p.begun
	assert.That(t, r.Replaces == "0run" && r.Words == "How does it end and why" && r.Of == "oracle",
		"%+v was asked", r.Asked)
	r.end(answer("Well."))
	h.rests("Well.")
	h.press("/edit\r")
	h.shows("edit ❯ How does it end and why and why\n")
	h.press("\x03") // who clears the line edits no more
	h.showsNo("edit ❯")
	if r := h.ask("Something else"); r.Replaces != "" {
		t.Errorf("%+v was asked in the place of another question", r.Asked)
	} else {
		r.end(answer("So."))
		h.rests("So.")
	}
	h.p.refuse = errors.New("it has acted")
	h.press("/edit\r")
	h.shows("edit ❯ Something else and why\n")
	h.press("\r")
	h.shows("it has acted")
	h.shows("Enter asks it as a new question")
	h.p.refuse = nil
	h.press("\r")
	if r := <-h.p.begun; r.Replaces != "" || r.Words != "Something else and why" {
		t.Errorf("%+v was asked after a refusal", r.Asked)
	} else {
		r.end(answer("So."))
	}
	h.rests("So.")
	h.press("/edit a new one\r")
	h.shows("❯ a new one and why\n")
	h.press("\r")
	if r := <-h.p.begun; r.Replaces != "" || r.Words != "a new one and why" {
		t.Errorf("%+v was asked", r.Asked)
	} else {
		r.end(answer("So."))
	}
	left, err := os.ReadDir(os.TempDir())
	assert.That(t, err == nil && len(left) == 0, "%v is left, %v", left, err)
}

func TestWorkIsToldInWords(t *testing.T) {
	for label, want := range map[string]string{
		"turn 3 of 30":                             "turn 3 of 30",
		`code_read {"start":3,"path":"a b.go"}`:    "code read: a b.go",
		`web_fetch {"url":"https://e.org/\u001b"}`: "web fetch: https://e.org/",
		`x {"list":["a"],"b":"c"}`:                 "x",
		`x {"query":"cut of…`:                      "x",
		"x {}":                                     "x",
	} {
		assert.Equalf(t, UnderWay(run.RequestedEffect{Kind: agent.EffectCall, Label: label}, ""), want, "%s is told as", label)
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
		data := assert.Must(json.Marshal(c.event))(t)
		u := service.Update{Event: &service.Event{TraceEvent: run.TraceEvent{Type: c.event.EventType(), Data: data}}}
		if told, narrated := c.event.(bt.Narrated); narrated {
			u.Told = told.Story()
		}
		told, control := Progress(u, false, ""), Progress(u, true, "")
		assert.That(t, told == c.told && control == c.control, "%s is told as %q, or %q", c.event.EventType(), told, control)
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
		n := ansi.StringWidth(line)
		assert.That(t, n < width && strings.HasPrefix(line, "3 s ") && strings.HasSuffix(line, " and 1 more · 100 tokens"),
			"at %d columns (%d): %q", width, n, line)
	}
}

func TestModelThatReadsIsToldAtOnceWithItsShareAndElseAfterAWhile(t *testing.T) {
	var w Work
	w.Track(service.Update{Step: &service.Step{Started: []run.RequestedEffect{{Op: 1, Label: "Skeptic"}}}})
	line := func(seconds int) string { return w.Line(began, began.Add(time.Duration(seconds)*time.Second), 80, "") }
	w.Track(service.Update{Reading: &run.Reading{Tokens: 4900, Since: began}})
	assert.Equal(t, line(2), "2 s · Skeptic")
	assert.Equal(t, line(3), "3 s · reading the prompt, about 4900 tokens")
	w.Track(service.Update{Reading: &run.Reading{Tokens: 4900, Read: 1960, Since: began}})
	assert.Equal(t, line(1), "1 s · reading the prompt, 40 %")
	w.Track(service.Update{Reading: &run.Reading{}})
	assert.Equal(t, line(9), "9 s · Skeptic")
	w.Track(service.Update{Reading: &run.Reading{Tokens: 4900, Read: 4900, Since: began}})
	w.Track(service.Update{Text: "word"})
	assert.Equal(t, line(9), "9 s · writing · 1 token")
}

func TestWorkEndsWithItsReceiptsAndCountsTokens(t *testing.T) {
	var w Work
	w.Track(service.Update{Step: &service.Step{Started: []run.RequestedEffect{{Op: 1, Label: "Skeptic"},
		{Op: 2, Label: "Optimist"}}}})
	assert.Equal(t, w.Line(began, began, 80, ""), "0 s · Skeptic and 1 more")
	w.Track(service.Update{Text: strings.Repeat("word ", 8)})
	assert.Equal(t, w.Line(began, began.Add(61*time.Second), 80, ""), "1:01 min · writing and 1 more · 10 tokens")
	raw := assert.Must(json.Marshal(run.CompletionRecord{RequestedEffect: run.RequestedEffect{Op: 1}}))(t)
	w.Track(service.Update{Record: &journal.Record{Kind: run.KindCompletion, Data: raw}, Used: assistant.Usage{Input: 20,
		Output: 5}})
	assert.Equal(t, w.Line(began, began, 80, ""), "0 s · Optimist · 25 tokens")
	w.Track(service.Update{Step: &service.Step{Withdrawn: []uint64{2}}})
	assert.That(t, w.What() == "", "%q is under way", w.What())
}
