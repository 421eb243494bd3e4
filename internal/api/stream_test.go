package api_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
)

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}

// without leaves out lines that begin so.
func without(lines []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, prefix) })
}

func ids(all []sent) (ids []string) {
	for _, e := range kept(all) {
		ids = append(ids, e.ID)
	}
	return ids
}

// panelRun is what is told of a run of ada and bob.
var panelRun = []string{"sync", "record 0 start", "step 0 RUNNING", "record 1 completion", "step 1 RUNNING",
	"record 2 completion", "step 2 SUCCESS",
	"event 2 answered ada: ADA", "event 2 answered bob: BOB", "record 3 trace", "record 4 end", "end heard"}

func TestRunIsStreamedByTheNodeThatDrivesItAndByOthersAndGoesOnAfterEachEvent(t *testing.T) {
	one := newHouse(t).open()
	two := one.beside("two").open()
	release := one.holds("bob")
	begun := one.begin("", "Tea?")
	path := "/api/runs/" + begun.Run + "/events"
	here, there := one.stream(question{path: path}), two.stream(question{path: path})
	first, _ := here.next()
	assert.That(t, as[api.Synced](t, first) == (api.Synced{Run: begun.Run, Session: begun.Session,
		Assistant: "panel", State: "running"}), "the first event is %+v", first)
	release()
	all := here.rest()
	same(t, "from the node that drives it", append([]string{"sync"}, told(t, all)...), panelRun)
	same(t, "ids", ids(all), []string{"0.1", "0.2", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "3.1", "4.1", "5"})
	elsewhere := there.rest()
	same(t, "from another", told(t, elsewhere), panelRun)
	same(t, "ids from another", ids(elsewhere), ids(all))
	r := as[api.RunEnded](t, all[len(all)-1]).Result
	assert.That(t, r != nil && r.Answer == "- ada: ADA\n- bob: BOB\n", "at the end the result is %+v", r)
	events := kept(all)
	for i, e := range events[:len(events)-1] {
		for name, h := range map[string]*house{"the same": one, "the other": two} {
			rest := h.stream(question{path: path, header: map[string]string{"Last-Event-ID": e.ID}}).rest()
			same(t, fmt.Sprintf("after %s at %s node", e.ID, name), told(t, rest),
				append([]string{"sync"}, told(t, events[i+1:])...))
		}
		rest := two.stream(question{path: path + "?after=" + e.ID}).rest()
		same(t, "after "+e.ID+" in the address", ids(rest), ids(events[i+1:]))
	}
	a := two.ask(question{path: path, header: map[string]string{"Last-Event-ID": "5"}})
	same(t, "once all was seen", []int{a.status, len(a.body)}, []int{http.StatusNoContent, 0})
	same(t, "with a record number alone", told(t, two.stream(question{path: path + "?after=3"}).rest()),
		[]string{"sync", "record 3 trace", "record 4 end", "end heard"})
	one.quiet("after the run")
}

func TestTheFirstRecordIsToldWithoutThePathsOfTheServer(t *testing.T) {
	h := newHouse(t).open()
	begun := h.begin("", "Tea?")
	all := h.stream(question{path: "/api/runs/" + begun.Run + "/events"}).until("the end", isEvent("end"))
	for _, e := range all {
		if e.Event == "record" {
			r := as[api.RecordAdded](t, e)
			assert.That(t, (r.Data == nil) == (r.Seq == 0), "record %d is told as %s", r.Seq, e.Data)
		}
	}
}

func TestStreamIsRefusedBeforeItBegins(t *testing.T) {
	h := newHouse(t).open()
	begun := h.begin("", "Tea?")
	path := "/api/runs/" + begun.Run + "/events"
	h.refused("a run of another", question{path: path, token: evesToken}, 404, "not_found")
	h.refused("no run", question{path: "/api/runs/none/events"}, 404, "not_found")
	h.refused("no token", question{path: path, token: "-"}, 401, "no_token")
	h.refused("no id of an event", question{path: path, header: map[string]string{"Last-Event-ID": "x"}}, 400,
		"invalid_request")
	h.refused("no id of an event, of all runs",
		question{path: "/api/events", header: map[string]string{"Last-Event-ID": "7"}}, 400, "invalid_request")
	h.refused("no id of an event, in the address", question{path: "/api/events?after=!"}, 400, "invalid_request")
	h.refused("a parameter that is none", question{path: path + "?from=1"}, 400, "invalid_request")
	a := h.ask(question{method: "HEAD", path: path})
	assert.That(t, a.status == 200 && a.header.Get("Content-Type") == "text/event-stream",
		"HEAD gives %d %v", a.status, a.header)
}

