package modeltest

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sibyl/internal/model"
)

// Request is what a fake provider got, before it was read as its protocol's.
type Request struct {
	Path   string // escaped
	Query  url.Values
	Header http.Header
	Body   string
}

// asked is what a fake provider reads a request as.
type asked interface {
	sent() Request
	schema() json.RawMessage // that the answer has to fit, by the protocol's own field; nil if none
}

func (r Request) sent() Request { return r }

// key is the API key of a request, in the place of any of the protocols.
func (r Request) key() string {
	return cmp.Or(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"))
}

// protocol is how a fake provider speaks, and R what it reads a request as.
type protocol[R asked] struct {
	name     string
	listPath string
	list     func(query url.Values) any // the answer to GET listPath
	routes   map[string]route[R]        // of POST requests, by the end of their path
	looks    func(req Request) *Raw     // answers what is asked beside turns, by its path; nil: that is no such look
	read     func(req Request) (R, error)
	failures map[model.Kind]failure // that of Server stands in for those that are missing
	fail     func(w http.ResponseWriter, f failure)
}

// route is how one kind of request is answered: with the parts of an Answer, and with the end that follows if it is not broken.
type route[R asked] struct {
	mediaType string
	render    func(a Answer, req R) (parts, end [][]byte)
	half      string // of a part, before a Cut
	garbage   string // a part that is none
}

// failure is an error as a provider words it.
type failure struct {
	status     int
	kind, code string
	message    string
	retryAfter float64 // in seconds
	stream     string  // what is streamed in its place, if it is no failure in this protocol
}

// The faults of a request that no Answer is taken for.
var (
	errNoSuchPath = errors.New("modeltest: no such path")
	errNoAnswer   = errors.New("modeltest: no answer is left")
)

// server is what the fake providers have in common: a loopback port, the answers that are left, and the requests that came.
type server[R asked] struct {
	protocol protocol[R]
	http     *httptest.Server

	connections atomic.Int32 // that were opened

	hanging chan struct{}
	ended   chan struct{}
	closing chan struct{}
	close   sync.Once

	mu       sync.Mutex
	answers  []Answer
	play     func(R) Answer
	requests []R
	looked   []Request
	overrun  int
	repeated map[string][2][][]byte // what was rendered of the answer that repeats: a benchmark is to measure its client
}

// signals is how many hanging requests can be noted before anybody looks.
const signals = 1024

// start serves a protocol and returns where. At its end, a test fails if a request had no answer left.
func (s *server[R]) start(tb testing.TB, p protocol[R], answers []Answer) (url string) {
	s.protocol, s.answers = p, answers
	s.repeated = map[string][2][][]byte{}
	s.hanging = make(chan struct{}, signals)
	s.ended = make(chan struct{}, signals)
	s.closing = make(chan struct{})
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.http.Start()
	if tb != nil {
		tb.Cleanup(func() {
			s.Close()
			if s.overrun > 0 {
				tb.Errorf("modeltest: the %s server got %d requests for which it was given no answer", p.name, s.overrun)
			}
		})
	}
	return s.http.URL
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

// Play answers every request by what part makes of it, in the place of the answers that were given.
func (s *server[R]) Play(part func(R) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.play = part
}

// Requests returns what was asked so far, in the order of arrival.
func (s *server[R]) Requests() []R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Looks returns what was asked beside turns, which takes no Answer and is none of the Requests.
func (s *server[R]) Looks() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.looked)
}

// Subject is m before this server, as the suites look at it.
func (s *server[R]) Subject(m model.Model) Subject {
	return Subject{Model: m, Hanging: s.hanging, Ended: s.ended, Sent: func() []string {
		var bodies []string
		for _, r := range s.Requests() {
			bodies = append(bodies, r.sent().Body)
		}
		return bodies
	}, Schema: func() json.RawMessage {
		return s.last().schema()
	}, SentKey: func() string {
		return s.last().sent().key()
	}, Connections: func() int { return int(s.connections.Load()) }}
}

func (s *server[R]) last() R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[len(s.requests)-1]
}

// Hanging has a value for each request that was sent all its Answer has and now hangs.
func (s *server[R]) Hanging() <-chan struct{} { return s.hanging }

// Ended has a value for each hanging request that its client ended.
func (s *server[R]) Ended() <-chan struct{} { return s.ended }

// ServeHTTP answers one request.
func (s *server[R]) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	raw := Request{Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: string(body)}
	if r.Method == http.MethodGet && r.URL.Path == s.protocol.listPath {
		req, _ := s.protocol.read(raw) // which has no body
		s.record(req)
		writeJSON(w, http.StatusOK, s.protocol.list(raw.Query))
		return
	}
	if s.protocol.looks != nil {
		if answer := s.protocol.looks(raw); answer != nil {
			s.mu.Lock()
			s.looked = append(s.looked, raw)
			s.mu.Unlock()
			answer.write(w, wholeJSON)
			return
		}
	}
	way, known := s.route(r)
	req, err := s.protocol.read(raw)
	if !known {
		err = errNoSuchPath
	}
	if err != nil {
		s.record(req)
		s.reject(w, err)
		return
	}
	a, ok := s.take(req)
	switch {
	case !ok:
		s.reject(w, errNoAnswer)
	case a.Raw != nil:
		a.Raw.write(w, way.mediaType)
	case a.Fail != "":
		s.failAs(w, a, req)
	default:
		s.stream(w, r, a, way, req)
	}
}

