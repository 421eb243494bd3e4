package service_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/store/teststore"
)

// late is a store that shows runs some time after they were begun, as one does whose transactions take long.
type late struct {
	journal.Store
	mu    sync.Mutex
	shown map[string]time.Time
	takes time.Duration // until runs that were listed are given
}

func (l *late) begin(ctx context.Context, b journal.Beginning, after time.Duration) error {
	l.mu.Lock()
	l.shown[b.Run.ID] = time.Now().Add(after)
	l.mu.Unlock()
	return l.Store.Begin(ctx, b)
}

// slow has lists of runs take so long from now on.
func (l *late) slow(takes time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takes = takes
}

func (l *late) hides(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown[id].After(time.Now())
}

func (l *late) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	if l.hides(id) {
		return journal.Run{}, journal.ErrNotFound
	}
	return l.Store.Run(ctx, o, id)
}

func (l *late) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	if l.hides(id) {
		return nil, journal.ErrNotFound
	}
	return l.Store.Records(ctx, o, id, from)
}

func (l *late) Runs(ctx context.Context, o journal.Owner, f journal.Filter) ([]journal.Run, error) {
	limit := cmp.Or(f.Limit, journal.DefaultLimit)
	f.Limit = 10_000
	all, err := l.Store.Runs(ctx, o, f)
	l.mu.Lock()
	takes := l.takes
	l.mu.Unlock()
	if takes > 0 {
		defer func() { <-time.After(takes) }()
	}
	all = slices.DeleteFunc(all, func(r journal.Run) bool { return l.hides(r.ID) })
	return all[:min(limit, len(all))], err
}

// told is what streams have told of runs, one after the other.
type told struct {
	mu   sync.Mutex
	runs map[string][]string
	last service.Position
}

func (h *told) add(at service.LiveEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last = at.Position; at.Run == "" {
		return
	}
	var what string
	switch {
	case at.Begun != nil:
		what = "begun"
	case at.Ended != nil:
		what = "ended " + at.Ended.Cause
	case at.Record != nil:
		what = fmt.Sprint(at.Record.Seq)
	default:
		what = line(at.Update)
	}
	h.runs[at.Run] = append(h.runs[at.Run], what)
}

// knows says whether of each run all was told that is wanted.
func (h *told) knows(wanted map[string][]string) bool {
	for id, want := range wanted {
		if !slices.Equal(want, h.runs[id]) {
			return false
		}
	}
	return true
}

// inTurns watches all runs of ada, and goes on from what it saw last in another process whenever cut says so.
func (h *told) inTurns(ctx context.Context, t *testing.T, nodes []*service.Service, cut func() bool) {
	for i := 0; ctx.Err() == nil; i++ {
		from, err := service.ParsePosition(h.last.String())
		if err != nil {
			t.Error(err)
			return
		}
		for at, err := range nodes[i%len(nodes)].WatchAll(ctx, ada, from) {
			if err != nil {
				t.Error(err)
				return
			}
			if h.add(at); at.Run != "" && cut() {
				break
			}
		}
	}
}

// node is a process whose clock is wrong.
func node(t *testing.T, store journal.Store, holder string, wrong time.Duration) *service.Service {
	t.Helper()
	now := func() time.Time { return time.Now().Add(wrong) }
	e := assert.Must(run.NewEngine(run.Config{Store: store, Build: "test", Holder: holder}))(t)
	s := assert.Must(service.New(service.Config{Store: store, Engine: e, Now: now}))(t)
	return s
}

func beginning(id string, at time.Time) journal.Beginning {
	return journal.Beginning{Run: journal.Run{ID: id, Session: "of " + id, Owner: ada, Assistant: "some", StartedAt: at,
		LeaseHolder: "one", LeaseUntil: at.Add(time.Hour)},
		Session: &journal.Session{ID: "of " + id, Owner: ada, Assistant: "some", CreatedAt: at, UpdatedAt: at},
		Records: []journal.Record{{Seq: 0, At: at, Kind: "x"}}}
}

// act is one thing that happens in the journal while streams are watched, or time that passes.
type act struct {
	What    string
	Seconds int // that pass
	Clock   int // of the node that begins a run: by how many ms it is wrong
	Late    int // s until a run that begins is seen
	Run     int // of those that go on
	Records int
}