func TestDraftsReplaceEachOtherAndASlowClientGetsTheLast(t *testing.T) {
	h := newHouse(t).open()
	words := make(chan string)
	h.says("ada", words)
	begun := h.begin("", "Tea?")
	path := "/api/runs/" + begun.Run + "/events"
	l := h.stream(question{path: path})
	l.until("the first step", isEvent("step"))
	words <- "one "
	l.until("the first word", func(e sent) bool { return e.Event == "text" && as[api.Draft](t, e).Text == "one " })
	words <- "" // it was wrong
	words <- "uno "
	again := l.until("its replacement", func(e sent) bool { return e.Event == "text" })
	same(t, "a retraction, and what stands instead", without(without(told(t, again), "record"), "step"),
		[]string{"retract", "text uno "})
	whole := "uno "
	for i := range 3000 {
		words <- fmt.Sprintf("%d ", i)
		whole += fmt.Sprintf("%d ", i)
	}
	late := h.stream(question{path: path})
	late.until("what was said, as one piece", func(e sent) bool {
		return e.Event == "text" && as[api.Draft](t, e).Text == whole
	})
	close(words)
	all := l.rest()
	drafts, before := 0, ""
	for _, e := range all {
		if e.Event != "text" {
			continue
		}
		text := as[api.Draft](t, e).Text
		if drafts++; !strings.HasPrefix(text, before) || !strings.HasPrefix(whole, text) {
			t.Errorf("draft %d, of %d bytes, does not go on from the one before", drafts, len(text))
		}
		before = text
	}
	assert.That(t, before == whole && drafts <= 1000,
		"3000 words came as %d drafts; the last has %d of %d bytes", drafts, len(before), len(whole))
	late.close()
	if again := told(t, h.stream(question{path: path, header: map[string]string{"Last-Event-ID": "2.1"}}).rest()); len(
		without(again, "text")) != len(again) {
		t.Errorf("after its receipt the text comes again: %q", again)
	}
}

func TestDraftIsNotCutWithinACharacter(t *testing.T) {
	h := newHouse(t).open()
	words := make(chan string)
	h.says("ada", words)
	begun := h.begin("", "Tea?")
	l := h.stream(question{path: "/api/runs/" + begun.Run + "/events"})
	l.until("the first step", isEvent("step"))
	for i := range len("né€𝄞") {
		words <- "né€𝄞"[i : i+1]
	}
	for _, e := range l.until("all of it", func(e sent) bool {
		return e.Event == "text" && as[api.Draft](t, e).Text == "né€𝄞"
	}) {
		assert.That(t, e.Event != "text" || !strings.ContainsRune(as[api.Draft](t, e).Text, '\uFFFD'),
			"a draft is %s", e.Data)
	}
	close(words)
	l.rest()
}

