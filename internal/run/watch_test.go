package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// seen is what a watcher saw: record kinds, and the text of each operation as it stands.
type seen struct {
	Kinds  []string
	Text   map[uint64]string
	Pieces int
}

func (s *seen) add(u run.Update) {
	if u.Record != nil {
		s.Kinds = append(s.Kinds, u.Record.Kind)
	}
	if u.Piece == nil {
		return
	}
	if s.Text == nil {
		s.Text = map[uint64]string{}
	}
	s.Pieces++
	if u.Piece.Retract {
		delete(s.Text, u.Piece.Op)
	}
	if u.Piece.Text != "" {
		s.Text[u.Piece.Op] += u.Piece.Text
	}
}

func watch(t *testing.T, live *run.Live, from int64) *seen {
	t.Helper()
	s := &seen{}
	for u := range live.Watch(t.Context(), from) {
		s.add(u)
	}
	return s
}

// streams makes a read say words, and take a second for each.
func (w *world) streams(name, words string) {
	w.do[name] = func(ctx context.Context, job run.Job) (any, error) {
		for word := range strings.FieldsSeq(words) {
			job.Emit(run.Piece{Text: word + " "})
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return words, nil
	}
}

func TestWatchersSeeRecordsAndTextFromWheneverTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.streams("a", "one two three four")
		live := start(t, w.engine(localStore(t), "one"),
			`<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`)
		want := &seen{Kinds: []string{"start", "completion", "completion", "trace", "end"},
			Text: map[uint64]string{1: "one two three four "}}
		var watchers [3]*seen
		var group sync.WaitGroup
		for i := range watchers {
			group.Go(func() {
				pass(time.Duration(i) * 2500 * time.Millisecond) // the last comes when all is over
				watchers[i] = watch(t, live, 0)
			})
		}
		group.Wait()
		for i, pieces := range []int{4, 2, 1} { // what was said before one came is one piece
			want.Pieces = pieces
			same(t, fmt.Sprintf("watcher %d", i), watchers[i], want)
		}
		same(t, "from record 3 on", watch(t, live, 3).Kinds, want.Kinds[3:])
		same(t, "from beyond the end on", watch(t, live, 99).Kinds, nil)
		for u := range live.Watch(t.Context(), 5) {
			assert.That(t, u.Step == nil || u.Step.Record >= 5, "from record 5 on, an earlier step was seen: %+v", u.Step)
		}
	})
}

func TestWatchersSeeWhatAStepDecidedBeforeTheNextInput(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, longTree, 5, false)
		live := resume(t, w.engine(store, "two"), id)
		var last int64
		var steps []run.TraceStep
		for u := range live.Watch(t.Context(), 3) {
			switch {
			case u.Record != nil:
				last = u.Record.Seq
			case u.Step != nil:
				steps = append(steps, *u.Step)
				assert.That(t, u.Step.Record == last, "the step on record %d was seen after record %d", u.Step.Record, last)
			}
		}
		wait(t, live)
		told := assert.Must(run.ReadTrace(records(t, store, id)))(t)
		same(t, "steps", steps, slices.DeleteFunc(told, func(s run.TraceStep) bool { return s.Record < 3 }))
	})
}

func TestTextOfEffectsThatStreamAtOnceIsKeptApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.streams("a", "one two three")
		w.streams("b", "eins zwei drei vier fünf")
		w.streams("c", "un deux trois quatre cinq six sept")
		live := start(t, w.engine(localStore(t), "one"),
			`<Parallel><Do what="r:a r:b" got="{got}"/><Do what="r:c" got="{c}"/></Parallel>`)
		want := map[uint64]string{1: "one two three ", 2: "eins zwei drei vier fünf ",
			3: "un deux trois quatre cinq six sept "}
		watchers := make(chan *seen)
		const stops = 12 // pieces after which a watcher falls behind
		for stop := range stops {
			go func() {
				got := &seen{}
				for u := range live.Watch(t.Context(), 0) {
					if got.add(u); u.Piece != nil && got.Pieces == stop {
						pass(3500 * time.Millisecond)
					}
				}
				watchers <- got
			}()
		}
		for range stops {
			same(t, "text", (<-watchers).Text, want)
		}
		same(t, "text for one who comes late", watch(t, live, 0).Text, want)
	})
}

func TestTextOfAnEffectThatIsWithdrawnIsRetracted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.streams("a", "one two three four")
		w.do["b"] = func(_ context.Context, job run.Job) (any, error) {
			job.Emit(run.Piece{Text: "wrong"})
			job.Emit(run.Piece{Retract: true})
			job.Emit(run.Piece{Text: "right"})
			return "B", nil
		}
		live := start(t, w.engine(localStore(t), "one"),
			`<Fallback><Timeout msec="1500"><Do what="r:a" got="{got}"/></Timeout><Do what="r:b" got="{got}"/></Fallback>`)
		early := make(chan *seen)
		go func() { early <- watch(t, live, 0) }()
		same(t, "text that stands", (<-early).Text, map[uint64]string{2: "right"})
		late := watch(t, live, 0)
		same(t, "text that stands, for one who comes late", late.Text, map[uint64]string{2: "right"})
		same(t, "pieces that are kept", late.Pieces, 1)
	})
}

