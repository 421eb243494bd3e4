package service_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// follow watches all runs of ada in the background, until the function it returns is called, which gives what was told.
func (h *house) follow(nodes []*service.Service, cut func(n int) bool) (stop func() *told) {
	ctx, cancel := context.WithCancel(h.Context())
	all := &told{runs: map[string][]string{}}
	over := make(chan struct{})
	go func() {
		defer close(over)
		n := 0
		all.inTurns(ctx, h.T, nodes, func() bool { n++; return cut(n) })
	}()
	synctest.Wait()
	return func() *told {
		cancel()
		<-over
		return all
	}
}

func never(int) bool { return false }

// playTwo has two runs, each on a process of its own, go on at the same time, and gives their ids.
func (h *house) playTwo(one, two *service.Service) []string {
	h.takes("ada", 700*time.Millisecond, nil)
	h.takes("bob", 900*time.Millisecond, nil)
	a := h.start(one, "", "Tea?")
	<-time.After(100 * time.Millisecond)
	b := h.start(two, "", "Milk?")
	h.wait(a)
	h.wait(b)
	<-time.After(5 * time.Second)
	return []string{a.ID, b.ID}
}

func TestStreamThatIsCutAnywhereGoesOnInAnotherProcessWithTheNextThing(t *testing.T) {
	var want []string
	inHouse(t, func(h *house) {
		one, two := h.process("one", h.store), h.process("two", h.store)
		stop := h.follow([]*service.Service{one}, never)
		ids := h.playTwo(one, two)
		all := stop()
		want = all.runs[ids[0]]
		same(h, "both runs", strings.ReplaceAll(strings.Join(all.runs[ids[1]], "\n"), "Milk", "Tea"),
			strings.Join(want, "\n"))
	})
	wanted := []string{"begun", "0", "0 step RUNNING", "1", "1 step RUNNING", "2", "2 step SUCCESS",
		`2 event answered {"Persona":"ada","Answer":"ADA"} Panel/Ask ‘ada: ADA’`,
		`2 event answered {"Persona":"bob","Answer":"BOB"} Panel/Ask ‘bob: BOB’`,
		"3", "4", "ended heard"}
	assert.That(t, slices.Equal(want, wanted), "without a cut, a run is told as %q\nwant %q", want, wanted)
	cuts := map[string]func(n int) bool{"everywhere": func(int) bool { return true }}
	for k := 1; k <= 2*len(wanted); k++ {
		cuts[fmt.Sprintf("after %d", k)] = func(n int) bool { return n == k }
	}
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				one, two := h.process("one", h.store), h.process("two", h.store)
				stop := h.follow([]*service.Service{one, two, h.process("three", h.store)}, cut)
				ids := h.playTwo(one, two)
				all := stop()
				same(h, "runs", slices.Sorted(maps.Keys(all.runs)), ids)
				for _, id := range ids {
					same(h, "what was told of a run", all.runs[id], wanted)
				}
			})
		})
	}
}

func TestStreamBeginsWithWhatGoesOnAndLeavesOutWhatHasEnded(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		ended := h.ask(s, "", "Tea?")
		release := h.holds("ada")
		going := h.start(s, "", "Milk?")
		<-time.After(time.Hour)
		stop := h.follow([]*service.Service{s}, never)
		<-time.After(time.Minute)
		release()
		h.wait(going)
		synctest.Wait()
		all := stop()
		same(h, "what was told of the run that had ended", all.runs[ended.ID], nil)
		same(h, "last thing told of the run that went on", all.runs[going.ID][len(all.runs[going.ID])-1], "ended heard")
		text := all.last.String()
		assert.That(h, len(text) <= 60, "the position has %d bytes: %s", len(text), text)
	})
}

func TestWhatBeganWhileNobodyWatchedIsMadeUpFor(t *testing.T) {
	for name, n := range map[string]int{"some hundreds": 400, "more than a thousand": 1100} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				w := newScene(h.T, h.store)
				s := node(h.T, h.store, "one", 0)
				stop := h.follow([]*service.Service{s}, never)
				w.begin(0, 0)
				pass(1)
				from := stop().last
				for range n {
					w.begin(0, 0)
					pass(1)
					w.end(fmt.Sprintf("r%d", len(w.want)-1))
				}
				again := &told{runs: map[string][]string{}, last: from}
				ctx, cancel := context.WithCancel(h.Context())
				over := make(chan struct{})
				longest := 0
				go func() {
					defer close(over)
					again.inTurns(ctx, h.T, []*service.Service{s}, func() bool {
						longest = max(longest, len(again.last.String()))
						return false
					})
				}()
				pass(5)
				cancel()
				<-over
				missing := 0
				for i := range n {
					id := fmt.Sprintf("r%d", i+1)
					if again.runs[id] == nil {
						missing++
						continue
					}
					same(h, "what was told of "+id, again.runs[id], w.want[id])
				}
				same(h, "runs that are not told of", missing, max(0, n-1000))
				assert.That(h, longest <= 8<<10, "the longest position has %d bytes", longest)
			})
		})
	}
}

