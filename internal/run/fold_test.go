package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

func TestTraceShowsWhatALeafTells(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	type out struct {
		Value string     `port:"value"`
		Tell  []bt.Typed `port:",events"`
	}
	point := bt.Func("Point", "tells of what it points to", func(_ struct{}, o *out) error {
		o.Tell = []bt.Typed{pointed{&[]string{"x", "y"}}}
		return nil
	})
	live := start(t, w.engine(store, "one", w.with(append(leaves(), point)...)), `<Point value="{v}"/>`)
	wait(t, live)
	steps := assert.Must(run.ReadTrace(records(t, store, live.ID)))(t)
	same(t, "events", steps[0].Events, []run.TraceEvent{
		{Rule: "Main/Point", Type: "pointed", Data: json.RawMessage(`{"Names":["x","y"]}`)},
		{Rule: "Main/Point", Status: "SUCCESS"}})
}

// pointed is an event that holds a pointer.
type pointed struct{ Names *[]string }

func (pointed) EventType() string { return "pointed" }

func TestTraceNamesAnEffectWithoutLabelByItsKind(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	live := start(t, w.engine(store, "one"), `<Do what="r:a r:" got="{got}"/>`)
	wait(t, live)
	steps := assert.Must(run.ReadTrace(records(t, store, live.ID)))(t)
	var names []string
	for i, a := range steps[0].Start {
		names = append(names, a.Name())
		assert.That(t, a.Op == uint64(i+1) && a.Leaf == "Do" && a.Kind == "read" && a.Digest != "", "%+v", a)
	}
	same(t, "what was asked for", names, []string{"read a", "read"})
}

func TestTextsOfATraceAreShortAndClean(t *testing.T) {
	for name, c := range map[string]struct{ value, want string }{
		"short":             {"a word", "a word"},
		"just short enough": {strings.Repeat("ä", 160), strings.Repeat("ä", 160)},
		"too long":          {strings.Repeat("ä", 161), strings.Repeat("ä", 159) + "…"},
		"far too long":      {strings.Repeat("\U0001F600", 5000), strings.Repeat("\U0001F600", 159) + "…"},
		"not UTF-8":         {"a\xff\xfeb", "a\uFFFDb"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := localStore(t)
			say := bt.Check("Say", "says why", func(struct{}) (bool, string) { return true, c.value })
			live := start(t, w.engine(store, "one", w.with(say)), `<Say/>`)
			wait(t, live)
			steps := assert.Must(run.ReadTrace(records(t, store, live.ID)))(t)
			same(t, "reason", steps[0].Events[0].Reason, c.want)
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
	for _, kind := range []string{run.KindCompletion, run.KindMark, run.KindTime, run.KindResume, run.KindCancel,
		run.KindStopped, run.KindTrace, run.KindEnd} {
		cases["a "+kind+" that is none"] = then(kind, `{"op":`)
	}
	for name, recs := range cases {
		t.Run(name, func(t *testing.T) {
			id := "run with " + name
			assert.NoError(t, store.Begin(t.Context(), journal.Beginning{Run: journal.Run{ID: id, Session: session, Owner: ada},
				Records: recs}))
			if _, err := w.engine(store, "one").Resume(t.Context(), ada, id); !errors.Is(err, journal.ErrCorrupt) {
				t.Errorf("resuming gives %v", err)
			}
			same(t, "holder of the lease", statusOf(t, store, id).LeaseHolder, "")
			_, err := w.engine(store, "one").Explain(t.Context(), ada, id)
			same(t, "whether explaining fails", errors.Is(err, journal.ErrCorrupt), true)
			_, err = w.replay(store, id, "")
			same(t, "whether replaying fails", errors.Is(err, journal.ErrCorrupt), true)
		})
	}
}

func TestResultIsReadFromItsRecord(t *testing.T) {
	type heard struct {
		Text   string `json:"text"`
		byHand bool
	}
	for name, c := range map[string]struct{ given, want heard }{
		"it says the same":      {heard{"as it is", true}, heard{Text: "as it is"}},
		"it is no text":         {heard{"a\xffb", true}, heard{Text: "a\ufffdb"}},
		"a secret was redacted": {heard{"hunter2", true}, heard{Text: "[secret]"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.do["a"] = func(context.Context, run.Job) (any, error) { return c.given, nil }
			var got any
			e := w.engine(localStore(t), "one", func(cfg *run.Config) {
				cfg.Redact = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[secret]")) }
				cfg.Assistants[0].Effects = map[string]run.EffectType{"read": run.EffectOf[payload, heard]()}
				cfg.Assistants[0].Outcome = func(v *run.View, e run.Ending) run.Outcome {
					for _, receipt := range v.Receipts() {
						got = receipt.Value
					}
					return w.outcome(v, e)
				}
			})
			wait(t, start(t, e, `<Do what="r:a" got="{got}" lenient="true"/>`))
			assert.That(t, got == any(c.want), "the result is %+v, not %+v", got, c.want)
		})
	}
}

func TestTraceThatIsTooLargeKeepsItsFirstSteps(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	type out struct {
		Tell []bt.Typed `port:",events"`
	}
	words := []string{strings.Repeat("word ", 300_000)}
	tell := bt.Func("Tell", "tells much", func(_ struct{}, o *out) error {
		o.Tell = []bt.Typed{pointed{&words}}
		return nil
	})
	body := `<Sequence>` + strings.Repeat(`<Do what="r:a" got="{got}"/><Tell/>`, 12) + `</Sequence>`
	live := start(t, w.engine(store, "one", w.with(append(leaves(), tell)...)), body)
	end, _ := wait(t, live)
	same(t, "status", end.Status, journal.Done)
	steps, err := run.ReadTrace(records(t, store, live.ID))
	assert.That(t, err == nil && len(steps) != 0 && len(steps) < 13, "%d steps are kept, error %v", len(steps), err)
}
