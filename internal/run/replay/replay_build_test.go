package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
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
	return w.engine(untouched{store, w.t}, "other build", func(c *run.Config) {
		reg, err := bt.NewRegistry(append(leaves()[1:], do)...)
		if err != nil {
			w.t.Fatal(err)
		}
		c.Assistants[0].Registry = reg
	})
}

func TestReplayInAnotherBuildTellsWhereThatBuildDecidesOtherwise(t *testing.T) {
	const three = `<Sequence name="%s"><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/><Do what="r:c" got="{got}"/></Sequence>`
	bee := func(name string) (string, string) { return "read " + name, strings.Replace(name, "b", "bee", 1) }
	for name, c := range map[string]struct {
		was, would string
		change     func(string) (string, string)
		want       []string
	}{
		"through its own tree":     {three, "", bee, []string{`2 request Do: name "b"→"bee"`, `8 outcome outcome.got: "A B C"→"C"`}},
		"through another like it":  {three, strings.ReplaceAll(three, "%s", "x"), bee, []string{`2 request Do: name "b"→"bee"`, `8 outcome outcome.got: "A B C"→"C"`}},
		"through one that ends":    {three, `<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`, bee, []string{`2 request Do: name "b"→"bee"`, `4 decision -read c RUNNING→SUCCESS`}},
		"with other labels only":   {three, "", func(name string) (string, string) { return "look up " + name, name }, []string{`8 outcome outcome.got: "A B C"→"C"`}},
		"with fewer effects":       {`<Do what="r:a r:b" got="{got}"/>`, "", func(string) (string, string) { return "read a", "a" }, []string{`0 decision -read b`}},
		"with a withdrawn request": {`<Fallback><Timeout msec="1000"><Do what="r:slow" got="{k}"/></Timeout><Do what="r:b" got="{got}"/></Fallback>`, "", bee, []string{`2 request Do: name "b"→"bee"`}},
		"with the same asked for twice": {`<Parallel><Do what="r:b" got="{b}"/><Do what="r:b" got="{got}"/></Parallel>`, "", bee,
			[]string{`0 request Do: name "b"→"bee" Do: name "b"→"bee"`}},
		"with a request of which only the label is known": {`<Fallback><Parallel><Do what="r:b" got="{b}"/><Timeout msec="1000"><Do what="r:slow" got="{k}"/></Timeout></Parallel><Add add="late" got="{got}"/></Fallback>`, "", bee,
			[]string{`0 request Do: name "b"→"bee"`}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.takes("slow", 5*time.Second)
				store := newStore(t)
				live := start(t, w.engine(store, "one"), strings.ReplaceAll(c.was, "%s", "x"))
				wait(t, live)
				o := run.ReplayOptions{PastFirst: true}
				if c.would != "" {
					o.TreeFile, o.Tree = "changed.xml", []byte(tree(c.would))
				}
				found, err := w.otherBuild(store, c.change).Replay(t.Context(), ada, live.ID, o)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "differences", tell(found), c.want)
				same(t, "where it ended", found.Reached, run.ReachedEnd)
			})
		})
	}
}

// styled is a process whose effects send the run's text "style" beside their payload; build is how it composes it.
func (w *world) styled(store journal.Store, build string) *run.Engine {
	perform := func(ctx context.Context, job run.Job) (any, error) {
		style, err := job.View.Text(ctx, "style")
		return build + string(style), err
	}
	w.do["a"], w.do["b"] = perform, perform
	return w.engine(store, "styled "+build, func(c *run.Config) {
		c.Assistants[0].Sends = func(ctx context.Context, v *run.View, r run.CompletionRecord) (was, would run.Sent, err error) {
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
	live, err := w.styled(store, "").Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
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
		want         *run.ChangedSending
	}{
		"nothing else":             {"", "", nil},
		"the same text":            {"", "plain words", nil},
		"other words":              {"", "plain speech", &run.ChangedSending{Parts: []run.ChangedPart{{Name: "word 1", Was: 5, Would: 6}}}},
		"a word fewer":             {"", "plain", &run.ChangedSending{Parts: []run.ChangedPart{{Name: "word 1", Was: 5}}}},
		"a word more":              {"", "plain words more", &run.ChangedSending{Parts: []run.ChangedPart{{Name: "word 2", Would: 4}}}},
		"what can't be composed":   {"", "unspeakable", &run.ChangedSending{Why: "no style"}},
		"another build":            {"loud ", "", &run.ChangedSending{Build: true, Parts: []run.ChangedPart{{Name: "word 0", Would: 5}, {Name: "word 1", Would: 5}}}},
		"another build and a word": {"loud ", "plain words more", &run.ChangedSending{Build: true, Parts: []run.ChangedPart{{Name: "word 2", Would: 4}}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := run.ReplayOptions{PastFirst: true}
			if c.style != "" {
				o.Texts = texts("style", c.style)
			}
			found, err := w.styled(untouched{store, t}, c.build).Replay(t.Context(), ada, live.ID, o)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				same(t, "differences", tell(found), nil)
				return
			}
			same(t, "differences", tell(found), []string{"0 sending", "2 sending"})
			got := found.Differences[0].Sent[0]
			same(t, "label", got.Request.Label, "read a")
			same(t, "parts", got.Parts, c.want.Parts)
			same(t, "build and why", fmt.Sprint(got.Build, got.Why), fmt.Sprint(c.want.Build, c.want.Why))
		})
	}
	_, err = w.styled(untouched{store, t}, "").Replay(t.Context(), ada, live.ID, run.ReplayOptions{Texts: texts("manner", "x")})
	if !errors.Is(err, run.ErrUnfit) || !strings.Contains(err.Error(), "keeps no text manner") {
		t.Errorf("a text that the run has not gives %v", err)
	}
}

func TestReplayOfAnOpenRunWhoseTreeDoesNotLoadTellsNothingOfItsLastStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		store := newStore(t)
		id := crash(t, w, store, `<Fallback><Never/><Do what="r:a" got="{got}"/></Fallback>`, 2, false)
		same(t, "records", kinds(records(t, store, id)), []string{"start"})
		e := w.engine(untouched{store, t}, "two", func(c *run.Config) {
			var kept []bt.Leaf
			for _, l := range leaves() {
				if l.Name != "Never" {
					kept = append(kept, l)
				}
			}
			reg, err := bt.NewRegistry(kept...)
			if err != nil {
				t.Fatal(err)
			}
			c.Assistants[0].Registry = reg
		})
		found, err := e.Replay(t.Context(), ada, id, run.ReplayOptions{TreeFile: "changed.xml", Tree: []byte(tree(`<Do what="r:a" got="{got}"/>`))})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "differences", tell(found), nil)
		same(t, "where it ended", found.Reached, run.ReachedOpen)
	})
}
