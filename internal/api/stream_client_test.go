package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
)

// sent is an event, or a comment, as it came over the wire.
type sent struct {
	ID, Event, Comment string
	Data               json.RawMessage
}

// as reads the data of an event.
func as[T any](t testing.TB, e sent) (data T) {
	t.Helper()
	assert.NoErrorf(t, json.Unmarshal(e.Data, &data), "%s %s", e.Event, e.Data)
	return data
}

// line is an event in a line: what it is, with the number of the record.
func (e sent) line(t testing.TB) string {
	t.Helper()
	switch e.Event {
	case "record":
		r := as[api.RecordAdded](t, e)
		return fmt.Sprintf("record %d %s", r.Seq, r.Kind)
	case "step":
		s := as[api.StepMade](t, e)
		return fmt.Sprintf("step %d %s", s.Seq, s.Status)
	case "event":
		d := as[api.Decided](t, e)
		return fmt.Sprintf("event %d %s %.20s", d.Seq, d.Type, d.Text)
	case "text":
		return fmt.Sprintf("text %.20s", as[api.Draft](t, e).Text)
	case "begin":
		return "begin " + as[api.RunBegun](t, e).Row.Title
	case "end", "answer":
		return e.Event + " " + as[api.RunEnded](t, e).Row.Cause
	case "":
		return ":" + e.Comment
	}
	return e.Event
}

// listening is a client of a stream.
type listening struct {
	t      testing.TB
	resp   *http.Response
	cancel context.CancelFunc
	lines  *bufio.Reader
}

// stream opens a stream; one that is none is a fault of the test.
func (h *house) stream(q question) *listening {
	h.Helper()
	l := assert.Must(h.reach(q))(h)
	h.Cleanup(l.close)
	assert.Require(h, l.resp.StatusCode == http.StatusOK && l.resp.Header.Get("Content-Type") == "text/event-stream",
		"%s: %d %s", q.path, l.resp.StatusCode, l.resp.Header.Get("Content-Type"))
	return l
}

func (h *house) reach(q question) (*listening, error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	method, body := http.MethodGet, ""
	if q.body != nil {
		raw := assert.Must(json.Marshal(q.body))(h)
		method, body = http.MethodPost, string(raw)
	}
	r := assert.Must(http.NewRequestWithContext(ctx, method, h.url+q.path, strings.NewReader(body)))(h)
	token := q.token
	if token == "" {
		token = adasToken
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if q.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range q.header {
		r.Header.Set(name, value)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r) //nolint:bodyclose // close does
	if err != nil {
		cancel()
		return nil, err
	}
	return &listening{t: h.TB, resp: resp, cancel: cancel, lines: bufio.NewReader(resp.Body)}, nil
}

// close ends the connection, as a client does that goes away.
func (l *listening) close() {
	l.cancel()
	_ = l.resp.Body.Close()
}

// next is the next event or comment; none at the end of the stream.
func (l *listening) next() (e sent, ok bool) {
	for {
		line, err := l.lines.ReadString('\n')
		if err != nil {
			return e, false
		}
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && e.Event == "" && e.Comment == "":
		case line == "":
			return e, true
		case name == "":
			e.Comment = value
		case name == "id":
			e.ID = value
		case name == "event":
			e.Event = value
		case name == "data":
			e.Data = json.RawMessage(value)
		case name != "retry":
			l.t.Errorf("the stream has the line %q", line)
		}
	}
}

// until gives the events up to one that is asked for, and wants it to come.
func (l *listening) until(about string, is func(e sent) bool) (all []sent) {
	l.t.Helper()
	for {
		e, ok := l.next()
		assert.Require(l.t, ok, "the stream ended before %s, after %v", about, told(l.t, all))
		all = append(all, e)
		if is(e) {
			return all
		}
	}
}

func isEvent(name string) func(sent) bool { return func(e sent) bool { return e.Event == name } }

// rest is all that still comes.
func (l *listening) rest() (all []sent) {
	for {
		e, ok := l.next()
		if !ok {
			return all
		}
		all = append(all, e)
	}
}

// told are events in lines, without signs of life.
func told(t testing.TB, all []sent) (lines []string) {
	t.Helper()
	for _, e := range all {
		if e.Comment != "alive" {
			lines = append(lines, e.line(t))
		}
	}
	return lines
}

// kept are the events that a stream is resumed from: those with an id.
func kept(all []sent) (some []sent) {
	for _, e := range all {
		if e.ID != "" {
			some = append(some, e)
		}
	}
	return some
}

// beside is another process on the house's journal, with a server of its own.
func (h *house) beside(holder string) *house {
	h.Helper()
	other := newHouse(h.TB)
	other.store, other.users, other.holder, other.config = h.store, h.users, holder, h.config
	other.panel = other.describe(h.panel.Name)
	return other
}

// says has a persona say some words, one each time that tick lets it, and answer once tick is closed.
func (h *house) says(name string, tick <-chan string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.do[name] = func(ctx context.Context, job run.Job) (any, error) {
		for {
			select {
			case word, more := <-tick:
				if !more {
					return strings.ToUpper(name), nil
				}
				job.Emit(run.Piece{Text: word, Retract: word == ""})
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
}

// answering are the requests that are being answered in this process: a stream is one for as long as somebody reads it.
var answering underWay

type underWay struct {
	lines // tells of each end
	now   atomic.Int64
}

// counted counts the requests to a handler.
func (u *underWay) counted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.now.Add(1)
		defer func() {
			u.now.Add(-1)
			u.tell()
		}()
		handler.ServeHTTP(w, r)
	})
}

// atMost waits until no more than n are being answered.
func (u *underWay) atMost(t testing.TB, n int64, about string) {
	t.Helper()
	u.until(t, fmt.Sprintf("%s, %d requests are being answered", about, n), func() bool { return u.now.Load() <= n })
}

// quiet waits until no stream is open in this process any more.
func (h *house) quiet(about string) {
	h.Helper()
	answering.atMost(h.TB, 0, about)
}