func anyAct() *rapid.Generator[act] {
	return rapid.Custom(func(t *rapid.T) act {
		a := act{What: rapid.SampledFrom([]string{"begin", "append", "append", "end", "pass", "pass"}).Draw(t, "what")}
		switch a.What {
		case "begin":
			a.Clock = rapid.IntRange(-5000, 5000).Draw(t, "clock")
			a.Late = rapid.SampledFrom([]int{0, 0, 1, 7, 14}).Draw(t, "late")
		case "pass":
			a.Seconds = rapid.IntRange(1, 20).Draw(t, "seconds")
		default:
			a.Run, a.Records = rapid.IntRange(0, 9).Draw(t, "run"), rapid.IntRange(1, 3).Draw(t, "records")
		}
		return a
	})
}

func TestStreamsThatGoOnFromOneAnotherTellEverythingOnceWhateverTheClocksSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SliceOfN(anyAct(), 0, 8).Draw(rt, "before")
		during := rapid.SliceOfN(anyAct(), 1, 20).Draw(rt, "during")
		takes := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 2500}).Draw(rt, "takes")) * time.Millisecond
		cuts := rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(rt, "cuts")
		synctest.Test(t, func(t *testing.T) {
			w := newScene(t, teststore.Empty(t))
			w.store.slow(takes)
			w.play(before)
			pass(20) // until all are seen
			for id, next := range w.next {
				if next < 0 {
					w.want[id] = nil // it has ended
				}
			}
			h := &told{runs: map[string][]string{}}
			ctx, stop := context.WithCancel(t.Context())
			over := make(chan struct{})
			go func() {
				defer close(over)
				n := 0
				nodes := []*service.Service{node(t, w.store, "one", 0), node(t, w.store, "two", 5*time.Second),
					node(t, w.store, "three", -5*time.Second)}
				h.inTurns(ctx, t, nodes, func() bool { n++; return cuts[n%len(cuts)] })
			}()
			<-time.After(time.Second + 5*takes) // until the first stream is open: what ends before is not told
			w.play(during)
			pass(20)
			for id := range w.next {
				w.end(id)
			}
			pass(60)
			for range 70 { // each stream that is cut begins with looks
				<-time.After(10 * takes)
				if synctest.Wait(); h.knows(w.want) {
					break
				}
			}
			<-time.After(30 * takes) // for what is told again
			stop()
			<-over
			for id, want := range w.want {
				assert.NoDiff(rt, gocmp.Diff(want, h.runs[id]), "run %s (-want +got)", id)
			}
		})
	})
}

// scene is what happens in the journal, and what is to be told of it.
type scene struct {
	*testing.T
	store *late
	next  map[string]int64 // of runs; -1: it has ended
	want  map[string][]string
}

func newScene(t *testing.T, store journal.Store) *scene {
	hidden := &late{Store: store, shown: map[string]time.Time{}}
	return &scene{T: t, store: hidden, next: map[string]int64{}, want: map[string][]string{}}
}

func pass(seconds int) { <-time.After(time.Duration(seconds) * time.Second) }

func (w *scene) play(all []act) {
	for _, a := range all {
		if a.What == "begin" {
			w.begin(time.Duration(a.Clock)*time.Millisecond, time.Duration(a.Late)*time.Second)
			continue
		}
		pass(a.Seconds)
		id := fmt.Sprintf("r%d", a.Run)
		if w.next[id] <= 0 {
			continue
		}
		for range a.Records {
			w.record(id, nil)
		}
		if a.What == "end" {
			w.end(id)
		}
	}
}

func (w *scene) begin(wrong, after time.Duration) {
	id := fmt.Sprintf("r%d", len(w.want))
	assert.NoError(w, w.store.begin(w.Context(), beginning(id, time.Now().Add(wrong)), after))
	w.next[id], w.want[id] = 1, []string{"begun", "0"}
}

func (w *scene) record(id string, end *journal.End) {
	n, kind := w.next[id], "x"
	if end != nil {
		kind = run.KindEnd
	}
	assert.NoError(w, w.store.Append(w.Context(), ada, id, []journal.Record{{Seq: n, At: time.Now(), Kind: kind}},
		end))
	w.next[id], w.want[id] = n+1, append(w.want[id], fmt.Sprint(n))
}

func (w *scene) end(id string) {
	if w.next[id] < 0 {
		return
	}
	w.record(id, &journal.End{Status: journal.Done, At: time.Now(), Reason: "good"})
	w.next[id], w.want[id] = -1, append(w.want[id], "ended good")
}

// announcing is a store that tells at once what is written.
type announcing struct {
	journal.Store
	all   bool // it says that it tells all
	mu    sync.Mutex
	heard func(journal.Key)
}

