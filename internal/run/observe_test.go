package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// witness notes what an engine tells its observer. What a context went through stands in it.
type witness struct {
	mu       sync.Mutex
	told     []string
	run      string
	commits  int
	failed   error // the last that could not be committed
	slowest  time.Duration
	sessions map[string]bool
}

type through struct{}

func by(ctx context.Context) string {
	s, _ := ctx.Value(through{}).(string)
	return s
}

func (w *witness) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, fmt.Sprintf(format, args...))
}

func (w *witness) Drive(ctx context.Context, d run.DrivenRun) (context.Context, func(run.StopState)) {
	w.mu.Lock()
	w.run, w.sessions = d.Run, map[string]bool{d.Session: true}
	w.mu.Unlock()
	w.note("drives %s, taken up %t", d.Assistant, d.TakenUp)
	return context.WithValue(ctx, through{}, by(ctx)+"/drive"), func(s run.StopState) {
		w.note("stands %s %s", s.Status, s.Reason)
	}
}

func (w *witness) Perform(ctx context.Context, e run.PerformedEffect) (context.Context, func(run.EffectResult)) {
	w.note("performs %s of %s, once %t, under %s", e.Kind, e.Leaf, e.Once, by(ctx))
	return context.WithValue(ctx, through{}, by(ctx)+"/"+e.Kind), func(done run.EffectResult) {
		w.note("has performed %s in %s: %q, found %t, suspended %t",
			e.Kind, done.Took, done.Fault, done.Found, done.Suspended)
	}
}

func (w *witness) Commit(_ context.Context, took time.Duration, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits++
	w.slowest = max(w.slowest, took)
	if err != nil {
		w.failed = err
	}
}

func (w *witness) watch(c *run.Config) { c.Observer = w }

// heard is what a witness was told since the last time.
func (w *witness) heard() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	told := w.told
	w.told = nil
	return told
}

func TestObserverIsToldWhatARunDoesAndItsContextsReachIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, eye := newWorld(t), &witness{}
		var opened, performed string
		w.opened = func(ctx context.Context, _ *run.View) error {
			opened = by(ctx)
			return nil
		}
		w.do["a"] = func(ctx context.Context, _ run.Job) (any, error) {
			performed = by(ctx)
			pass(2 * time.Second)
			return "A", nil
		}
		w.do["c"] = func(context.Context, run.Job) (any, error) { return nil, errors.New("secret words") }
		e := w.engine(localStore(t), "one", eye.watch)
		live, err := e.Start(context.WithValue(t.Context(), through{}, "request"),
			spec(`<Sequence><Do what="r:a" got="{got}"/><Do what="w:b" got="{got}"/><Do what="r:c x:d" lenient="true" got="{got}"/></Sequence>`))
		assert.NoError(t, err)
		wait(t, live)
		told := eye.heard()
		assert.Require(t, len(told) == 10, "it was told %q", told)
		same(t, "what it was told first", told[:5], []string{"drives tester, taken up false",
			"performs read of Do, once false, under request/drive",
			`has performed read in 2s: "", found false, suspended false`,
			"performs write of Do, once true, under request/drive",
			`has performed write in 0s: "", found false, suspended false`})
		same(t, "what it was told last", told[9], "stands done good")
		for _, want := range []string{`has performed read in 0s: "unsorted", found false, suspended false`,
			`has performed unheard in 0s: "unavailable", found false, suspended false`} {
			all := strings.Join(told[5:9], "\n")
			assert.That(t, strings.Contains(all, want), "it was not told %q, but\n%s", want, all)
		}
		same(t, "run", eye.run, live.ID)
		same(t, "session", eye.sessions, map[string]bool{session: true})
		same(t, "what the run was opened under", opened, "request/drive")
		same(t, "what an effect was performed under", performed, "request/drive/read")
		same(t, "commits", eye.commits, 7) // the beginning, a mark, four receipts, the end
	})
}

