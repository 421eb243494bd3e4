package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/run"
	"sibyl/internal/store"
	"sibyl/internal/store/teststore"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(lethal(role, os.Getenv(folderEnv)))
	}
	goleak.VerifyTestMain(teststore.Main(m))
}

const (
	ada     journal.Owner = "ada"
	session               = "talk"
	lease                 = 15 * time.Second
	grace                 = 3 * time.Second
)

// The leaves of the test assistant. Do asks for effects: "r:x" reads x, "w:x" writes x once, "c:x" has a run of its own
// do x, where an engine has runs do that, any other letter is a kind that nobody performs. It answers with the results,
// joined, and fails with the first fault unless it is lenient.
func leaves() []bt.Leaf {
	type in struct {
		What    string `port:"what"`
		Lenient bool   `port:"lenient" default:"false"`
	}
	type out struct {
		Got string `port:"got"`
	}
	type more struct {
		Add string `port:"add"`
		Got string `port:"got,optional"`
	}
	type none struct{}
	do := bt.Task("Do", "asks for effects", func(i in) ([]bt.Request, error) {
		var all []bt.Request
		for _, word := range strings.Fields(i.What) {
			letter, name, _ := strings.Cut(word, ":")
			kind := map[string]string{"r": "read", "w": "write", "c": "child"}[letter]
			if kind == "" {
				kind = "unheard"
			}
			label := kind + " " + name
			if name == "" {
				label = ""
			}
			all = append(all, bt.Request{Kind: kind, Label: label, Payload: payload{name}, Once: kind == "write"})
		}
		return all, nil
	}, func(i in, done []bt.Completion, o *out) error {
		var got []string
		for _, c := range done {
			if c.Err != nil && !i.Lenient {
				return c.Err
			}
			if c.Err != nil {
				got = append(got, "!"+c.Err.Kind)
				continue
			}
			var text string
			if err := json.Unmarshal(c.Result, &text); err != nil {
				return err
			}
			got = append(got, text)
		}
		o.Got = strings.TrimSpace(o.Got + " " + strings.Join(got, " "))
		return nil
	})
	add := bt.Func("Add", "appends a text", func(i more, o *out) error { o.Got = i.Got + i.Add; return nil })
	boom := bt.Func("Boom", "panics", func(none, *out) error { panic("the leaf burst") })
	never := bt.Func("Never", "writes its key only on a success that it never has", func(none, *out) error {
		return errors.New("never")
	})
	return []bt.Leaf{do, add, boom, never}
}

type payload struct {
	Name string `json:"name"`
}

// tree is a tree file with one tree.
func tree(body string) string {
	return `<root BTCPP_format="4"><BehaviorTree ID="Main">` + body + `</BehaviorTree></root>`
}

// result is the outcome of the test assistant.
type result struct {
	Ended     string    `json:"ended"`
	Got       string    `json:"got,omitempty"`
	Fault     *bt.Fault `json:"fault,omitempty"`
	Cancelled bool      `json:"cancelled,omitempty"`
	Under     []string  `json:"under,omitempty"` // "name: result" or "name: result !kind"
}

func outcomeOf(_ *run.View, e run.Ending) run.Outcome {
	r := result{Ended: e.Status.String(), Fault: e.Fault, Cancelled: e.Cancelled}
	if got, ok := e.Tree.Get(e.State, "got"); ok {
		r.Got = got.(string)
	}
	for _, c := range e.Unfolded {
		r.Under = append(r.Under, describe(c))
	}
	switch {
	case e.Cancelled:
		return run.Outcome{Status: journal.Cancelled, Reason: "stopped", Result: r}
	case e.Status == bt.Success:
		return run.Outcome{Status: journal.Done, Reason: "good", Result: r, Summary: r.Got}
	}
	return run.Outcome{Status: journal.Failed, Reason: "bad", Result: r}
}

// describe tells a receipt in a line.
func describe(c run.CompletionRecord) string {
	s := c.Label + ": " + string(c.Result)
	if c.Found {
		s += " found"
	}
	if c.Err != nil {
		s += " !" + c.Err.Kind
	}
	return s
}

