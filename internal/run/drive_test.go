package run_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// longTree reads in parallel, writes twice with a read between, and reads again.
const longTree = `<Sequence>
	<Parallel><Do what="r:a r:b" got="{ab}"/><Do what="r:c" got="{c}"/></Parallel>
	<Do what="w:d r:e w:f" got="{got}"/>
	<Add add=" and" got="{got}"/>
	<Do what="r:g" got="{got}"/>
</Sequence>`

const longGot = "D E F and G"

func TestRunAppendsOneRecordPerStepAndItsTraceWithTheEnd(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	live := start(t, w.engine(store, "one"),
		`<Sequence><Do what="r:a" got="{got}"/><Do what="w:b" got="{got}"/></Sequence>`)
	end, r := wait(t, live)
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A B"})
	same(t, "status", end.Status, journal.Done)
	recs := records(t, store, live.ID)
	same(t, "records", kinds(recs), []string{"start", "completion", "mark", "completion", "trace", "end"})
	for i, rec := range recs {
		same(t, "number of a record", rec.Seq, int64(i))
	}
	row := statusOf(t, store, live.ID)
	same(t, "run", row.Status, journal.Done)
	same(t, "why it ended", row.Reason, "good")
	same(t, "summary in its row", string(row.Summary), `"A B"`)
	same(t, "effects", w.begun(), []string{"read a", "write b"})
	same(t, "what is open after the run", w.open, 0)
	var stepped []int64
	for _, s := range all[run.TraceRecord](t, recs, run.KindTrace) {
		for _, step := range s.Decided {
			stepped = append(stepped, step.Record)
		}
	}
	same(t, "records that were stepped", stepped, []int64{0, 1, 3})
}

func TestPerformersReadTheRunsBeginningAndReceiptsAndEarlierRuns(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	earlier := start(t, w.engine(store, "one"), `<Add add="before" got="{got}"/>`)
	wait(t, earlier)
	w.do["b"] = func(ctx context.Context, job run.Job) (any, error) {
		var had given
		text, err := job.View.Text(ctx, "manual")
		_, noText := job.View.Text(ctx, "another")
		first, noReceipt := job.View.Receipt(1)
		_, bad := job.View.Receipt(0)
		past, noPast := job.View.Earlier(ctx, earlier.ID)
		if err := errors.Join(err, noReceipt, noPast, job.View.Given(&had)); err != nil {
			return nil, err
		}
		if noText == nil || bad == nil {
			return nil, errors.New("what is not there was read")
		}
		return string(text) + " " + had.What + " " + string(first.Result) + " " + string(past.Status) + " " +
			string(past.Summary) + " " + strings.Join(kinds(job.View.Records()), ","), nil
	}
	s := spec(`<Sequence><Do what="{what}" got="{ab}"/><Do what="r:b" got="{got}"/></Sequence>`)
	s.Texts = []run.Text{{Name: "manual", Content: []byte("read me")}}
	s.Env = map[string]int{"folders": 2}
	live := assert.Must(w.engine(store, "one").Start(t.Context(), s))(t)
	_, r := wait(t, live)
	same(t, "what a performer read", r.Got, `read me r:a "A" done "before" start,completion`)
	ended := assert.Must(run.ReadEnd(t.Context(), store, ada, live.ID))(t)
	begun := all[run.StartRecord](t, records(t, store, live.ID), run.KindStart)[0]
	same(t, "environment", string(begun.Env), `{"folders":2}`)
	same(t, "status", ended.Status, journal.Done)
}

func TestTreeThatWaitsForNothingFailsAsStalled(t *testing.T) {
	w := newWorld(t)
	live := start(t, w.engine(localStore(t), "one"),
		`<Sequence><Do what="r:a" got="{got}"/><Script code="x:=1"/><Precondition if="x==2" else="RUNNING"><AlwaysSuccess/></Precondition></Sequence>`)
	end, r := wait(t, live)
	same(t, "status", end.Status, journal.Failed)
	same(t, "fault", r.Fault, &bt.Fault{Kind: "stalled", Reason: run.ErrStalled.Error()})
}

// brokenTree reads a key that is written only if the read before it succeeded.
const brokenTree = `<Sequence><ForceSuccess><Never got="{later}"/></ForceSuccess><Do what="%s" got="{got}"/>
	<Parallel><Do what="w:z" got="{z}"/><Add add="{later}" got="{got}"/></Parallel></Sequence>`

