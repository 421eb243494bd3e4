package run_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

// otherBuild has a leaf Do that asks for one thing only, and otherwise: as change says.
func (w *world) otherBuild(store journal.Store, change func(name string) (label, other string)) *run.Engine {
	w.t.Helper()
	type in struct {
		What    string `port:"what"`
		Lenient bool   `port:"lenient" default:"false"`
	}
	type out struct {
		Got string `port:"got"`
	}
	do := bt.Task("Do", "asks otherwise", func(i in) ([]bt.Request, error) {
		_, name, _ := strings.Cut(i.What, ":")
		label, other := change(name)
		return []bt.Request{{Kind: "read", Label: label, Payload: payload{other}}}, nil
	}, func(_ in, done []bt.Completion, o *out) error {
		if done[0].Err != nil {
			return done[0].Err
		}
		return json.Unmarshal(done[0].Result, &o.Got)
	})
	return w.engine(untouched(w.t, store), "other build", w.with(append(leaves()[1:], do)...))
}

func TestReplayInAnotherBuildTellsWhereThatBuildDecidesOtherwise(t *testing.T) {
	const three = `<Sequence name="%s"><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`
	bee := func(name string) (string, string) { return "read " + name, strings.Replace(name, "b", "bee", 1) }
	for name, c := range map[string]struct {
		was, would string
		change     func(string) (string, string)
		want       []string
		reach      replay.Reach // "": the end
	}{
		"through its own tree": {three, "", bee, []string{`1 request Do: name "b"→"bee"`,
			`5 outcome outcome.got: "A B C"→"C"`}, ""},
		"through another like it": {three, strings.ReplaceAll(three, "%s", "x"), bee,
			[]string{`1 request Do: name "b"→"bee"`, `5 outcome outcome.got: "A B C"→"C"`}, ""},
		"through one that ends": {three,
			`<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`, bee,
			[]string{`1 request Do: name "b"→"bee"`, `2 decision -read c RUNNING→SUCCESS`}, ""},
		"with other labels only": {three, "", func(name string) (string, string) {
			return "look up " + name, name
		}, []string{`5 outcome outcome.got: "A B C"→"C"`}, ""},
		"with fewer effects": {`<Do what="r:a r:b" got="{got}"/>`, "", func(string) (string, string) {
			return "read a", "a"
		}, []string{`0 decision -read b`}, replay.ReachedCut},
		"with a withdrawn request": {
			`<Fallback><Timeout msec="1000"><Do what="r:slow" got="{k}"/></Timeout><Do what="r:b" got="{got}"/></Fallback>`, "", bee, []string{`1 request Do: name "b"→"bee"`}, ""},
		"with another request that was withdrawn": {
			`<Fallback><Timeout msec="1000"><Do what="r:slow" got="{k}"/></Timeout><Add add="late" got="{got}"/></Fallback>`, "",
			func(name string) (string, string) { return "read " + name, name + "er" }, []string{`0 request`}, ""},
		"with the same asked for twice": {`<Parallel><Do what="r:b" got="{b}"/><Do what="r:b" got="{got}"/></Parallel>`,
			"", bee,
			[]string{`0 request Do: name "b"→"bee" Do: name "b"→"bee"`}, ""},
		"with a request whose withdrawn neighbour is the same": {
			`<Fallback><Parallel><Do what="r:b" got="{b}"/><Timeout msec="1000"><Do what="r:slow" got="{k}"/></Timeout></Parallel><Add add="late" got="{got}"/></Fallback>`, "", bee,
			[]string{`0 request Do: name "b"→"bee"`}, ""},
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			w.takes("slow", 5*time.Second)
			store := newStore(t)
			live := start(t, w.engine(store, "one"), strings.ReplaceAll(c.was, "%s", "x"))
			wait(t, live)
			found := mustReplayBy(t, w.otherBuild(store, c.change), live.ID, c.would, pastFirst)
			same(t, "differences", tell(found), c.want)
			same(t, "where it ended", found.Reached, cmp.Or(c.reach, replay.ReachedEnd))
			for _, d := range found.Differences {
				for _, r := range d.Requests {
					assert.That(t, !bytes.Equal(r.Was.Payload, r.Would.Payload),
						"the recorded request is told to be %s, as this build would ask", r.Was.Payload)
				}
			}
		})
	}
}