// world is what effects change. It outlives processes.
type world struct {
	t  *testing.T
	mu sync.Mutex

	performed []string          // labels, in the order they were begun
	written   map[string]string // by key: what a write left behind
	writes    map[string]int    // by key
	do        map[string]func(ctx context.Context, job run.Job) (any, error)
	found     func(ctx context.Context, job run.Job) (any, bool, error)
	without   string // a kind that nobody performs
	opened    func(ctx context.Context, v *run.View) error
	outcome   func(v *run.View, e run.Ending) run.Outcome
	open      int
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, written: map[string]string{}, writes: map[string]int{}, do: map[string]func(context.Context,
		run.Job) (any, error){},
		outcome: outcomeOf}
	w.found = func(_ context.Context, job run.Job) (any, bool, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		text, was := w.written[job.Key]
		return text, was, nil
	}
	return w
}

func nameIn(job run.Job) string {
	var p payload
	if err := json.Unmarshal(job.Effect.Payload, &p); err != nil {
		return err.Error()
	}
	return p.Name
}

func (w *world) perform(ctx context.Context, job run.Job) (any, error) {
	name := nameIn(job)
	w.mu.Lock()
	w.performed = append(w.performed, job.Effect.Label)
	hook := w.do[name]
	w.mu.Unlock()
	if hook != nil {
		return hook(ctx, job)
	}
	if job.Effect.Once {
		w.write(job)
	}
	return strings.ToUpper(name), nil
}

// write takes effect at once.
func (w *world) write(job run.Job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes[job.Key]++
	w.written[job.Key] = strings.ToUpper(nameIn(job))
}

func (w *world) begun() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.performed...)
}

// holds makes an effect wait until the function it returns is called; unless it is stubborn, its context ends it too,
// with what had arrived.
func (w *world) holds(name string, stubborn bool) (release func()) {
	gate := make(chan struct{})
	w.do[name] = func(ctx context.Context, job run.Job) (any, error) {
		done := ctx.Done()
		if stubborn {
			done = nil
		}
		job.Emit(run.Piece{Text: "half of "})
		job.Emit(run.Piece{Text: name})
		select {
		case <-gate:
			if job.Effect.Once {
				w.write(job)
			}
			return strings.ToUpper(name), nil
		case <-done:
			return "half of " + name, ctx.Err()
		}
	}
	return sync.OnceFunc(func() { close(gate) })
}

func (w *world) assistant() *run.Assistant {
	text := bt.Port{Name: "got", Type: textType, Optional: true}
	return &run.Assistant{Name: "tester", Leaves: w.leavesOf(leaves()...),
		Options: bt.Options{Given: []bt.Port{{Name: "what", Type: textType}}, Wanted: []bt.Port{text}},
		Open: func(ctx context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			if w.opened != nil {
				if err := w.opened(ctx, v); err != nil {
					return nil, nil, err
				}
			}
			w.mu.Lock()
			w.open++
			w.mu.Unlock()
			performers := map[string]run.Performer{"read": {Do: w.perform}, "write": {Do: w.perform, Found: w.found}}
			delete(performers, w.without)
			return performers, func() {
				w.mu.Lock()
				w.open--
				w.mu.Unlock()
			}, nil
		},
		Outcome: func(v *run.View, e run.Ending) run.Outcome { return w.outcome(v, e) }}
}

func (w *world) leavesOf(all ...bt.Leaf) *bt.Leaves {
	known, err := bt.NewLeaves(all...)
	if err != nil {
		panic(err) // w.t is nil in another process
	}
	return known
}

// lacking has a process lack a leaf.
func (w *world) lacking(name string) func(*run.Config) {
	return w.with(slices.DeleteFunc(leaves(), func(l bt.Leaf) bool { return l.Name == name })...)
}

// with has a process know these leaves alone.
func (w *world) with(all ...bt.Leaf) func(*run.Config) {
	return func(c *run.Config) { c.Assistants[0].Leaves = w.leavesOf(all...) }
}

// engine is one process.
func (w *world) engine(store journal.Store, holder string, change ...func(*run.Config)) *run.Engine {
	w.t.Helper()
	c := run.Config{Store: store, Assistants: []*run.Assistant{w.assistant()}, Build: "test", Holder: holder,
		Lease: lease, StopGrace: grace}
	for _, f := range change {
		f(&c)
	}
	e := assert.Must(run.NewEngine(c))(w.t)
	return e
}

// newStore holds one session, once a run has begun in it.
func newStore(t *testing.T) journal.Store {
	t.Helper()
	return withSession(teststore.Empty(t))
}

