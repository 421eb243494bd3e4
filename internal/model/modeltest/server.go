package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// server is what the fake providers have in common: a loopback port, the answers that are left, and the requests that
// came, each an R as its protocol reads it.
type server[R any] struct {
	http    *httptest.Server
	hanging chan struct{}
	ended   chan struct{}
	closing chan struct{}
	close   sync.Once

	mu       sync.Mutex
	answers  []Answer
	requests []R
	overrun  int
}

// signals is how many hanging requests can be noted before anybody looks.
const signals = 1024

// start serves h and returns where.
func (s *server[R]) start(h http.Handler, answers []Answer) (url string) {
	s.answers = answers
	s.hanging = make(chan struct{}, signals)
	s.ended = make(chan struct{}, signals)
	s.closing = make(chan struct{})
	s.http = httptest.NewServer(h)
	return s.http.URL
}

// stopWith stops the server at the end of the test, and fails the test if it got a request for which no answer was left.
func (s *server[R]) stopWith(tb testing.TB, name string) {
	tb.Cleanup(func() {
		s.Close()
		if s.overrun > 0 {
			tb.Errorf("modeltest: the %s server got %d requests for which it was given no answer", name, s.overrun)
		}
	})
}

// Close ends the requests that hang and stops the server, so that nothing answers at BaseURL. A second Close is none.
func (s *server[R]) Close() {
	s.close.Do(func() {
		close(s.closing)
		s.http.Close()
	})
}

// Add appends to the answers.
func (s *server[R]) Add(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// Requests returns what was asked so far, in the order of arrival.
func (s *server[R]) Requests() []R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Hanging has a value for each request that was sent all its Answer has and now hangs.
func (s *server[R]) Hanging() <-chan struct{} { return s.hanging }

// Ended has a value for each hanging request that its client ended.
func (s *server[R]) Ended() <-chan struct{} { return s.ended }

// record keeps a request that takes no answer.
func (s *server[R]) record(req R) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
}

// take records req and returns its answer.
func (s *server[R]) take(req R) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if len(s.answers) == 0 {
		s.overrun++
		return Answer{}, false
	}
	a := s.answers[0]
	if !a.Repeat {
		s.answers = s.answers[1:]
	}
	return a, true
}

// send streams parts, and then breaks off as how says. It is true if the stream is to be finished.
func (s *server[R]) send(w http.ResponseWriter, r *http.Request, parts [][]byte, how breaking) (whole bool) {
	out := http.NewResponseController(w)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return false
		}
		_ = out.Flush()
	}
	switch how.Break {
	case Cut:
		_, _ = io.WriteString(w, how.half)
		_ = out.Flush()
		panic(http.ErrAbortHandler) // net/http's way to end a connection without ending the response
	case Hang:
		_ = out.Flush() // the headers, if there was no part
		s.hanging <- struct{}{}
		select {
		case <-r.Context().Done():
			s.ended <- struct{}{}
		case <-s.closing:
		}
		return false
	case Garbage:
		_, _ = io.WriteString(w, how.garbage)
		return false
	}
	return true
}

// The media types of a stream.
const (
	eventStream = "text/event-stream"
	jsonLines   = "application/x-ndjson"
)

// breaking is a Break with what a protocol sends then: half a part before a Cut, a part that is none as Garbage.
type breaking struct {
	Break
	half, garbage string
}

// write sends r; kind is its Content-Type if it has none itself.
func (r *Raw) write(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	_, _ = io.WriteString(w, r.Body)
}

// askToWait sets the header that the answer's RetryAfter becomes.
func (a Answer) askToWait(w http.ResponseWriter) {
	if a.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(a.RetryAfter.Seconds())))
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// encode is the JSON of v, which a fake provider made itself.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("modeltest: a part cannot be encoded: " + err.Error())
	}
	return string(text)
}