func TestWatcherHearsThatARunWasLeftAndHowAnotherNodeGoesOnWithIt(t *testing.T) {
	one := newHouse(t).open()
	two := one.beside("two").open()
	words := make(chan string)
	one.says("ada", words)
	begun := one.begin("", "Tea?")
	l := one.stream(question{path: "/api/runs/" + begun.Run + "/events"})
	words <- "half of it"
	l.until("a text", isEvent("text"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one.engine.Drain(ctx)
	left := l.until("a word that it was left", isEvent("sync"))
	about := as[api.Synced](t, left[len(left)-1])
	assert.That(t, about.Run == begun.Run, "it says so of %+v", about)
	two.get(question{method: "POST", path: "/api/runs/" + begun.Run + "/resume"}, nil)
	rest := told(t, l.rest())
	same(t, "the rest", []string{rest[0], rest[len(rest)-1]}, []string{"record 3 resume", "end heard"})
}

func TestStreamsEndWhenTheServerLeavesAndNoneBegins(t *testing.T) {
	h := newHouse(t)
	leaving := make(chan struct{})
	h.config.Leaving = leaving
	h.open()
	release := h.holds("ada")
	begun := h.begin("", "Tea?")
	var open []*listening
	for _, path := range []string{"/api/events", "/api/runs/" + begun.Run + "/events"} {
		l := h.stream(question{path: path})
		l.until("a record", isEvent("record"))
		open = append(open, l)
	}
	close(leaving)
	for _, l := range open {
		rest := told(t, l.rest())
		same(t, "the last of a stream", rest[len(rest)-1], ":close")
	}
	h.refused("a stream", question{path: "/api/events"}, 503, "draining")
	release()
	h.over(begun.Run)
}

func TestStreamsOfAUserAndOfAProcessAreBounded(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Streams, h.config.Limits.AllStreams = 3, 5
	h.open()
	var open []*listening
	for range 3 {
		open = append(open, h.stream(question{path: "/api/events"}))
	}
	a := h.refused("a fourth of one user", question{path: "/api/events"}, 429, "too_many_streams")
	assert.That(t, a.header.Get("Retry-After") != "", "it does not say when to try again: %v", a.header)
	for range 2 {
		open = append(open, h.stream(question{path: "/api/events", token: evesToken}))
	}
	h.refused("a sixth of all", question{path: "/api/events", token: evesToken}, 503, "busy")
	for _, l := range open {
		l.close()
	}
	h.quiet("after they are closed")
	h.stream(question{path: "/api/events"}).close()
}

func TestStreamShowsThatItLivesAndEndsWithItsToken(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Beat = 20 * time.Millisecond
	h.open()
	l := h.stream(question{path: "/api/events"})
	for range 3 {
		l.until("a sign of life", func(e sent) bool { return e.Comment == "alive" })
	}
	assert.NoError(t, user.New(h.users, time.Now).Revoke(t.Context(), "ada"))
	l.rest() // within the deadline of the client
	h.quiet("after the token was revoked")
	line := h.log.waitFor(t, `"route":"GET /api/events"`)
	assert.That(t, strings.Contains(line, `"status":200`), "the log has %s", line)
}

func TestLagOfRecordsIsToldOfThoseThatAreMadeWhileAStreamIsOpen(t *testing.T) {
	h := newHouse(t)
	var wrong atomic.Int64 // by how much the server's clock is
	h.config.Now = func() time.Time { return time.Now().Add(time.Duration(wrong.Load())) }
	var mu sync.Mutex
	var lags []time.Duration
	h.config.Lag = func(d time.Duration) {
		mu.Lock()
		lags = append(lags, d)
		mu.Unlock()
	}
	h.open()
	release := h.holds("ada")
	path := "/api/runs/" + h.begin("", "Tea?").Run + "/events"
	wrong.Store(int64(time.Hour)) // so that all was made before
	l := h.stream(question{path: path})
	l.until("what is there", func(e sent) bool { return e.ID == "1.2" })
	l.close()
	h.quiet("after it is closed")
	same(t, "lags of records that were there", len(lags), 0)
	wrong.Store(-int64(time.Hour)) // so that all is made afterwards
	l = h.stream(question{path: path + "?after=1.2"})
	wrong.Store(0)
	release()
	l.rest()
	h.quiet("after the run")
	same(t, "lags of receipt, trace and end", len(lags), 3)
	for _, lag := range lags {
		assert.That(t, lag >= 0 && lag <= deadline, "a lag is %s", lag)
	}
}

func TestStreamOverHTTP2OutlastsSilence(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Stall = time.Second
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.HTTPServer(h.handler(), slog.New(slog.DiscardHandler))
	server.EnableHTTP2 = true
	server.StartTLS()
	h.url, h.addr = server.URL, server.Listener.Addr().String()
	t.Cleanup(server.Close)
	r := assert.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, h.url+"/api/events", nil))(t)
	r.Header.Set("Authorization", "Bearer "+adasToken)
	resp, err := server.Client().Do(r) //nolint:bodyclose // at the end of the test
	assert.NoError(t, err)
	l := &listening{t: t, resp: resp, cancel: func() {}, lines: bufio.NewReader(resp.Body)}
	defer l.close()
	assert.Require(t, resp.ProtoMajor == 2 && resp.StatusCode == 200, "it answers %d over %s", resp.StatusCode, resp.Proto)
	l.until("its beginning", isEvent("sync"))
	<-time.After(1500 * time.Millisecond) // longer than a client may take to read
	s, _ := h.service("two", h.store, h.panel)
	begun, err := s.Start(t.Context(), "ada", service.Request{Assistant: "panel", Words: "Tea?", Options: "ada bob"})
	assert.NoError(t, err)
	l.until("the end of a run", isEvent("end"))
	assert.Must(begun.Wait(t.Context()))(t)
}

// The ids of the stream of all runs are positions, which service reads and writes.
func TestStreamOfAllRunsGoesOnAtAnotherNodeAfterTheLastIDThatWasSeen(t *testing.T) {
	one := newHouse(t).open()
	two := one.beside("two").open()
	l := one.stream(question{path: "/api/events"})
	first, _ := l.next()
	l.close()
	one.begin(evesToken, "not ada's")
	begun := one.begin("", "Tea?")
	one.over(begun.Run)
	events := two.stream(question{path: "/api/events", header: map[string]string{"Last-Event-ID": first.ID}}).
		until("its end", isEvent("end"))
	same(t, "what is told of the run", told(t, events), append([]string{"sync", "begin Tea?"}, panelRun[1:]...))
	seen := kept(events)
	at := slices.IndexFunc(seen, isEvent("step"))
	again := one.stream(question{path: "/api/events?after=" + url.QueryEscape(seen[at].ID)}).until("its end",
		isEvent("end"))
	same(t, "what is told after a step", told(t, again), append([]string{"sync"}, told(t, seen[at+1:])...))
	last := seen[len(seen)-1].ID
	assert.That(t, len(last) <= 400, "the last id has %d bytes", len(last))
}