// localStore is newStore on SQLite alone: for what a tree, its leaves and performers, and the engine's own clock
// decide.
func localStore(t *testing.T) journal.Store {
	t.Helper()
	db := assert.Must(store.OpenFile(t.Context(), filepath.Join(t.TempDir(), "sibyl.db"), store.Unsynced()))(t)
	t.Cleanup(func() { assert.Nilf(t, db.Close(), "close the store") })
	return withSession(db)
}

func withSession(store journal.Store) journal.Store {
	return journaltest.Await(store, journal.Session{ID: session, Owner: ada, CreatedAt: time.Now(),
		UpdatedAt: time.Now()})
}

// given is what a run of the test assistant begins with.
type given struct {
	What string `port:"what"`
}

func spec(body string) run.Spec {
	return run.Spec{Owner: ada, Session: session, Assistant: "tester", Title: "a test", TreeFile: "test.xml",
		Tree:  []byte(tree(body)),
		Given: given{"r:a"}}
}

func start(t *testing.T, e *run.Engine, body string) *run.Live {
	t.Helper()
	live := assert.Must(e.Start(t.Context(), spec(body)))(t)
	return live
}

func resume(t *testing.T, e *run.Engine, id string) *run.Live {
	t.Helper()
	live, err := e.Resume(t.Context(), ada, id)
	assert.NoErrorf(t, err, "resuming")
	return live
}

func wait(t *testing.T, live *run.Live) (run.EndRecord, result) {
	t.Helper()
	end, err := live.Wait(t.Context())
	assert.NoErrorf(t, err, "the run stopped short")
	return end, resultOf(t, end)
}

func resultOf(t *testing.T, end run.EndRecord) result {
	t.Helper()
	var r result
	assert.NoError(t, json.Unmarshal(end.Outcome, &r))
	return r
}

func stopsShort(t *testing.T, live *run.Live, want error) {
	t.Helper()
	_, err := live.Wait(t.Context())
	assert.That(t, errors.Is(err, want), "the run stopped with %v; want %v", err, want)
}

func records(t *testing.T, store journal.Store, id string) []journal.Record {
	t.Helper()
	recs := assert.Must(store.Records(t.Context(), ada, id, 0))(t)
	return recs
}

func kinds(recs []journal.Record) []string {
	var all []string
	for _, r := range recs {
		all = append(all, r.Kind)
	}
	return all
}

// all decodes the records of a kind.
func all[T any](t *testing.T, recs []journal.Record, kind string) []T {
	t.Helper()
	var found []T
	for _, r := range recs {
		if r.Kind != kind {
			continue
		}
		var v T
		assert.NoError(t, json.Unmarshal(r.Data, &v))
		found = append(found, v)
	}
	return found
}

func statusOf(t *testing.T, store journal.Store, id string) journal.Run {
	t.Helper()
	r := assert.Must(store.Run(t.Context(), ada, id))(t)
	return r
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}

// inWorld runs a test on a clock of its own, in a world and with a journal of its own.
func inWorld(t *testing.T, test func(t *testing.T, w *world, store journal.Store)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld(t), newStore(t)) })
}

// inWorldOf is inWorld as a subtest.
func inWorldOf(t *testing.T, name string, test func(t *testing.T, w *world, store journal.Store)) {
	t.Run(name, func(t *testing.T) { inWorld(t, test) })
}

// bubble runs a subtest on a clock of its own.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// pass lets time go by in a synctest bubble.
func pass(d time.Duration) { <-time.After(d) }

// crash begins a run in a process that dies at a write (0: it lives), and gives its id, "" if it was never begun. The
// lease has run out when it returns.
func crash(t *testing.T, w *world, store journal.Store, body string, at int, after bool) string {
	t.Helper()
	begun := spec(body)
	begun.ID = run.NewID(time.Now())
	live, err := w.engine(&journaltest.Mortal{Store: store, At: at, After: after}, fmt.Sprintf("dies at %d", at)).
		Start(t.Context(), begun)
	if err == nil && at > 0 {
		stopsShort(t, live, journaltest.ErrDead)
	} else if err == nil {
		wait(t, live)
	}
	pass(lease)
	if _, err := store.Run(t.Context(), ada, begun.ID); errors.Is(err, journal.ErrNotFound) {
		return ""
	} else if err != nil {
		t.Fatal(err)
	}
	return begun.ID
}

var textType = reflect.TypeFor[string]()