func TestTreeThatBreaksFailsTheRunAndPerformsNothingMore(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want []string
	}{
		"at the start": {fmt.Sprintf(brokenTree, ""), nil},
		"later":        {fmt.Sprintf(brokenTree, "r:a"), []string{"read a"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			live := start(t, w.engine(localStore(t), "one"), c.body)
			end, r := wait(t, live)
			same(t, "status", end.Status, journal.Failed)
			assert.That(t, r.Fault != nil && r.Fault.Kind == "tree" &&
				strings.Contains(r.Fault.Reason, "{later} was not written"), "the fault is %+v", r.Fault)
			same(t, "effects", w.begun(), c.want)
		})
	}
}

func TestEffectWithdrawnInTheStepThatAsksForItIsNotPerformed(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	live := start(t, w.engine(store, "one"),
		`<Fallback><Parallel><Do what="w:z" got="{z}"/><AlwaysFailure/></Parallel><Do what="r:a" got="{got}"/></Fallback>`)
	_, r := wait(t, live)
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
	same(t, "effects", w.begun(), []string{"read a"})
	same(t, "records", kinds(records(t, store, live.ID)), []string{"start", "completion", "trace", "end"})
}

func TestTreeThatBreaksIsEndedByTheOneWhoResumes(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, fmt.Sprintf(brokenTree, "r:a"), 3, false) // the end is not written
		end, r := wait(t, resume(t, w.engine(store, "two"), id))
		same(t, "status", end.Status, journal.Failed)
		same(t, "fault", r.Fault.Kind, "tree")
		same(t, "effects", w.begun(), []string{"read a"})
		same(t, "resume records", countOf(t, store, id, run.KindResume), 0)
	})
}

func TestLeafThatPanicsBreaksItsRunOnly(t *testing.T) {
	w := newWorld(t)
	end, r := wait(t, start(t, w.engine(localStore(t), "one"),
		`<Sequence><Do what="r:a" got="{got}"/><Boom/></Sequence>`))
	same(t, "status", end.Status, journal.Failed)
	same(t, "fault", r.Fault, &bt.Fault{Kind: "tree", Reason: "tree Main panicked: the leaf burst"})
}

func TestOutcomeThatPanicsLeavesTheRunOpen(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	w.outcome = func(*run.View, run.Ending) run.Outcome { panic("no words") }
	live := start(t, w.engine(store, "one"), `<Do what="r:a" got="{got}"/>`)
	_, err := live.Wait(t.Context())
	assert.That(t, err != nil && strings.Contains(err.Error(), "no words"), "the run stopped with %v", err)
	w.outcome = outcomeOf
	_, r := wait(t, resume(t, w.engine(store, "two"), live.ID))
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
}

func TestFaultsOfPerformersAreTheTreesBusiness(t *testing.T) {
	for name, c := range map[string]struct {
		what string
		do   func(context.Context, run.Job) (any, error)
		want string
	}{
		"a panic":         {"r:a", func(context.Context, run.Job) (any, error) { panic("oh") }, "!panic"},
		"an unknown kind": {"x:a", nil, "!unavailable"},
		"a fault keeps its kind": {"r:a", func(context.Context, run.Job) (any, error) {
			return nil, &bt.Fault{Kind: "rate_limit", Reason: "wait"}
		}, "!rate_limit"},
		"a wrapped fault": {"r:a", func(context.Context, run.Job) (any, error) {
			return nil, fmt.Errorf("a: %w", &bt.Fault{Kind: "auth"})
		}, "!auth"},
		"a plain error": {"r:a", func(context.Context, run.Job) (any, error) {
			return nil, errors.New("no")
		}, "!"},
		"a result that won't encode": {"r:a", func(context.Context, run.Job) (any, error) {
			return make(chan int), nil
		}, "!"},
		"a result that panics": {"r:a", func(context.Context, run.Job) (any, error) {
			return explosive{}, nil
		}, "!panic"},
		"no result is null": {"r:a", func(context.Context, run.Job) (any, error) { return nil, nil }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.do["a"] = c.do
			_, r := wait(t, start(t, w.engine(localStore(t), "one"), `<Sequence><Do what="`+c.what+
				`" lenient="true" got="{got}"/><Add add=" goes on" got="{got}"/></Sequence>`))
			same(t, "outcome", r, result{Ended: "SUCCESS", Got: c.want + " goes on"})
		})
	}
}

type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("bang") }

