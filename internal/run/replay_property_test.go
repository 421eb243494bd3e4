package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
)

// anyTree draws the body of a tree whose tasks ask for the words that ask draws ("": none are left). Each writes a key
// of its own, so that all may stand in a Parallel.
func anyTree(r *rapid.T, ask func() string) string {
	keys := 0
	var node func(depth int) string
	around := func(tag string, children int, depth int) string {
		var b strings.Builder
		for range children {
			b.WriteString(node(depth - 1))
		}
		return "<" + tag + ">" + b.String() + "</" + strings.Fields(tag)[0] + ">"
	}
	several := func(tag string, depth int) string {
		return around(tag, rapid.IntRange(1, 3).Draw(r, "children"), depth)
	}
	timer := func(tag string, depth int) string {
		return around(fmt.Sprintf(`%s="%d"`, tag, 1000*rapid.IntRange(1, 6).Draw(r, "seconds")), 1, depth)
	}
	node = func(depth int) string {
		kinds := 4
		if depth > 0 {
			kinds = 12
		}
		switch rapid.IntRange(1, kinds).Draw(r, "node") {
		case 1, 2, 3:
			keys++
			return fmt.Sprintf(`<Do what="%s" lenient="%v" got="{k%d}"/>`, ask(), rapid.Bool().Draw(r, "lenient"), keys)
		case 4:
			return rapid.SampledFrom([]string{"<AlwaysSuccess/>", "<AlwaysFailure/>"}).Draw(r, "constant")
		case 5:
			return timer("Timeout msec", depth)
		case 6:
			return timer("Delay delay_msec", depth)
		case 7:
			return around(`RetryUntilSuccessful num_attempts="2"`, 1, depth)
		case 8, 9:
			return several("Sequence", depth)
		case 10:
			return several("Fallback", depth)
		case 11:
			return several(`Parallel success_count="1"`, depth)
		}
		return several("Parallel", depth)
	}
	return "<Sequence>" + node(3) + node(2) + "</Sequence>"
}

// names are what the tasks of drawn trees ask for. Asking for the last one fails.
func names() []string { return []string{"a", "b", "c", "d", "e", "bad"} }

// anyPace draws how many seconds each takes.
func anyPace(r *rapid.T) []int {
	return rapid.SliceOfN(rapid.IntRange(0, 5), len(names()), len(names())).Draw(r, "seconds")
}

// paced makes effects last. No sum of two of each equals another: nothing but a timer of whole seconds is ever done at
// the same moment as something else.
func (w *world) paced(seconds []int) {
	odd := 1
	for i, name := range names() {
		d := time.Duration(seconds[i]*1000+odd) * time.Millisecond
		odd *= 3
		w.takes(name, d)
		if name != "bad" {
			continue
		}
		w.do[name] = func(ctx context.Context, _ run.Job) (any, error) {
			select {
			case <-time.After(d):
				return nil, errors.New("it is bad")
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

func TestAnyRunIsReplayedAsRecorded(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		body := anyTree(r, func() string {
			words := rapid.SampledFrom([]string{"r:a", "r:b", "r:c", "w:d", "w:e", "x:f", "r:bad", "w:bad"})
			return strings.Join(rapid.SliceOfN(words, 1, 3).Draw(r, "words"), " ")
		})
		pace := anyPace(r)
		crashAt := rapid.IntRange(0, 12).Draw(r, "crash at write")
		stopAfter := rapid.IntRange(0, 10).Draw(r, "stopped after seconds")
		ok := t.Run("run", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.paced(pace)
				store := newStore(t)
				id := w.anyRun(store, body, crashAt, time.Duration(stopAfter)*time.Second)
				if statusOf(t, store, id).Status == journal.Running {
					found := w.mustReplay(store, id, "")
					same(t, "differences of an open run", tell(found), nil)
					same(t, "whether it says that the run has not ended", found.Why != "", true)
					wait(t, resume(t, w.engine(store, "survivor"), id))
				}
				want := replay.ReachedEnd
				if statusOf(t, store, id).Status == journal.Cancelled {
					want = replay.ReachedStop
				}
				w.asRecorded(store, id, want)
			})
		})
		assert.Require(r, ok, "tree %s, crash at %d, stop after %d s", body, crashAt, stopAfter)
	})
}