func (a *announcing) Announced(ctx context.Context, began func(all bool), heard func(journal.Key)) error {
	a.mu.Lock()
	a.heard = heard
	a.mu.Unlock()
	began(a.all)
	<-ctx.Done()
	a.mu.Lock()
	a.heard = nil
	a.mu.Unlock()
	return ctx.Err()
}

func (a *announcing) announce(k journal.Key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.heard != nil {
		a.heard(k)
	}
}

func (a *announcing) Begin(ctx context.Context, b journal.Beginning) error {
	defer a.announce(journal.Key{Owner: b.Run.Owner, Run: b.Run.ID})
	return a.Store.Begin(ctx, b)
}

func (a *announcing) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	defer a.announce(journal.Key{Owner: o, Run: id})
	return a.Store.Append(ctx, o, id, recs, end)
}

func TestAnnouncedRunOfAnotherProcessIsToldAtOnceAndLookedForSeldom(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		s := node(h.T, store, "one", 0)
		stop := h.follow([]*service.Service{s}, never)
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		<-time.After(10 * time.Second)
		looks := asked.asked() - before
		assert.That(h, looks <= 12, "within 10 s it was asked %d times for runs", looks)
		w := newScene(h.T, store)
		w.begin(0, 0)
		w.record("r0", nil)
		synctest.Wait()
		same(h, "what was told at once", stop().runs["r0"], []string{"begun", "0", "1"})
	})
}

func TestStreamAsksHardlyEverWhereAllIsAnnouncedAndTellsAtOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked, all: true}
		stop := h.follow([]*service.Service{node(h.T, store, "one", 0)}, never)
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		<-time.After(5 * time.Minute)
		looks := asked.asked() - before
		assert.That(h, looks <= 22, "within 5 min it was asked %d times for runs", looks)
		w := newScene(h.T, store)
		w.begin(0, 0)
		w.record("r0", nil)
		synctest.Wait()
		same(h, "what was told at once", stop().runs["r0"], []string{"begun", "0", "1"})
	})
}

func TestRunWhoseAnnouncementFindsNoPlaceIsLookedForSoon(t *testing.T) {
	inHouse(t, func(h *house) {
		store := &announcing{Store: h.store, all: true}
		s, w := node(h.T, store, "one", 0), newScene(h.T, store)
		ctx, cancel := context.WithCancel(h.Context())
		reads, told := make(chan struct{}), make(chan string, 100)
		var all sync.WaitGroup
		all.Go(func() {
			for e := range s.WatchAll(ctx, ada, service.Position{}) {
				told <- e.Run
				select {
				case <-reads:
				case <-ctx.Done():
				}
			}
		})
		defer all.Wait()
		defer cancel()
		w.begin(0, 0)
		reads <- struct{}{}
		synctest.Wait()
		for range 100 { // the stream waits for its reader: most of them find no place
			store.announce(journal.Key{Owner: ada, Run: "r0"})
		}
		w.begin(0, 0)
		synctest.Wait()
		close(reads)
		<-time.After(time.Second)
		synctest.Wait()
		seen := map[string]bool{}
		for len(told) > 0 {
			seen[<-told] = true
		}
		assert.That(h, seen["r0"] && seen["r1"], "within a second it was told of %v", seen)
	})
}

func TestAnnouncementsOfRunsThatAreNotFoundAreLookedForAFewTimesASecond(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		stop := h.follow([]*service.Service{node(h.T, store, "one", 0)}, never)
		defer stop()
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		for range 1000 {
			store.announce(journal.Key{Owner: ada, Run: "unseen"})
			<-time.After(10 * time.Millisecond)
		}
		looks := asked.asked() - before
		assert.That(h, looks >= 40 && looks <= 60, "within 10 s it was asked %d times for runs", looks)
	})
}

func TestAnnouncementsOfRunsThatWaitForAPlaceAreNotLookedFor(t *testing.T) {
	inHouse(t, func(h *house) {
		asked := &counting{Store: h.store}
		store := &announcing{Store: asked}
		stop := h.follow([]*service.Service{node(h.T, store, "one", 0)}, never)
		defer stop()
		w := newScene(h.T, store)
		for range 150 {
			w.begin(0, 0)
		}
		<-time.After(30*time.Second + 3*time.Millisecond)
		before := asked.asked()
		for range 100 {
			w.record("r149", nil)
			<-time.After(10 * time.Millisecond)
		}
		looks := asked.asked() - before
		assert.That(h, looks <= 4, "within 1 s it was asked %d times for runs", looks)
	})
}
