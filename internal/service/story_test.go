package service

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
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