func TestRunsBeyondTheBoundAreToldOnceThereIsAPlace(t *testing.T) {
	needs.All(t, "more runs than a stream follows")
	inHouse(t, func(h *house) {
		const n = 135 // some more than are followed at once
		w := newScene(h.T, h.store)
		nodes := []*service.Service{node(h.T, h.store, "one", 0), node(h.T, h.store, "two", 0)}
		cuts := 0
		stop := h.follow(nodes, func(n int) bool { cuts++; return n%37 == 0 })
		for range n {
			w.begin(0, 0)
		}
		pass(60)
		for i := range n {
			w.end(fmt.Sprintf("r%d", i))
			if i%5 == 0 {
				pass(1)
			}
		}
		pass(60)
		all := stop()
		for id, want := range w.want {
			same(h, "what was told of "+id, all.runs[id], want)
		}
		assert.That(h, len(all.last.String()) <= 100, "in the end the position is %s", all.last)
	})
}

func TestStreamThatIsNotReadHoldsFewOfTheRunsThatHaveEnded(t *testing.T) {
	inHouse(t, func(h *house) {
		const n = 40
		w := newScene(h.T, h.store)
		nothingSeen, allBegun := service.Position{Since: 1},
			service.Position{Since: 1, Running: map[string]service.Place{}}
		for i := range n {
			w.begin(0, 0)
			w.end(fmt.Sprintf("r%d", i))
		}
		for id := range w.want {
			allBegun.Running[id] = service.Place{}
		}
		for _, from := range []service.Position{nothingSeen, allBegun} {
			store := &counting{Store: h.store}
			all, ended := told{runs: map[string][]string{}}, 0
			for at, err := range node(h.T, store, "one", 0).WatchAll(h.Context(), ada, from) {
				assert.NoError(h, err)
				synctest.Wait()                             // all that is done without the stream being read
				if held := store.held() - ended; held > 5 { // with the one that is being told
					h.Fatalf("after %.9s, %d ended: %d more are held", from, ended, held)
				}
				if all.add(at); at.Ended != nil {
					ended++
				}
				if ended == n {
					break
				}
			}
			for id, want := range w.want {
				got := all.runs[id]
				same(h, "what was told of "+id, got, want[len(want)-len(got):])
				same(h, "things told of "+id+" at least", len(got) >= len(want)-1, true)
			}
		}
	})
}

func TestOfRunsThatWentOnBeforeTheLatestAreTold(t *testing.T) {
	inHouse(t, func(h *house) {
		const n = 100
		w := newScene(h.T, h.store)
		for range n {
			w.begin(0, 0)
			pass(1)
		}
		pass(60)
		stop := h.follow([]*service.Service{node(h.T, h.store, "one", 0)}, never)
		pass(5)
		w.begin(0, 0)
		pass(5)
		all := stop()
		same(h, "runs", len(all.runs), 65)
		same(h, "the first of the latest, the one before, and the one that began",
			[][]string{all.runs["r36"], all.runs["r35"], all.runs["r100"]},
			[][]string{{"begun", "0"}, nil, {"begun", "0"}})
	})
}

func TestRemovedRunEndsOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		w := newScene(h.T, h.store)
		nodes := []*service.Service{node(h.T, h.store, "one", 0), node(h.T, h.store, "two", 0)}
		stop := h.follow(nodes, func(int) bool { return true })
		w.begin(0, 0)
		w.begin(0, 0)
		pass(1)
		remove := func(id string) {
			assert.NoError(h, h.store.DeleteSession(h.Context(), ada, "of "+id, journal.ByPerson, time.Now().Add(2*time.Hour)))
		}
		remove("r0")
		pass(1)
		from := stop().last
		remove("r1")
		again := &told{runs: map[string][]string{}, last: from}
		ctx, cancel := context.WithTimeout(h.Context(), 2*time.Minute)
		defer cancel()
		again.inTurns(ctx, h.T, nodes, func() bool { return true })
		same(h, "what was told of the second, once the stream went on", again.runs,
			map[string][]string{"r1": {"ended removed"}})
	})
}

