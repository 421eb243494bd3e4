package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/store/teststore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	ada journal.Owner = "ada"
	eve journal.Owner = "eve"
)

// house is what outlives processes: a journal, and the personas of a panel.
type house struct {
	*testing.T
	store   journal.Store
	tree    string
	most    int // runs that a process drives at once
	prices  *service.Prices
	finders []service.Finder

	mu    sync.Mutex
	asked []servicetest.Asked // in the order of arrival
	do    map[string]func(ctx context.Context, job run.Job) (any, error)
}

// inHouse runs a test in a time of its own.
func inHouse(t *testing.T, test func(h *house)) {
	t.Helper()
	text := assert.Must(servicetest.Trees.ReadFile("panel.xml"))(t)
	synctest.Test(t, func(t *testing.T) {
		test(&house{T: t, store: teststore.Empty(t), tree: string(text), do: map[string]func(context.Context,
			run.Job) (any, error){}})
	})
}

// answer has a persona say its name in capitals, unless it is to do something else.
func (h *house) answer(ctx context.Context, job run.Job) (any, error) {
	var asked servicetest.Asked
	if err := json.Unmarshal(job.Effect.Payload, &asked); err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.asked = append(h.asked, asked)
	do := h.do[asked.Persona]
	h.mu.Unlock()
	if do != nil {
		return do(ctx, job)
	}
	return strings.ToUpper(asked.Persona), nil
}

// holds has a persona say half of its answer and wait, until the function is called or the effect is withdrawn.
func (h *house) holds(name string) (release func()) {
	gate := make(chan struct{})
	h.do[name] = func(ctx context.Context, job run.Job) (any, error) {
		job.Emit(run.Piece{Text: "half of " + name})
		select {
		case <-gate:
			return strings.ToUpper(name), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return func() { close(gate) }
}

// takes has a persona think before it answers or, with an error, does not.
func (h *house) takes(name string, d time.Duration, err error) {
	h.do[name] = func(context.Context, run.Job) (any, error) {
		<-time.After(d)
		return strings.ToUpper(name), err
	}
}

var errSilent = errors.New("it is silent")

// panel describes the assistant, under a name.
func (h *house) panel(name string) *assistant.Assistant {
	h.Helper()
	a := assert.Must(servicetest.Describe(h.store, run.Performer{Do: h.answer}))(h)
	a.Name = name
	return a
}

// process serves these assistants, or a panel. A process that is called dead is known to be gone.
func (h *house) process(holder string, store journal.Store, all ...*assistant.Assistant) *service.Service {
	h.Helper()
	if all == nil {
		all = []*assistant.Assistant{h.panel("panel")}
	}
	c := run.Config{Store: store, Build: "test", Holder: holder, MostRuns: h.most, Dead: func(holder string) bool {
		return holder == "dead"
	}}
	for _, a := range all {
		c.Assistants = append(c.Assistants, a.Assistant)
	}
	engine := assert.Must(run.NewEngine(c))(h)
	s := assert.Must(service.New(service.Config{Store: store, Engine: engine, Assistants: all, Prices: h.prices,
		Finders: h.finders,
		Tree:    func(string) (string, []byte, error) { return "panel.xml", []byte(h.tree), nil },
		Redact:  func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") }}))(h)
	return s
}

func (h *house) service() *service.Service { return h.process("one", h.store) }

// start asks ada and bob, in a session or, if that is empty, in one that begins.
func (h *house) start(s *service.Service, session, words string) *service.Run {
	h.Helper()
	r := assert.Must(s.Start(h.Context(), ada, service.Request{Assistant: "panel",
		Session: session, Words: words, Options: "ada bob"}))(h)
	return r
}

func (h *house) wait(r *service.Run) service.Result {
	h.Helper()
	res := assert.Must(r.Wait(h.Context()))(h)
	return res
}

// ask is start and wait, a second after what was before.
func (h *house) ask(s *service.Service, session, words string) *service.Run {
	h.Helper()
	<-time.After(time.Second)
	r := h.start(s, session, words)
	h.wait(r)
	return r
}

// crash leaves a run whose process died at a write, counted from 1.
func (h *house) crash(at int) string {
	h.Helper()
	r := h.start(h.process("dead", &failing{Store: h.store, at: at}), "", "Tea?")
	_, err := r.Wait(h.Context())
	assert.Require(h, errors.Is(err, errDown), "the run stopped with %v", err)
	return r.ID
}

var errDown = errors.New("the disk is gone")

// failing is a store whose process dies at a write.
type failing struct {
	journal.Store
	mu         sync.Mutex
	at, writes int
}

func (f *failing) write(do func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writes++; f.writes >= f.at {
		return errDown
	}
	return do()
}

func (f *failing) Begin(ctx context.Context, b journal.Beginning) error {
	return f.write(func() error { return f.Store.Begin(ctx, b) })
}

func (f *failing) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	return f.write(func() error { return f.Store.Append(ctx, o, id, recs, end) })
}

func (f *failing) Release(context.Context, journal.Owner, string, string, time.Time) error {
	return errDown
}

func same[T any](h *house, what string, got, want T) {
	h.Helper()
	assert.NoDiff(h, cmp.Diff(want, got), "%s (-want +got)", what)
}

func isError(h *house, what string, err, want error) {
	h.Helper()
	assert.That(h, errors.Is(err, want), "%s: the error is %v; want %v", what, err, want)
}

// misused wants a UsageError that says something.
func misused(h *house, what string, err error, says string) {
	h.Helper()
	var usage *service.UsageError
	assert.That(h, errors.As(err, &usage) && strings.Contains(err.Error(), says),
		"%s: the error is %v; want a UsageError with %q", what, err, says)
}

// line is an update in a line, without the names of processes.
func line(u service.Update) string {
	switch {
	case u.Record != nil:
		return fmt.Sprintf("%d record %s %s", u.Seq, u.Record.Kind, u.Told.Text)
	case u.Step != nil:
		return fmt.Sprintf("%d step %s", u.Seq, u.Step.Status)
	case u.Event != nil:
		return fmt.Sprintf("%d event %s %s %s ‘%s’", u.Seq, u.Event.Type, u.Event.Data, u.Event.Rule, u.Told.Text)
	}
	return fmt.Sprintf("%d text %q %v", u.Seq, u.Text, u.Retract)
}

// explained is an explanation as people read it.
func (h *house) explained(s *service.Service, id string) (all []string) {
	h.Helper()
	x := assert.Must(s.Explain(h.Context(), ada, id))(h)
	for _, step := range x.Steps {
		all = append(all, fmt.Sprintf("%d %s: %s", step.Record, step.TookIn, step.Status))
		for _, e := range step.Events {
			all = append(all, strings.TrimRight(fmt.Sprintf("  %s %s %s", e.Rule, e.Status, e.TraceEvent), " "))
		}
	}
	return slices.Concat([]string{x.Run.State}, all, x.Ending)
}