func TestObserverIsToldHowARunStandsThatIsNotDrivenAnyMore(t *testing.T) {
	const body = `<Do what="r:a" got="{got}"/>`
	for name, c := range map[string]struct {
		drive func(t *testing.T, w *world, e *run.Engine, s *failing)
		want  string
	}{
		"it has failed": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			w.do["a"] = func(context.Context, run.Job) (any, error) { return nil, errors.New("no") }
			wait(t, start(t, e, body))
		}, "stands failed bad"},
		"it is cancelled": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			w.holds("a", false)
			live := start(t, e, body)
			live.Cancel("enough")
			wait(t, live)
		}, "stands cancelled stopped"},
		"it is suspended": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			w.busy("a")
			wait(t, start(t, e, body))
		}, "stands suspended bad"},
		"the process drains": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			w.holds("a", false)
			live := start(t, e, body)
			gone, stop := context.WithCancel(t.Context())
			stop()
			e.Drain(gone)
			stopsShort(t, live, run.ErrLeft)
		}, "stands left "},
		"the journal takes nothing": {func(t *testing.T, w *world, e *run.Engine, s *failing) {
			release := w.holds("a", false)
			live := start(t, e, body)
			s.set(true)
			release()
			stopsShort(t, live, journal.ErrFull)
		}, "stands lost broken"},
		"another process has it": {func(t *testing.T, w *world, e *run.Engine, s *failing) {
			release := w.holds("a", false)
			live := start(t, e, body)
			assert.NoError(t, s.Store.Append(t.Context(), ada, live.ID,
				[]journal.Record{{Seq: 1, At: time.Now(), Kind: run.KindTime, Data: []byte(`{}`)}}, nil))
			release()
			stopsShort(t, live, journal.ErrConflict)
		}, "stands lost taken"},
		"it can't be opened": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			w.opened = func(context.Context, *run.View) error { return errors.New("no model") }
			_, err := e.Start(t.Context(), spec(body))
			assert.That(t, err != nil, "it was started")
		}, "stands failed bad"},
		"it is cancelled while it opens": {func(t *testing.T, w *world, e *run.Engine, _ *failing) {
			ctx, stop := context.WithCancel(t.Context())
			w.opened = func(context.Context, *run.View) error { stop(); return nil }
			_, err := e.Start(ctx, spec(body))
			assert.That(t, err != nil, "it was started")
		}, "stands cancelled stopped"},
		"it can neither be opened nor ended": {func(t *testing.T, w *world, e *run.Engine, s *failing) {
			w.opened = func(context.Context, *run.View) error { s.set(true); return errors.New("no model") }
			_, err := e.Start(t.Context(), spec(body))
			assert.That(t, err != nil, "it was started")
		}, "stands lost open"},
	} {
		bubble(t, name, func(t *testing.T) {
			w, eye, s := newWorld(t), &witness{}, full(newStore(t))
			c.drive(t, w, w.engine(s, "one", eye.watch), s)
			told := eye.heard()
			same(t, "what it was told first", told[0], "drives tester, taken up false")
			same(t, "what it was told last", told[len(told)-1], c.want)
		})
	}
}

func TestObserverIsToldOfARunThatIsTakenUpAndOfAWriteThatIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, eye := newWorld(t), &witness{}
		store := newStore(t)
		id := crash(t, w, store, `<Do what="w:a" got="{got}"/>`, 3, false) // the start, the mark, and no receipt
		wait(t, resume(t, w.engine(store, "two", eye.watch), id))
		same(t, "what it was told", eye.heard(), []string{"drives tester, taken up true",
			"performs write of Do, once true, under /drive",
			`has performed write in 0s: "", found true, suspended false`, "stands done good"})
	})
}

func TestRunThatWaitedForRoomIsNotTakenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, eye := newWorld(t), &witness{}
		store := newStore(t)
		release := w.holds("a", false)
		one := w.engine(store, "one", func(c *run.Config) { c.MostRuns = 1 }, eye.watch)
		first := start(t, one, `<Do what="r:a" got="{got}"/>`)
		k, _, err := one.Submit(t.Context(), spec(`<Do what="r:b" got="{got}"/>`))
		assert.NoError(t, err)
		release()
		wait(t, first)
		same(t, "commits with that of the run that waits", eye.commits, 4)
		eye.heard()
		second := assert.Must(one.ResumeFound(t.Context(), k))(t)
		wait(t, second)
		same(t, "what it was told", eye.heard()[0], "drives tester, taken up false")
	})
}

func TestObserverIsToldOfCommitsThatFail(t *testing.T) {
	w, eye := newWorld(t), &witness{}
	s := full(localStore(t))
	w.do["a"] = func(context.Context, run.Job) (any, error) {
		s.set(true)
		return "A", nil
	}
	stopsShort(t, start(t, w.engine(s, "one", eye.watch), `<Do what="r:a" got="{got}"/>`), journal.ErrFull)
	assert.That(t, eye.commits == 2 && errors.Is(eye.failed, journal.ErrFull),
		"it was told of %d commits, the last error being %v", eye.commits, eye.failed)
}

func TestLogOfAPanicHasTheRunAndNotTheWordsOfThePanic(t *testing.T) {
	w := newWorld(t)
	w.do["a"] = func(context.Context, run.Job) (any, error) { panic(errors.New("what the person asked")) }
	w.do["b"] = func(context.Context, run.Job) (any, error) { return []int{}[len(w.performed)], nil }
	var log bytes.Buffer
	e := w.engine(localStore(t), "one", func(c *run.Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	live := start(t, e, `<Sequence><Do what="r:a" lenient="true" got="{got}"/><Do what="r:b" lenient="true" got="{got}"/></Sequence>`)
	_, r := wait(t, live)
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "!panic !panic"})
	text := log.String()
	assert.That(t, !strings.Contains(text, "asked") && strings.Count(text, `"run_id":"`+live.ID+`"`) == 2 &&
		strings.Contains(text, "index out of range"), "the log is\n%s", text)
}