func TestStreamGivesTheRowsThatListsGive(t *testing.T) {
	inHouse(t, func(h *house) {
		shadow := h.panel("shadow")
		shadow.Companion = true
		begin := func(s *service.Service) *service.Run {
			return assert.Must(s.Start(h.Context(), ada, service.Request{Assistant: "shadow", Words: "Tea?", Options: "ada"}))(h)
		}
		left := begin(h.process("dead", &failing{Store: h.store, at: 3}, shadow))
		_, err := left.Wait(h.Context())
		isError(h, "the run that is left", err, errDown)
		for n := range journal.MaxTries {
			now := time.Now().Add(time.Duration(n+1) * time.Hour)
			same(h, "taken", h.store.Acquire(h.Context(), ada, left.ID, fmt.Sprint("dead ", n), now, now.Add(time.Minute)),
				nil)
		}
		<-time.After(12 * time.Hour)
		s := h.process("one", h.store, shadow)
		rows := func(id string) (begun, ended chan service.Row) {
			begun, ended = make(chan service.Row, 1), make(chan service.Row, 1)
			ctx, cancel := context.WithCancel(h.Context())
			h.Cleanup(cancel)
			go func() {
				for e, err := range s.WatchAll(ctx, ada, service.Position{}) {
					switch {
					case err != nil:
						h.Error(err)
					case e.Run == id && e.Begun != nil:
						begun <- *e.Begun
					case e.Run == id && e.Ended != nil:
						ended <- *e.Ended
						return
					}
				}
			}()
			synctest.Wait()
			return begun, ended
		}
		begun, ended := rows(left.ID)
		want := assert.Must(s.Run(h.Context(), ada, left.ID))(h)
		same(h, "state", []string{want.State, want.Cause}, []string{run.StatePaused, run.CauseSetAside})
		same(h, "the run that is set aside", <-begun, want)
		assert.NoError(h, s.Delete(h.Context(), ada, left.Session))
		want.Standing = run.Standing{State: run.StateEnded, Cause: service.CauseRemoved}
		same(h, "once it was removed", <-ended, want)

		release := h.holds("ada")
		going := begin(s)
		begun, ended = rows(going.ID)
		same(h, "the run that goes on", (<-begun).Companion, true)
		release()
		h.wait(going)
		same(h, "at its end", <-ended, assert.Must(s.Run(h.Context(), ada, going.ID))(h))
	})
}

// counting counts what is asked of a store, and fails if it is told to.
type counting struct {
	journal.Store
	mu   sync.Mutex
	runs int
	read map[string]bool // runs whose records were asked for
	fail error
}

func (c *counting) Records(ctx context.Context, o journal.Owner, id string, from int64) ([]journal.Record, error) {
	c.mu.Lock()
	if c.read == nil {
		c.read = map[string]bool{}
	}
	c.read[id] = true
	c.mu.Unlock()
	return c.Store.Records(ctx, o, id, from)
}

func (c *counting) Runs(ctx context.Context, o journal.Owner, f journal.Filter) ([]journal.Run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs++; c.fail != nil {
		return nil, c.fail
	}
	return c.Store.Runs(ctx, o, f)
}

// held is of how many runs the records were asked for.
func (c *counting) held() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.read)
}

// asked is how often it was asked for runs.
func (c *counting) asked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.runs
}

func TestTextComesAtOnceWhileRunsAreLookedForInASlowJournal(t *testing.T) {
	inHouse(t, func(h *house) {
		w := newScene(h.T, h.store)
		s := h.process("one", w.store)
		release := h.holds("ada")
		r := h.start(s, "", "Tea?")
		ctx, cancel := context.WithCancel(h.Context())
		defer cancel()
		over, began := make(chan struct{}), time.Now()
		var took time.Duration
		go func() {
			defer close(over)
			for at, err := range s.WatchAll(ctx, ada, service.Position{}) {
				switch {
				case err != nil:
					h.Error(err)
				case at.Ended != nil:
					took = time.Since(began)
					return
				case at.Run == "":
					w.store.slow(7 * time.Second)
				}
			}
		}()
		<-time.After(3 * time.Second)
		began = time.Now()
		release()
		h.wait(r)
		<-over
		same(h, "time that it took to see all", took, 0)
	})
}

func TestStreamOfAllRunsEndsWithTheErrorOfTheJournal(t *testing.T) {
	inHouse(t, func(h *house) {
		store := &counting{Store: h.store}
		s := node(h.T, store, "one", 0)
		got := make(chan error)
		go func() {
			var last error
			for _, err := range s.WatchAll(h.Context(), ada, service.Position{}) {
				last = err
			}
			got <- last
		}()
		fails := func(err error) {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.fail = err
		}
		pass(5)
		fails(journal.ErrLocked)
		pass(9)
		fails(nil) // it is outlasted
		pass(5)
		began := time.Now()
		fails(journal.ErrLocked)
		isError(h, "a journal that fails", <-got, journal.ErrLocked)
		took := time.Since(began)
		assert.That(h, took >= 9*time.Second && took <= 12*time.Second, "it ended after %s", took)
		for _, err := range s.WatchAll(h.Context(), ada, service.Position{}) {
			isError(h, "a stream that begins then", err, journal.ErrLocked)
		}
		fails(nil)
		ctx, cancel := context.WithTimeout(h.Context(), time.Minute)
		defer cancel()
		for at, err := range s.WatchAll(ctx, ada, service.Position{}) {
			assert.That(h, err == nil && at.Run == "", "a stream that begins when it works again: %+v, %v", at, err)
		}
		assert.That(h, errors.Is(ctx.Err(), context.DeadlineExceeded), "it ended before its context")
	})
}