func TestReplayOfAnOpenRunInAnotherBuildDoesNotTakeItsDecisionsForThatBuilds(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Sequence><Do what="r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`,
			3, false)
		same(t, "records", kinds(records(t, store, id)), []string{"start", "completion"})
		found := mustReplayBy(t, w.otherBuild(store, func(name string) (string, string) {
			return "read " + name, name + "ee"
		}), id, "")
		same(t, "differences", tell(found), nil)
		same(t, "why it ended", found.Why, "no recorded completion for read b (Do)")
	})
}

// styled is a process whose effects send the run's text "style" beside their payload; build is how it composes it.
func (w *world) styled(store journal.Store, build string) *run.Engine {
	perform := func(ctx context.Context, job run.Job) (any, error) {
		style, err := job.View.Text(ctx, "style")
		return build + string(style), err
	}
	w.do["a"], w.do["b"] = perform, perform
	return w.engine(store, "styled "+build, func(c *run.Config) {
		c.Assistants[0].Sends = func(ctx context.Context, v *run.View, r *run.CompletionRecord) (was, would run.Sent,
			err error) {
			if err := json.Unmarshal(r.Result, &was.Hash); err != nil {
				return was, would, err
			}
			style, err := v.Text(ctx, "style")
			if err != nil || string(style) == "unspeakable" {
				return was, would, errors.Join(err, errors.New("no style"))
			}
			for i, word := range strings.Fields(string(style)) {
				would.Parts = append(would.Parts, run.Part{Name: fmt.Sprint("word ", i), Hash: word, Tokens: len(word)})
			}
			would.Hash = build + string(style)
			return was, would, nil
		}
	})
}

func TestReplayTellsWhatElseWouldBeSent(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	defer w.holds("held", false)()
	s := spec(`<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/><ForceSuccess><Timeout msec="1"><Do what="r:held" got="{got}"/></Timeout></ForceSuccess></Sequence>`)
	s.Texts = []run.Text{{Name: "style", Content: []byte("plain words")}}
	live := assert.Must(w.styled(store, "").Start(t.Context(), s))(t)
	wait(t, live)
	texts := func(name, content string) func(context.Context, *run.View) ([]run.Text, error) {
		return func(ctx context.Context, v *run.View) ([]run.Text, error) {
			old, err := v.Text(ctx, "style")
			same(t, "the text as it was", string(old), "plain words")
			return []run.Text{{Name: name, Content: []byte(content)}}, err
		}
	}
	for name, c := range map[string]struct {
		build, style string
		want         *replay.ChangedSending
	}{
		"nothing else":  {"", "", nil},
		"the same text": {"", "plain words", nil},
		"other words": {"", "plain speech",
			&replay.ChangedSending{Parts: []replay.ChangedPart{{Name: "word 1",
				Change: replay.PartChanged, Was: 5, Would: 6}}}},
		"a word fewer": {"", "plain",
			&replay.ChangedSending{Parts: []replay.ChangedPart{{Name: "word 1", Change: replay.PartRemoved, Was: 5}}}},
		"a word more": {"", "plain words more",
			&replay.ChangedSending{Parts: []replay.ChangedPart{{Name: "word 2", Change: replay.PartAdded, Would: 4}}}},
		"what can't be composed": {"", "unspeakable", &replay.ChangedSending{Why: "no style"}},
		"another build": {"loud ", "", &replay.ChangedSending{Build: true,
			Parts: []replay.ChangedPart{{Name: "word 0", Change: replay.PartAdded, Would: 5},
				{Name: "word 1", Change: replay.PartAdded, Would: 5}}}},
		"another build and a word": {"loud ", "plain words more", &replay.ChangedSending{Build: true,
			Parts: []replay.ChangedPart{{Name: "word 2", Change: replay.PartAdded, Would: 4}}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := replay.Options{PastFirst: true}
			if c.style != "" {
				o.Texts = texts("style", c.style)
			}
			found := assert.Must(replay.Run(t.Context(), w.styled(untouched(t, store), c.build), ada, live.ID, o))(t)
			if c.want == nil {
				same(t, "differences", tell(found), nil)
				return
			}
			same(t, "differences", tell(found), []string{"0 sending", "1 sending"})
			got := found.Differences[0].Sent[0]
			same(t, "label", got.Request.Label, "read a")
			same(t, "parts", got.Parts, c.want.Parts)
			same(t, "build and why", fmt.Sprint(got.Build, got.Why), fmt.Sprint(c.want.Build, c.want.Why))
		})
	}
	_, err := replay.Run(t.Context(), w.styled(untouched(t, store), ""), ada, live.ID,
		replay.Options{Texts: texts("manner", "x")})
	assert.That(t, errors.Is(err, run.ErrUnfit) && strings.Contains(err.Error(), "keeps no text manner"),
		"a text that the run has not gives %v", err)
}