func (s *server[R]) route(r *http.Request) (route[R], bool) {
	for end, way := range s.protocol.routes {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, end) {
			return way, true
		}
	}
	return route[R]{}, false
}

// reject answers a request that is wrong, or for which there is no answer.
func (s *server[R]) reject(w http.ResponseWriter, fault error) {
	f := s.protocol.failures[model.ContextLength] // a bad request in every protocol
	switch {
	case errors.Is(fault, errNoSuchPath):
		f = s.protocol.failures[model.Invalid]
	case errors.Is(fault, errNoAnswer):
		f = s.protocol.failures[model.Server]
		f.status = http.StatusInternalServerError
	}
	f.code, f.message = "", fault.Error()
	s.protocol.fail(w, f)
}

// failAs fails as the provider does. Where a key is rejected, it is repeated, as some endpoints do.
func (s *server[R]) failAs(w http.ResponseWriter, a Answer, req R) {
	f, ok := s.protocol.failures[a.Fail]
	if !ok {
		f = s.protocol.failures[model.Server]
	}
	if f.stream != "" {
		w.Header().Set("Content-Type", eventStream)
		_, _ = io.WriteString(w, f.stream)
		return
	}
	if a.Fail == model.Auth {
		f.message += req.sent().key()
	}
	f.retryAfter = a.RetryAfter.Seconds()
	s.protocol.fail(w, f)
}

// record keeps a request that takes no answer.
func (s *server[R]) record(req R) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
}

// take records req and returns its answer.
func (s *server[R]) take(req R) (Answer, bool) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	if play := s.play; play != nil {
		s.mu.Unlock() // it may take its time
		return play(req), true
	}
	defer s.mu.Unlock()
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

// stream sends the parts of a, and then ends or breaks off.
func (s *server[R]) stream(w http.ResponseWriter, r *http.Request, a Answer, way route[R], req R) {
	w.Header().Set("Content-Type", way.mediaType)
	out := http.NewResponseController(w)
	parts, end := s.rendered(a, way, req)
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return
		}
		_ = out.Flush()
	}
	switch a.Break {
	case Cut:
		_, _ = io.WriteString(w, way.half)
		_ = out.Flush()
		panic(http.ErrAbortHandler) // net/http's way to end a connection without ending the response
	case Garbage:
		_, _ = io.WriteString(w, way.garbage)
		return
	case Open, "":
		for _, part := range end {
			_, _ = w.Write(part)
		}
	}
	_ = out.Flush() // as real servers do: the end of the response comes after it, by itself
	if a.Break == "" {
		return
	}
	s.hanging <- struct{}{}
	select {
	case <-r.Context().Done():
		s.ended <- struct{}{}
	case <-s.closing:
	}
}

// rendered is a with its parts as they go over the wire, rendered once for all requests with one body if it repeats.
func (s *server[R]) rendered(a Answer, way route[R], req R) (parts, end [][]byte) {
	if !a.Repeat {
		return way.render(a, req)
	}
	key := encode(req)
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.repeated[key]
	if !ok {
		kept[0], kept[1] = way.render(a, req)
		s.repeated[key] = kept
	}
	return kept[0], kept[1]
}

// interleaved calls send with the pieces of the calls' arguments in turn. No piece ends inside a character.
func interleaved(calls []model.ToolCall, send func(call int, piece string)) {
	left := make([][]rune, len(calls))
	for i, c := range calls {
		left[i] = []rune(c.Arguments)
	}
	for size, more := 1, true; more; size = size%7 + 2 {
		more = false
		for i, text := range left {
			if len(text) > 0 {
				n := min(size, len(text))
				send(i, string(text[:n]))
				left[i], more = text[n:], true
			}
		}
	}
}

// finishWord is the protocol's word for why an answer ends: words has those that are not the contract's own.
func finishWord(a Answer, words map[model.Finish]string) string {
	finish := a.Finish.OrUsual(a.Calls)
	return cmp.Or(words[finish], string(finish))
}

// The media types of a stream.
const (
	eventStream = "text/event-stream; charset=utf-8"
	jsonLines   = "application/x-ndjson"
	wholeJSON   = "application/json"
)

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

// writeFailure sends the error that body describes, with the time after which to ask again as a header.
func writeFailure(w http.ResponseWriter, f failure, body any) {
	if f.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.retryAfter)))
	}
	writeJSON(w, f.status, body)
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
