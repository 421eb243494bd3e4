package api_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// clock is a time that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// overLimit wants a 429 with a time to wait in seconds, and gives that.
func (h *house) overLimit(about string, q question, kind string) time.Duration {
	h.Helper()
	a := h.refused(about, q, http.StatusTooManyRequests, kind)
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	assert.That(h, err == nil && seconds >= 1, "%s: Retry-After is %q", about, a.header.Get("Retry-After"))
	return time.Duration(seconds) * time.Second
}

func TestRunsAtOnceOfAUserAreLimitedWithThoseThatWaitAndWithoutThoseThatRest(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Runs = 3
	h.open()
	release := h.holds("ada")
	defer release()
	for i := range 3 {
		h.begin("", fmt.Sprint("Tea ", i))
	}
	tooMany := question{method: "POST", path: "/api/runs", body: asking("Milk?")}
	h.overLimit("the fourth", tooMany, "too_many_runs")
	h.begin(evesToken, "Milk?")
	var open api.Runs
	h.get(question{path: "/api/runs?open=true"}, &open)
	stopped := open.Runs[0].ID
	h.get(question{method: "POST", path: "/api/runs/" + stopped + "/cancel"}, nil)
	h.ended("", stopped)
	h.begin("", "Milk?")
	h.overLimit("one too many again", tooMany, "too_many_runs")

	// A fourth is counted while a process has it, and not while it rests.
	h.config.Limits.Runs = 4
	h.open()
	start := time.Now()
	fourth := journal.Run{ID: "r1", Session: open.Runs[0].Session, Owner: "ada", Assistant: "panel", StartedAt: start,
		LeaseHolder: "elsewhere", LeaseUntil: start.Add(time.Hour)}
	assert.NoError(t, h.store.Begin(t.Context(), journal.Beginning{Run: fourth,
		Records: []journal.Record{{Kind: run.KindStart, Data: []byte("{}")}}}))
	h.overLimit("while it is driven", tooMany, "too_many_runs")
	assert.NoError(t, h.store.Release(t.Context(), "ada", fourth.ID, fourth.LeaseHolder, start.Add(time.Hour)))
	h.begin("", "Milk?")
	h.overLimit("a fifth", tooMany, "too_many_runs")
}

func TestRunsThatAreBegunAtTheSameMomentAreCountedOneAfterTheOther(t *testing.T) {
	h := newHouse(t)
	meet := make(chan struct{})
	// of two that count at the same time each waits for the other; one alone goes on
	h.store = &faulty{Store: h.store, counting: func() {
		select {
		case meet <- struct{}{}:
		case <-meet:
		case <-time.After(20 * time.Millisecond):
		}
	}}
	h.config.Limits.Runs = 3
	h.open()
	defer h.holds("ada")()
	var all sync.WaitGroup
	statuses := make(chan int, 8)
	for range cap(statuses) {
		all.Go(func() {
			a, err := h.try(question{method: "POST", path: "/api/runs", body: asking("Tea?")})
			assert.Nil(t, err)
			statuses <- a.status
		})
	}
	all.Wait()
	close(statuses)
	counted := map[int]int{}
	for status := range statuses {
		counted[status]++
	}
	assert.That(t, counted[201] == 3 && counted[429] == 5, "the answers are %v", counted)
}

func TestAnswersOfWholeSessionsAreMadeFewAtATime(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Whole, h.config.Limits.AllWhole, h.config.Limits.Turn = 1, 1, 20*time.Millisecond
	var holds atomic.Bool
	reads, gate := make(chan struct{}), make(chan struct{})
	h.store = &faulty{Store: h.store, counting: func() {
		if holds.CompareAndSwap(true, false) {
			close(reads)
			<-gate
		}
	}}
	h.open()
	begun := h.begin(adasToken, "Tea?")
	h.over(begun.Run)
	session := question{path: "/api/sessions/" + begun.Session}
	holds.Store(true)
	first := make(chan answer, 1)
	go func() {
		a, _ := h.try(session) // its status tells
		first <- a
	}()
	h.wait("the first to be answered", reads)
	for _, path := range []string{"", "/audit", "/export"} {
		h.overLimit("another of the same user", question{path: session.path + path}, "too_many_at_once")
	}
	h.overLimit("an explanation", question{path: "/api/runs/" + begun.Run + "/explanation"}, "too_many_at_once")
	h.refused("one of another user", question{path: session.path, token: evesToken}, http.StatusServiceUnavailable,
		"busy")
	h.get(question{path: "/api/runs/" + begun.Run}, nil)
	close(gate)
	a := <-first
	assert.That(t, a.status == http.StatusOK, "the first was answered with %d %s", a.status, a.body)
	h.get(session, nil)
}

// wait waits until a channel is closed.
func (h *house) wait(what string, c <-chan struct{}) {
	h.Helper()
	select {
	case <-c:
	case <-time.After(deadline):
		h.Fatalf("waited in vain for %s", what)
	}
}