func TestResultBesideAFaultIsKept(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	w.do["a"] = func(context.Context, run.Job) (any, error) { return "half", errors.New("cut off") }
	w.do["b"] = func(context.Context, run.Job) (any, error) { return nil, errors.New("cut off") }
	live := start(t, w.engine(store, "one"),
		`<Sequence><Do what="r:a" lenient="true" got="{got}"/><Do what="r:b" lenient="true" got="{got}"/></Sequence>`)
	wait(t, live)
	got := all[run.CompletionRecord](t, records(t, store, live.ID), run.KindCompletion)
	same(t, "receipt", describe(got[0]), `read a: "half" !`)
	same(t, "receipt of nothing", describe(got[1]), `read b:  !`)
}

func TestOpenThatFailsEndsANewRun(t *testing.T) {
	w := newWorld(t)
	store := localStore(t)
	noModel := errors.New("no model answers")
	w.opened = func(context.Context, *run.View) error { return noModel }
	_, err := w.engine(store, "one").Start(t.Context(), spec(`<Do what="w:a" got="{got}"/>`))
	assert.That(t, errors.Is(err, noModel), "starting gives %v", err)
	runs, err := store.Runs(t.Context(), ada, journal.Filter{})
	assert.Require(t, err == nil && len(runs) == 1, "%d runs, %v", len(runs), err)
	same(t, "status", runs[0].Status, journal.Failed)
	end := assert.Must(run.ReadEnd(t.Context(), store, ada, runs[0].ID))(t)
	same(t, "fault", end.Fault, &bt.Fault{Kind: "open", Reason: noModel.Error()})
	same(t, "effects", w.begun(), nil)
}

func TestRunThatCanNeitherBeOpenedNorEndedIsLetGo(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	full := full(store)
	full.set(true)
	w.opened = func(context.Context, *run.View) error { return errors.New("no model answers") }
	e := w.engine(full, "one")
	_, err := e.Start(t.Context(), spec(`<Do what="r:a" got="{got}"/>`))
	assert.That(t, errors.Is(err, journal.ErrFull), "starting gives %v", err)
	runs, err := store.Runs(t.Context(), ada, journal.Filter{})
	assert.Require(t, err == nil && len(runs) == 1, "%d runs, %v", len(runs), err)
	same(t, "holder of the lease", runs[0].LeaseHolder, "")
	full.set(false)
	w.opened = nil
	_, r := wait(t, resume(t, e, runs[0].ID))
	same(t, "outcome", r, result{Ended: "SUCCESS", Got: "A"})
}

func TestOpenThatFailsLeavesAResumedRunOpenAndFree(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world, store journal.Store) {
		id := crash(t, w, store, longTree, 3, false)
		for name, open := range map[string]func(context.Context, *run.View) error{
			"an error": func(context.Context, *run.View) error { return errors.New("no model answers") },
			"a panic":  func(context.Context, *run.View) error { panic("no model answers") },
		} {
			w.opened = open
			_, err := w.engine(store, name).Resume(t.Context(), ada, id)
			assert.That(t, err != nil && strings.Contains(err.Error(), "no model answers"), "resuming gives %v", err)
		}
		w.opened = nil
		_, r := wait(t, resume(t, w.engine(store, "two"), id))
		same(t, "outcome", r, result{Ended: "SUCCESS", Got: longGot})
	})
}

func TestSpecThatDoesNotFitItsTreeWritesNothing(t *testing.T) {
	for name, change := range map[string]func(*run.Spec){
		"an unknown assistant": func(s *run.Spec) { s.Assistant = "nobody" },
		"a tree that is none":  func(s *run.Spec) { s.Tree = []byte("<tree/>") },
		"an unknown key": func(s *run.Spec) {
			s.Given = struct {
				Whom string `port:"whom"`
			}{"x"}
		},
		"a value of its own": func(s *run.Spec) {
			s.Given = struct {
				What []int `port:"what"`
			}{[]int{1}}
		},
		"a value that is none": func(s *run.Spec) {
			s.Given = struct {
				What chan int `port:"what"`
			}{}
		},
		"no environment":    func(s *run.Spec) { s.Env = make(chan int) },
		"another's session": func(s *run.Spec) { s.Owner = "bob" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			store := localStore(t)
			s := spec(`<Do what="{what}" got="{got}"/>`)
			change(&s)
			_, err := w.engine(store, "one").Start(t.Context(), s)
			assert.That(t, err != nil, "it was started")
			runs, err := store.Runs(t.Context(), ada, journal.Filter{})
			assert.That(t, err == nil && len(runs) == 0, "%d runs, %v", len(runs), err)
		})
	}
}

