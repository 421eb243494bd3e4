package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// heavy is a run of ada that nobody drives, with records of a MiB, which a test appends.
type heavy struct {
	*house
	next int64
}

func (h *heavy) begin() {
	now := time.Now()
	h.add(func(r journal.Record) error {
		return h.store.Begin(h.Context(), journal.Beginning{Records: []journal.Record{r},
			Session: &journal.Session{ID: "s", Owner: "ada", Assistant: "panel", CreatedAt: now, UpdatedAt: now},
			Run:     journal.Run{ID: "r", Session: "s", Owner: "ada", Assistant: "panel", StartedAt: now}})
	})
}

func (h *heavy) append(end *journal.End) {
	h.add(func(r journal.Record) error {
		if end != nil {
			r.Kind = run.KindEnd
		}
		return h.store.Append(h.Context(), "ada", "r", []journal.Record{r}, end)
	})
}

func (h *heavy) add(do func(journal.Record) error) {
	h.Helper()
	assert.NoError(h, do(journal.Record{Seq: h.next, At: time.Now(), Kind: "note",
		Data: json.RawMessage(`{"said":"` + strings.Repeat("tea ", 1<<18) + `"}`)}))
	h.next++
}

func TestClientThatReadsNothingIsDroppedAndHoldsUpNobody(t *testing.T) {
	house := newHouse(t)
	house.config.Limits.Stall = 3 * time.Second
	h := &heavy{house: house.open()}
	h.begin()
	for _, path := range []string{"/api/events", "/api/runs/r/events"} {
		conn := h.dial()
		assert.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4096))
		assert.Must(io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: "+h.addr+"\r\nAuthorization: Bearer "+
			adasToken+"\r\n\r\n"))(t)
	}
	reader := h.stream(question{path: "/api/events"})
	reader.until("a record", isEvent("record"))
	const n = 12 // more than the buffers between the two take
	for range n {
		h.append(nil)
	}
	h.append(&journal.End{Status: journal.Done, At: time.Now(), Reason: "heard"})
	records := 0
	for _, e := range reader.until("the end", isEvent("end")) {
		if e.Event == "record" {
			records++
		}
	}
	same(t, "records that the one that reads got after the first", records, n+1)
	answering.atMost(t, 1, "once who does not read is dropped")
	reader.close()
	h.quiet("in the end")
}

func TestEventsAreAsTheDescriptionSays(t *testing.T) {
	h := newHouse(t).open()
	conforms := h.described()
	words, reads := make(chan string), make(chan struct{})
	h.says("ada", words)
	h.mu.Lock()
	said := h.do["ada"]
	h.do["ada"] = func(ctx context.Context, job run.Job) (any, error) {
		job.Emit(run.Piece{Wait: &run.Wait{Until: time.Now(), Why: "it is busy"}})
		<-reads
		job.Emit(run.Piece{Reading: &run.Reading{Tokens: 4900, Read: 1960}})
		return said(ctx, job)
	}
	h.mu.Unlock()
	begun := h.begin("", "Tea?")
	one, all := h.stream(question{path: "/api/runs/" + begun.Run + "/events"}), h.stream(question{path: "/api/events"})
	events := append(one.until("a pause", isEvent("wait")), all.until("a pause", isEvent("wait"))...)
	close(reads)
	events = append(append(events, one.until("a reading", isEvent("reading"))...),
		all.until("a reading", isEvent("reading"))...)
	words <- "half"
	events = append(append(events, one.until("a text", isEvent("text"))...), all.until("a text", isEvent("text"))...)
	words <- ""
	events = append(append(events, one.until("its retraction", isEvent("retract"))...),
		all.until("its retraction", isEvent("retract"))...)
	close(words)
	events = append(append(events, one.rest()...), all.until("the end", isEvent("end"))...)
	all.close()
	seen := map[string]bool{}
	for _, e := range events {
		seen[e.Event] = true
		raw := assert.Must(json.Marshal(map[string]any{"event": e.Event, "id": e.ID, "data": e.Data}))(t)
		conforms(e.Event, "StreamEvent", answer{body: raw})
	}
	same(t, "kinds of events", len(seen), 10) // all but answer
}

func TestAssistantThatPanicsEndsTheStreamAndNotTheServer(t *testing.T) {
	h := newHouse(t).open()
	h.panel.Begun = func(*run.StartRecord) bt.Why { panic("burst, with words of hers") }
	begun := h.begin("", "Tea?")
	for _, path := range []string{"/api/runs/" + begun.Run + "/events", "/api/events"} {
		release := h.holds("ada")
		h.begin("", "Milk?")
		l := h.stream(question{path: path})
		release()
		rest := told(t, l.rest())
		same(t, "the last of the stream", rest[len(rest)-1], ":broken")
	}
	h.get(question{path: "/api/me"}, nil)
	assert.That(t, !strings.Contains(h.log.text(), "words of hers"), "the log has words of a user")
}

// lines is a log in memory, and tells of what happens in its house.
type lines struct {
	mu   sync.Mutex
	all  bytes.Buffer
	next chan struct{} // is closed when something happens; nil: nobody waits
}

func (l *lines) Write(b []byte) (int, error) {
	defer l.tell()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

// tell wakes who waits for something to happen.
func (l *lines) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next != nil {
		close(l.next)
		l.next = nil
	}
}

// news is closed when something happens after this: a line, a step in a folder of the Council, whatever else tells of
// itself.
func (l *lines) news() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next == nil {
		l.next = make(chan struct{})
	}
	return l.next
}

// until waits until something is so. Whatever makes it so tells of itself.
func (l *lines) until(t testing.TB, what string, is func() bool) {
	t.Helper()
	late := time.NewTimer(deadline)
	defer late.Stop()
	for {
		news := l.news()
		if is() {
			return
		}
		select {
		case <-news:
		case <-late.C:
			t.Fatalf("it was waited for in vain that %s; the log:\n%s", what, l.text())
		}
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// waitFor waits until the log has a text; the line of a request is written after its answer.
func (l *lines) waitFor(t testing.TB, text string) (found string) {
	t.Helper()
	l.until(t, "a line has "+text, func() bool {
		for line := range strings.Lines(l.text()) {
			if strings.Contains(line, text) {
				found = line
				return true
			}
		}
		return false
	})
	return found
}
