package service

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
)

type asked struct{ Name, In string }

func (asked) EventType() string { return "asked" }
func (e asked) Story() bt.Why   { return bt.Because(e.Name) }
func (e asked) InRun() string   { return e.In }

type inside struct{}

func (inside) EventType() string { return "inside" }

func TestStoryTellsWhatLeavesNarrateAndHowLongItTook(t *testing.T) {
	begin := time.Unix(1000, 0)
	told := func(name string) Event {
		data := assert.Must(json.Marshal(asked{Name: name, In: map[string]string{"two": "0other"}[name]}))(t)
		return Event{TraceEvent: run.TraceEvent{Type: "asked", Data: data}, Why: bt.Because(name)}
	}
	step := func(ms int, op uint64, started []run.RequestedEffect, events ...Event) Step {
		return Step{At: begin.Add(time.Duration(ms) * time.Millisecond), Op: op, Started: started, Events: events}
	}
	x := Explanation{Run: Row{Run: journal.Run{Title: "Who?", StartedAt: begin, Status: journal.Done}},
		Shown: &assistant.Shown{Question: "Who is it?", Came: []bt.Why{bt.Because("the end")}},
		Steps: []Step{
			step(0, 0, []run.RequestedEffect{{Op: 7}}, told("one"), Event{TraceEvent: run.TraceEvent{Type: "inside"}},
				Event{TraceEvent: run.TraceEvent{Status: "SUCCESS"}}, told("")),
			step(500, 7, []run.RequestedEffect{{Op: 8}, {Op: 9}}, told("two"), told("three")),
			step(900, 9, nil, Event{TraceEvent: run.TraceEvent{Type: "inside"}}), // told of nothing: three lasts longer
			step(1500, 8, nil, told("four")),
		}}
	x.addStory(run.NewVocabulary(asked{}, inside{}))
	x.addEnding()
	want := []Told{
		{Step: 1, Why: storyAsked.With("Who is it?")}, {Step: 1, Why: bt.Because("one")},
		{Step: 2, Took: 500, Why: bt.Because("two"), Run: "0other"},
		{Step: 2, From: 500, Took: 400, Why: bt.Because("three")}, {Step: 4, From: 500, Took: 1000,
			Why: bt.Because("four")}, {Step: 4, From: 1500, End: true, Why: bt.Because("the end")},
	}
	assert.Same(t, want, x.Story)
}

func TestStoryEndsWithWhyItEndedOrWaits(t *testing.T) {
	failed := &assistant.Shown{Failure: &assistant.Failure{Message: "no money"}, Came: []bt.Why{bt.Because("not told")}}
	for _, c := range []struct {
		what  string
		x     Explanation
		wants []bt.Why
	}{
		{"goes on", Explanation{Run: Row{Run: journal.Run{Status: journal.Running}}}, nil},
		{"waits", Explanation{Run: Row{Run: journal.Run{Status: journal.Running}}, waitReason: bt.Because("no answer yet")},
			[]bt.Why{storyWaits.With("no answer yet")}},
		{"stopped", Explanation{Run: Row{Run: journal.Run{Status: journal.Cancelled}}, Shown: failed},
			[]bt.Why{storyStopped.With()}},
		{"failed", Explanation{Run: Row{Run: journal.Run{Status: journal.Failed}}, Shown: failed},
			[]bt.Why{storyEnded.With("no money")}},
		{"failed, of another build", Explanation{Run: Row{Run: journal.Run{Status: journal.Failed}},
			Ending: []string{"broken"}}, []bt.Why{storyEnded.With("broken")}},
	} {
		c.x.addEnding()
		var got []bt.Why
		for _, line := range c.x.Story {
			got = append(got, line.Why)
		}
		assert.NoDiff(t, cmp.Diff(c.wants, got), "%s", c.what)
	}
}