func TestSecretReachesNeitherTheStoreNorTheStep(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	w.do["a"] = func(context.Context, run.Job) (any, error) { return "the key is hunter2", nil }
	w.do["b"] = func(context.Context, run.Job) (any, error) {
		return nil, &bt.Fault{Kind: "auth", Reason: "hunter2 is wrong"}
	}
	w.outcome = func(v *run.View, e run.Ending) run.Outcome {
		o := outcomeOf(v, e)
		r := o.Result.(result)
		r.Under = []string{"hunter2 was there"}
		o.Result, o.Summary = r, "about hunter2"
		return o
	}
	e := w.engine(store, "one", func(c *run.Config) {
		c.Redact = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("[secret]")) }
	})
	s := spec(`<Fallback><Sequence><Do what="r:a" got="{got}"/><Do what="r:b" got="{b}"/></Sequence><Do what="{what}" got="{c}" lenient="true"/></Fallback>`)
	s.Title, s.Given, s.Env = "is hunter2 good?", given{"x:hunter2"}, "hunter2"
	live := assert.Must(e.Start(t.Context(), s))(t)
	end, r := wait(t, live)
	same(t, "note of the outcome", r.Under, []string{"[secret] was there"})
	if kept, err := run.ReadEnd(t.Context(), store, ada, live.ID); err != nil || cmp.Diff(end, kept) != "" {
		t.Errorf("%v; the end that is kept, and the one handed out (-kept +handed out):\n%s", err, cmp.Diff(kept, end))
	}
	same(t, "what the step saw", r.Got, "the key is [secret]")
	same(t, "title", statusOf(t, store, live.ID).Title, "is [secret] good?")
	for _, rec := range records(t, store, live.ID) {
		assert.That(t, !strings.Contains(string(rec.Data), "hunter2"), "record %d holds the secret: %s", rec.Seq, rec.Data)
	}
}

func TestFiftyRunsAtOnceEachEndOnce(t *testing.T) {
	w := newWorld(t)
	store := newStore(t)
	e := w.engine(store, "one")
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			live, err := e.Start(t.Context(), spec(longTree))
			if err != nil {
				t.Error(err)
				return
			}
			for range live.Watch(t.Context(), 0) {
			}
			end, err := live.Wait(t.Context())
			assert.That(t, err == nil && end.Status == journal.Done, "a run ended %q, %v", end.Status, err)
		})
	}
	group.Wait()
	same(t, "writes", len(w.writes), 100)
	for key, n := range w.writes {
		same(t, "times that "+key+" was written", n, 1)
	}
}

func TestIDsSortByTimeAndAreUnique(t *testing.T) {
	at := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	var ids []string
	for i := range 200 {
		ids = append(ids, run.NewID(at.Add(time.Duration(i*i)*37*time.Microsecond)))
	}
	assert.That(t, slices.IsSorted(ids), "ids are not in the order of their times: %v", ids)
	seen := map[string]bool{}
	for range 20 {
		id := run.NewID(at)
		assert.That(t, !seen[id] && len(id) == 16, "%s is there twice, or not 16 characters", id)
		seen[id] = true
	}
}

// The journal has ids that earlier builds computed.
func TestIDOfPartsIsAlwaysTheSame(t *testing.T) {
	id := run.IDOf("run", "ada", "k")
	assert.That(t, id == "1rtkftakbch4c27c" && id != run.IDOf("run", "adak"), "it is %s", id)
}

func TestConfigurationIsChecked(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*run.Config){
		"no store":            func(c *run.Config) { c.Store = nil },
		"no holder":           func(c *run.Config) { c.Holder = "" },
		"two of one name":     func(c *run.Config) { c.Assistants = append(c.Assistants, c.Assistants[0]) },
		"a lease too short":   func(c *run.Config) { c.Lease = 2 * time.Second },
		"a beat too seldom":   func(c *run.Config) { c.Heartbeat = time.Minute },
		"a grace too patient": func(c *run.Config) { c.StopGrace = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			c := run.Config{Store: localStore(t), Assistants: []*run.Assistant{w.assistant()}, Holder: "one"}
			change(&c)
			_, err := run.NewEngine(c)
			assert.That(t, err != nil, "it was accepted")
		})
	}
}