func TestTextThatComesTooLateIsDropped(t *testing.T) {
	for name, body := range map[string]string{
		"its effect was withdrawn": `<Fallback><Timeout msec="1000"><Do what="r:a" got="{got}"/></Timeout><Delay delay_msec="10000"><AlwaysSuccess/></Delay></Fallback>`,
		"the run is over":          `<Timeout msec="1000"><Do what="r:a" got="{got}"/></Timeout>`,
		"the run was stopped":      `<Parallel success_count="2"><Do what="r:a" got="{got}"/><Delay delay_msec="1000"><Do what="r:stop" got="{c}"/></Delay></Parallel>`,
	} {
		bubble(t, name, func(t *testing.T) {
			w := newWorld(t)
			said := make(chan struct{})
			w.do["a"] = func(_ context.Context, job run.Job) (any, error) {
				defer close(said)
				pass(5 * time.Second)
				job.Emit(run.Piece{Text: "hello?"})
				return "A", nil
			}
			store := localStore(t)
			e := w.engine(store, "one")
			w.do["stop"] = func(ctx context.Context, job run.Job) (any, error) {
				return nil, e.Cancel(ctx, ada, job.View.ID, "enough")
			}
			live := start(t, e, body)
			same(t, "pieces", watch(t, live, 0).Pieces, 0)
			<-said
			same(t, "pieces afterwards", watch(t, live, 0).Pieces, 0)
			wait(t, live)
			for _, c := range all[run.CompletionRecord](t, records(t, store, live.ID), run.KindCompletion) {
				assert.That(t, c.Label != "read a", "its receipt was taken in")
			}
		})
	}
}

func TestWatchersContextAndBreakEndIt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		release := w.holds("a", false)
		e := w.engine(store, "one")
		live := start(t, e, `<Do what="r:a" got="{got}"/>`)
		synctest.Wait()
		for u := range live.Watch(t.Context(), 0) {
			assert.That(t, u.Record != nil, "it went on")
			break
		}
		other := w.engine(store, "two")
		for name, watching := range map[string]func(context.Context) error{
			"live": func(ctx context.Context) error {
				for range live.Watch(ctx, 0) {
				}
				return nil
			},
			"through the engine": func(ctx context.Context) error {
				for _, err := range e.Watch(ctx, ada, live.ID, 0) {
					if err != nil {
						return err
					}
				}
				return nil
			},
			"from another process": func(ctx context.Context) error {
				for _, err := range other.Watch(ctx, ada, live.ID, 0) {
					if err != nil {
						return err
					}
				}
				return nil
			},
		} {
			ctx, cut := context.WithTimeout(t.Context(), 10*time.Second)
			began := time.Now()
			err := watching(ctx)
			assert.That(t, err == nil, "%s: %v", name, err)
			same(t, name+": time watched", time.Since(began), 10*time.Second)
			err = watching(ctx)
			assert.That(t, err == nil, "%s, with a context that is over: %v", name, err)
			for u := range live.Watch(ctx, 0) {
				t.Errorf("%s, with a context that is over: %+v", name, u)
			}
			cut()
		}
		release()
		wait(t, live)
	})
}

// follow gives the kinds of the records that an engine's watcher sees, until the run ends.
func follow(t *testing.T, e *run.Engine, id string, from int64) []string {
	t.Helper()
	var got []string
	next := from
	for u, err := range e.Watch(t.Context(), ada, id, from) {
		if err != nil {
			t.Error(err)
			break
		}
		if u.Record == nil {
			continue
		}
		assert.That(t, u.Record.Seq == next, "record %d came where %d was due", u.Record.Seq, next)
		next++
		got = append(got, u.Record.Kind)
	}
	return got
}

func TestRunOfAnotherProcessIsWatchedUntilItsEnd(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.streams("a", "one two three four")
		live := start(t, w.engine(store, "one"),
			`<Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{got}"/></Sequence>`)
		e := w.engine(store, "two")
		same(t, "what was seen", follow(t, e, live.ID, 0), []string{"start", "completion", "completion", "trace",
			"end"})
		same(t, "from record 4 on", follow(t, e, live.ID, 2), []string{"completion", "trace", "end"})
		wait(t, live)
	})
}

func TestWatchGoesOnWhenAnotherProcessTakesTheRunOver(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		w.takes("a", time.Second)
		full := full(store)
		w.do["b"] = func(context.Context, run.Job) (any, error) {
			pass(time.Second) // until the watcher has seen all there is
			full.set(true)
			return "B", nil
		}
		e := w.engine(full, "one")
		live := start(t, e, `<Do what="r:a w:b" got="{got}"/>`)
		got := make(chan []string)
		go func() { got <- follow(t, e, live.ID, 0) }()
		stopsShort(t, live, journal.ErrFull)
		pass(time.Minute)
		delete(w.do, "b")
		wait(t, resume(t, w.engine(store, "two"), live.ID))
		same(t, "what was seen", <-got, kinds(records(t, store, live.ID)))
	})
}

func TestContextThatEndsWhileTheStoreIsAskedIsNoErrorOfTheWatch(t *testing.T) {
	w := newWorld(t)
	release := w.holds("a", false)
	store := newStore(t)
	live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
	ctx, cut := context.WithCancel(t.Context())
	for u, err := range w.engine(before(store, func(context.Context) error {
		cut()
		return nil
	}, "Run"), "two").Watch(ctx, ada, live.ID, 0) {
		t.Errorf("watching gives %+v, %v", u, err)
	}
	release()
	wait(t, live)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		release := w.holds("a", false)
		live := start(t, w.engine(localStore(t), "one"), `<Do what="r:a" got="{got}"/>`)
		ctx, cut := context.WithTimeout(t.Context(), time.Second)
		defer cut()
		_, err := live.Wait(ctx)
		assert.That(t, errors.Is(err, context.DeadlineExceeded), "waiting gives %v", err)
		release()
		wait(t, live)
	})
}