// anyRun begins a run in a process that may die at a write (0: it lives), or be told to stop (0: it is not).
func (w *world) anyRun(store journal.Store, body string, crashAt int, stopAfter time.Duration) string {
	w.t.Helper()
	live := assert.Must(w.engine(&journaltest.Mortal{Store: store, At: crashAt + min(crashAt, 1),
		After: crashAt%2 == 0}, "one").Start(w.t.Context(),
		spec(body)))(w.t)
	if stopAfter > 0 {
		timer := time.AfterFunc(stopAfter, func() { live.Cancel("enough") })
		defer timer.Stop()
	}
	if _, err := live.Wait(w.t.Context()); err != nil {
		pass(lease)
	}
	return live.ID
}

// What a replay says without performing anything is held against a run through the other tree in the same world.
func TestReplayThroughAnyTreeTellsWhetherItWouldHaveDecidedTheSame(t *testing.T) {
	sames := 0
	rapid.Check(t, func(r *rapid.T) {
		ask := func() func() string {
			left := rapid.Permutation(names()).Draw(r, "words")
			return func() (word string) {
				if len(left) > 0 {
					word, left = rapid.SampledFrom([]string{"r:", "w:"}).Draw(r, "how")+left[0], left[1:]
				}
				return word
			}
		}
		was, would, pace := anyTree(r, ask()), anyTree(r, ask()), anyPace(r)
		if rapid.Bool().Draw(r, "alike") {
			would = strings.Replace(was, rapid.SampledFrom([]string{"r:", "1000", "2000", "<Sequence>", "true",
				"Failure"}).Draw(r, "old"),
				rapid.SampledFrom([]string{"w:", "2000", "1000", `<Sequence name="x">`, "false", "Success"}).
					Draw(r, "new"), 1)
		}
		ok := t.Run("run", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.paced(pace)
				if _, err := w.assistant().Leaves.Load("", []byte(tree(would)), w.assistant().Options); err != nil {
					return // what can't be run can't be replayed either
				}
				store := newStore(t)
				first, second := start(t, w.engine(store, "one"), was), start(t, w.engine(store, "two"), would)
				one, two := decided(t, store, first), decided(t, store, second)
				found, all := w.mustReplay(store, first.ID, would), w.mustReplay(store, first.ID, would, pastFirst)
				same(t, "whether the first difference is the first of all",
					strings.HasPrefix(told(all), told(found)), true)
				switch alike := slices.Equal(one, two); {
				case len(found.Differences) == 0:
					sames++
					same(t, "what the tree decides that would have decided the same", two, one)
				case alike:
					t.Errorf("the tree decides the same; the replay tells\n%s", told(found))
				}
			})
		})
		assert.Require(r, ok, "recorded: %s\nthrough: %s", was, would)
	})
	assert.That(t, sames != 0, "no tree decided the same")
}

func told(found *replay.Result) string { return strings.Join(tell(found), "\n") }

// decided is what a run asked for and withdrew, when, and what it came to. Effects are numbered as they were asked for:
// what is withdrawn in the very step that asks for it takes a number of the run, and nobody ever hears of it.
func decided(t *testing.T, store journal.Store, live *run.Live) []string {
	t.Helper()
	end, _ := wait(t, live)
	recs := records(t, store, live.ID)
	steps := assert.Must(run.ReadTrace(recs))(t)
	var all []string
	asked := uint64(0)
	for _, s := range steps {
		for i := range s.Start {
			asked++
			s.Start[i].Op = asked
		}
		if len(s.Start)+len(s.Cancel) > 0 || s.Status != "RUNNING" {
			var at run.TimeRecord // a completion has the same field
			assert.NoError(t, json.Unmarshal(recs[s.Record].Data, &at))
			all = append(all, fmt.Sprint(at.Now, s.Start, len(s.Cancel), s.Status))
		}
	}
	return append(all, string(end.Outcome))
}
