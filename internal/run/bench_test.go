package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
	"sibyl/internal/store/teststore"
)

// threeTurns is a run of three turns and two calls: seven writes to the journal.
const threeTurns = `<Sequence>
	<Script code="first:=true"/>
	<Hear what="turn" got="{got}"/>
	<Fallback><ScriptCondition code="first==false"/><Hear what="call" got="{got}"/></Fallback>
	<Sequence><ScriptCondition code="first"/><Hear what="turn" got="{got}"/></Sequence>
	<Hear what="call" got="{got}"/>
	<Sequence><Add add="." got="{got}"/><Hear what="turn" got="{got}"/></Sequence>
</Sequence>`

// bench is a world of reads that answer at once: a turn with half a kilobyte, a call with what it read.
func bench(b *testing.B, read int) (*run.Engine, journal.Store) {
	b.Helper()
	store := journaltest.Await(teststore.Empty(b), journal.Session{ID: session, Owner: ada})
	type in struct {
		What string `port:"what"`
	}
	type out struct {
		Got string `port:"got"`
	}
	// As assistants do, it keeps where the receipt is, not what it holds.
	hear := bt.Task("Hear", "asks for one effect", func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: "read", Label: "read " + i.What, Payload: payload{i.What}}}, nil
	}, func(_ in, done []bt.Completion, o *out) error {
		o.Got = strings.TrimSpace(fmt.Sprint(o.Got, " ", done[0].Ref))
		return nil
	})
	known, err := bt.NewLeaves(append(leaves(), hear)...)
	if err != nil {
		b.Fatal(err)
	}
	answers := map[string]string{"turn": strings.Repeat("a word. ", 64), "call": strings.Repeat("func f() { return \"x\" }\n", read/24)}
	perform := func(_ context.Context, job run.Job) (any, error) {
		job.Emit(run.Piece{Text: "a word"})
		return answers[strings.TrimPrefix(job.Effect.Label, "read ")], nil
	}
	a := &run.Assistant{Name: "tester", Leaves: known, Options: bt.Options{Given: []bt.Port{{Name: "what", Type: textType}}},
		Open: func(context.Context, *run.View) (map[string]run.Performer, func(), error) {
			return map[string]run.Performer{"read": {Do: perform}}, nil, nil
		}, Outcome: outcomeOf}
	e, err := run.NewEngine(run.Config{Store: store, Assistants: []*run.Assistant{a}, Build: "bench", Holder: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	return e, store
}

// BenchmarkRun is the engine's own share of a run: no model, no tool, no disk.
func BenchmarkRun(b *testing.B) {
	for _, read := range []int{1 << 10, 16 << 10} {
		b.Run(fmt.Sprintf("calls-of-%dKB", read>>10), func(b *testing.B) {
			e, _ := bench(b, read)
			s := spec(threeTurns)
			b.ReportAllocs()
			for b.Loop() {
				live, err := e.Start(b.Context(), s)
				if err != nil {
					b.Fatal(err)
				}
				if end, err := live.Wait(b.Context()); err != nil || end.Status != journal.Done {
					b.Fatal(end, err)
				}
			}
		})
	}
}

// BenchmarkResume folds a run that only lacks its end.
func BenchmarkResume(b *testing.B) {
	e, store := bench(b, 16<<10)
	live, err := e.Start(b.Context(), spec(threeTurns))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := live.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	recs, err := store.Records(b.Context(), ada, live.ID, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		id := fmt.Sprintf("again-%d", i)
		err := store.Begin(b.Context(), journal.Beginning{Run: journal.Run{ID: id, Session: session, Owner: ada, StartedAt: time.Now()}, Records: recs[:len(recs)-2]})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		again, err := e.Resume(b.Context(), ada, id)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := again.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