func TestWhatLeftIsAddedUpByPlace(t *testing.T) {
	got := sumByPlace([]assistant.Left{{Kind: "model", To: "m", Bytes: 10, Tokens: 3}, {Kind: "address", To: "a"},
		{Kind: "model", To: "m", Bytes: 5, Tokens: 1}, {Kind: "server", To: "m", Bytes: 1}})
	want := []Sent{{Kind: "model", To: "m", Times: 2, Bytes: 15, Tokens: 4}, {Kind: "address", To: "a", Times: 1},
		{Kind: "server", To: "m", Times: 1, Bytes: 1}}
	assert.Same(t, want, got)
}

func TestSourcesOfARunAreComparedWithTheirFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	text := "one\ntwo\nthe token SECRET\nfour \x1b[2J\nfive\nsix\nseven\neight\n"
	assert.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	s := &Service{config: Config{Redact: func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }}}
	read := assistant.Place{Cite: "a.go:3", File: file, Start: 3, End: 3, Hash: files.Hash([]byte(text)), Read: true,
		Cited: true}
	for name, c := range map[string]struct {
		change func(*assistant.Place)
		want   SourceState
	}{
		"as it was read": {func(*assistant.Place) {}, SourceSame},
		"changed": {func(p *assistant.Place) {
			p.Hash = files.Hash([]byte("before"))
		}, SourceChanged},
		"removed":                   {func(p *assistant.Place) { p.File += ".gone" }, SourceGone},
		"a folder by now":           {func(p *assistant.Place) { p.File = filepath.Dir(file) }, SourceGone},
		"never read":                {func(p *assistant.Place) { p.Read = false }, SourceUnread},
		"a page of the web":         {func(p *assistant.Place) { p.File = "" }, SourceKnown},
		"a file with no known hash": {func(p *assistant.Place) { p.Hash = "" }, SourceKnown},
	} {
		t.Run(name, func(t *testing.T) {
			p := read
			c.change(&p)
			got := s.checkSource(p, nil)
			assert.That(t, got.State == c.want, "%s, wanted %s", got.State, c.want)
		})
	}
	got := s.checkSource(read, nil)
	n := len(got.Lines)
	assert.Require(t, n == 6, "%d lines: %v", n, got.Lines)
	assert.Equalf(t, got.Lines[2], (Line{3, "the token ***", true}), "line 3")
	assert.Equalf(t, got.Lines[3], (Line{4, "four [2J", false}), "line 4")
}

// What no file shows by lines, or no longer does, is shown as the run read it: a page of a document, or lines of a file
// that is another by now.
func TestSourceThatItsFileDoesNotShowIsShownAsItWasRead(t *testing.T) {
	s := &Service{config: Config{Redact: func(text string) string { return strings.ReplaceAll(text, "SECRET", "***") }}}
	heard := []assistant.Passage{
		{Cite: "report.pdf pp. 2-3", Name: "report.pdf", Lines: []string{"two", "three"}},
		{Cite: "report.pdf p. 3", Name: "report.pdf", Lines: []string{"The bearing", "is SECRET."}},
		{Cite: "a.go:11-20", Name: "a.go", From: 11, Lines: strings.Split("11 12 13 14 15 16 17 18 19 20", " ")},
	}
	gone := filepath.Join(t.TempDir(), "a.go")
	for name, c := range map[string]struct {
		place assistant.Place
		want  []Line
	}{
		"a page": {assistant.Place{Cite: "report.pdf p. 3", Read: true},
			[]Line{{0, "The bearing", false}, {0, "is ***.", false}}},
		"a page that nobody read": {assistant.Place{Cite: "report.pdf p. 3"}, nil},
		"another page":            {assistant.Place{Cite: "report.pdf p. 9", Read: true}, nil},
		"lines of a file that is gone": {assistant.Place{Cite: "a.go:12", File: gone, Start: 12, End: 12, Read: true},
			[]Line{{11, "11", false}, {12, "12", true}, {13, "13", false}, {14, "14", false}, {15, "15", false}}},
		"lines that were not read": {assistant.Place{Cite: "a.go:21", File: gone, Start: 21, End: 21, Read: true},
			nil},
		"lines of a file of a like name": {assistant.Place{Cite: "data.go:12",
			File: gone, Start: 12, End: 12, Read: true}, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Same(t, c.want, s.checkSource(c.place, heard).Lines) })
	}
}
