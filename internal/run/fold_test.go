package run_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

func TestFoldingARunsRecordsGivesItsStateAndTraces(t *testing.T) {
	for name, body := range map[string]string{
		"effects":   longTree,
		"time":      `<Sequence><Delay delay_msec="1500"><Do what="r:a" got="{got}"/></Delay><Timeout msec="700"><Delay delay_msec="9000"><AlwaysSuccess/></Delay></Timeout></Sequence>`,
		"a failure": `<Fallback><Do what="r:a x:b" got="{got}"/><Do what="x:c" lenient="true" got="{got}"/></Fallback>`,
		"a stop":    `<Parallel><Do what="r:a w:b" got="{got}"/><Do what="r:held" got="{c}"/></Parallel>`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				store := newStore(t)
				var state []byte
				w.outcome = func(v *run.View, e run.Ending) (journal.Status, any) {
					var err error
					if state, err = e.Tree.Encode(e.State); err != nil {
						t.Error(err)
					}
					return outcomeOf(v, e)
				}
				defer w.holds("held", false)()
				live := start(t, w.engine(store, "one"), body)
				synctest.Wait()
				if name == "a stop" {
					live.Cancel("enough")
				}
				wait(t, live)
				recs := records(t, store, live.ID)
				again, steps, err := w.engine(store, "two").Refold(t.Context(), ada, recs)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "state", string(again), string(state))
				told, err := run.Explain(recs)
				if err != nil {
					t.Fatal(err)
				}
				same(t, "traces", steps, told)
			})
		})
	}
}

func TestTraceShowsValuesTheSameWayEveryTime(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	a := w.assistant()
	type nested struct{ Names *[]string }
	type out struct {
		Value nested `port:"value"`
	}
	point := bt.Func("Point", "writes a value that holds a pointer", func(_ struct{}, o *out) error {
		o.Value.Names = &[]string{"x", "y"}
		return nil
	})
	var err error
	if a.Registry, err = bt.NewRegistry(append(leaves(), point)...); err != nil {
		t.Fatal(err)
	}
	live := start(t, w.engine(store, "one", func(c *run.Config) { c.Assistants = []*run.Assistant{a} }), `<Point value="{v}"/>`)
	wait(t, live)
	steps, err := run.Explain(records(t, store, live.ID))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "events", steps[0].Events, []run.TraceEvent{
		{Path: "Main", Key: "v", Value: `{"Names":["x","y"]}`}, {Path: "Main", Status: "SUCCESS"}})
}

func TestTraceNamesAnEffectWithoutLabelByItsKind(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	live := start(t, w.engine(store, "one"), `<Do what="r:a r:" got="{got}"/>`)
	wait(t, live)
	steps, err := run.Explain(records(t, store, live.ID))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "what was asked for", steps[0].Start, []string{"read a", "read"})
}

func TestNotesOfATraceAreShortAndClean(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"short":             {"a word", "a word"},
		"just short enough": {strings.Repeat("ä", 160), strings.Repeat("ä", 160)},
		"too long":          {strings.Repeat("ä", 161), strings.Repeat("ä", 159) + "…"},
		"far too long":      {strings.Repeat("\U0001F600", 5000), strings.Repeat("\U0001F600", 159) + "…"},
		"not UTF-8":         {"a\xff\xfeb", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.assistant()
			type out struct {
				Value string `port:"value"`
			}
			var err error
			a.Registry, err = bt.NewRegistry(bt.Func("Write", "writes a text", func(_ struct{}, o *out) error { o.Value = c.value; return nil }))
			if err != nil {
				t.Fatal(err)
			}
			store := newStore(t)
			live := start(t, w.engine(store, "one", func(c *run.Config) { c.Assistants = []*run.Assistant{a} }), `<Write value="{v}"/>`)
			wait(t, live)
			steps, err := run.Explain(records(t, store, live.ID))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "value", steps[0].Events[0].Value, c.want)
		})
	}
}

func TestJournalThatIsDamagedIsToldAndLeftAlone(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	defer w.holds("a", false)()
	whole := start(t, w.engine(store, "whole"), `<Do what="r:a" got="{got}"/>`)
	begun := records(t, store, whole.ID)[0]
	whole.Cancel("enough")
	wait(t, whole)
	then := func(kind, data string) []journal.Record {
		return []journal.Record{begun, {Seq: 1, Kind: kind, Data: json.RawMessage(data)}}
	}
	cases := map[string][]journal.Record{
		"no record":            nil,
		"no start":             {{Kind: run.KindTime, Data: json.RawMessage(`{}`)}},
		"a start that is none": {{Kind: run.KindStart, Data: json.RawMessage(`[`)}},
		"an unknown kind":      then("dream", `{}`),
	}
	for _, kind := range []string{run.KindCompletion, run.KindMark, run.KindTime, run.KindResume, run.KindCancel, run.KindStopped, run.KindTrace} {
		cases["a "+kind+" that is none"] = then(kind, `{"op":`)
	}
	for name, recs := range cases {
		t.Run(name, func(t *testing.T) {
			id := "run with " + name
			if err := store.Begin(t.Context(), journal.Beginning{Run: journal.Run{ID: id, Session: session, Owner: ada}, Records: recs}); err != nil {
				t.Fatal(err)
			}
			if _, err := w.engine(store, "one").Resume(t.Context(), ada, id); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("resuming gives %v", err)
			}
			same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "")
			_, err := run.Explain(recs)
			same(t, "whether explaining fails", err != nil, strings.HasPrefix(name, "a "+run.KindTrace))
		})
	}
}