// A hash of the prompt says nothing of the tools that go with it.
func TestReplayTellsWhichToolsWouldBeSentOtherwise(t *testing.T) {
	part := func(kind, name, hash string) run.Part { return run.Part{Kind: kind, Name: name, Hash: hash, Tokens: 3} }
	was := []run.Part{part("segment", "read", "1"), part("tool", "read", "1"), part("tool", "find", "1")}
	for name, c := range map[string]struct {
		would []run.Part
		want  []replay.ChangedPart
	}{
		"the same tools":    {was, nil},
		"nobody knows them": {nil, nil},
		"another schema": {[]run.Part{was[0], part("tool", "read", "2"), was[2]},
			[]replay.ChangedPart{{Kind: "tool", Name: "read", Change: replay.PartChanged, Was: 3, Would: 3}}},
		"a schema of no hash": {[]run.Part{was[0], part("tool", "read", ""), was[2]}, nil},
		"another tool": {[]run.Part{was[0], was[1], part("tool", "fetch", "1")}, []replay.ChangedPart{
			{Kind: "tool", Name: "find", Change: replay.PartRemoved, Was: 3},
			{Kind: "tool", Name: "fetch", Change: replay.PartAdded, Would: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := newStore(t)
			live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
			wait(t, live)
			e := w.engine(untouched(t, store), "two", func(cfg *run.Config) {
				cfg.Assistants[0].Sends = func(context.Context, *run.View, *run.CompletionRecord) (recorded,
					composed run.Sent, err error) {
					return run.Sent{Hash: "prompt", Parts: was}, run.Sent{Hash: "prompt", Parts: c.would}, nil
				}
			})
			found := mustReplayBy(t, e, live.ID, "")
			var got []replay.ChangedPart
			for _, d := range found.Differences {
				same(t, "kind", d.Kind, replay.OtherSending)
				got = append(got, d.Sent[0].Parts...)
			}
			same(t, "parts", got, c.want)
		})
	}
}

// Such a run has no trace: what it decided is known only to a build that can fold it.
func TestReplayOfARunThatAnotherBuildEnded(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store,
			`<Sequence><Do what="r:a" got="{got}"/><Add add="!" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`,
			3, false)
		assert.NoError(t, w.engine(store, "next", w.lacking("Add")).Cancel(t.Context(), ada, id, "enough"))
		same(t, "records", kinds(records(t, store, id)), []string{"start", "completion", "cancel", "stopped", "end"})
		for name, c := range map[string]struct {
			e    *run.Engine
			want []string
		}{
			"in its own build": {w.engine(untouched(t, store), "own"), []string{`1 request Do: name "b"→"c"`}},
			"in the next":      {w.engine(untouched(t, store), "other", w.lacking("Add")), nil},
		} {
			found := mustReplayBy(t, c.e, id,
				`<Sequence><Do what="r:a" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`)
			found.Differences = slices.DeleteFunc(found.Differences, func(d replay.Difference) bool {
				return d.Kind == replay.OtherOutcome
			})
			same(t, "differences "+name, tell(found), c.want)
		}
	})
}

func TestReplayOfAnOpenRunWhoseTreeDoesNotLoadTellsNothingOfItsLastStep(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, `<Fallback><Never/><Do what="r:a" got="{got}"/></Fallback>`, 2, false)
		same(t, "records", kinds(records(t, store, id)), []string{"start"})
		e := w.engine(untouched(t, store), "two", w.lacking("Never"))
		found := mustReplayBy(t, e, id, `<Do what="r:a" got="{got}"/>`)
		same(t, "differences", tell(found), nil)
		same(t, "where it ended", found.Reached, replay.ReachedOpen)
	})
}
