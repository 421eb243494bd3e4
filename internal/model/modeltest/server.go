// Package modeltest holds chat models for tests: a model that plays a script, a server that plays a provider in each
// protocol that an adapter speaks, and the suites that every adapter passes.
//
// Guarantees:
//   - Everything here is safe for concurrent use, sleeps on no clock but a test's own, and opens no connection but on
//     the loopback interface.
//   - A server and a script give their Answers and Turns in order, one to a request, and record each request before
//     they answer it. A request for which nothing is left fails the test. A server with Play makes its Answers from the
//     requests.
//   - A server stops with its test; without a test, its caller closes it.
package modeltest

import (
	"bytes"
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
	"time"

	"sibyl/internal/model"
)

// Answer is what a Server does with one request, in no provider's own terms. The zero Answer is an empty turn.
type Answer struct {
	// Chunks is the text, one part of the stream each. Calls are streamed in interleaved parts, if the protocol has
	// parts.
	Chunks []string
	Calls  []model.ToolCall

	// Finish defaults to FinishTools if there are calls and to FinishStop if not. Zero Usage: none is reported.
	Finish model.Finish
	Usage  model.Usage

	// Vectors and Transcript answer requests for embedding or transcription. Break ends them before they begin.
	Vectors    [][]float32
	Transcript model.Transcript

	// Fail makes the request fail at once, as the provider reports this kind, asking to wait for RetryAfter.
	Fail       model.Kind
	RetryAfter time.Duration

	// Break says how the stream goes wrong after the chunks and calls; empty: it does not.
	Break Break

	// Raw, if set, is sent instead of everything above.
	Raw *Raw

	// Repeat makes this the answer to every further request as well.
	Repeat bool
}

// Break is a way in which a stream goes wrong.
type Break string

// How a stream may break.
const (
	Cut     Break = "cut"     // the connection ends in the middle of a part
	Hang    Break = "hang"    // nothing more comes until the request ends
	Garbage Break = "garbage" // a part is not what the protocol promises
	Open    Break = "open"    // all of it comes, but the response does not end until the request does
)

// Raw is an HTTP response. Status 0 is 200.
type Raw struct {
	Status int
	Header http.Header
	Body   string
}

// Stream returns the answer with these chunks of text.
func Stream(chunks ...string) Answer { return Answer{Chunks: chunks} }

// Request is what a Server received. Model, Messages and Tools are set if the protocol names them so; Form and File are
// those of a form with one file.
type Request struct {
	Path   string      `json:"-"` // escaped
	Query  url.Values  `json:"-"`
	Header http.Header `json:"-"`
	Body   string      `json:"-"`
	Form   url.Values  `json:"-"`
	File   string      `json:"-"`

	Model    string            `json:"model"`
	Messages []Message         `json:"messages"`
	Tools    []json.RawMessage `json:"tools"`
}

// Message is a message on the wire. Content is its text, or any other JSON unchanged.
type Message struct{ Role, Content string }

// UnmarshalJSON reads a Message of a protocol whose messages have role and content: any but Gemini's.
func (m *Message) UnmarshalJSON(raw []byte) error {
	var fields struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	m.Role = fields.Role
	if json.Unmarshal(fields.Content, &m.Content) != nil {
		m.Content = string(fields.Content)
	}
	return nil
}

// At returns the value in the body at the path of names; nil if there is none.
func (r Request) At(names ...string) any {
	var value any
	_ = json.Unmarshal([]byte(r.Body), &value)
	for _, name := range names {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			at, err := strconv.Atoi(name)
			if err != nil || at >= len(v) {
				return nil
			}
			value = v[at]
		default:
			return nil
		}
	}
	return value
}

// Key returns the API key of a request, from the headers of any of the protocols.
func (r Request) Key() string {
	return cmp.Or(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Api-Key"),
		r.Header.Get("X-Goog-Api-Key"))
}

// readRequest reads a Request from an HTTP request.
func readRequest(r *http.Request) (req Request, err error) {
	body, err := io.ReadAll(r.Body)
	req = Request{Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: string(body)}
	if err != nil || r.Method != http.MethodPost {
		return req, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	file, _, err := r.FormFile("file")
	if errors.Is(err, http.ErrNotMultipart) {
		return req, json.Unmarshal(body, &req)
	}
	if err != nil {
		return req, err
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }()
	content, err := io.ReadAll(file)
	req.Form, req.File = r.MultipartForm.Value, string(content)
	return req, cmp.Or(err, file.Close())
}

// Server speaks every protocol on one loopback port, by the path of a request. Each POST for a turn, for vectors or for
// a transcript gets the next Answer.
type Server struct {
	BaseURL string // of the server, without a path

	// Models are listed. ModelInfo is the JSON with a model's properties, by its name, or by the path of a GET. Check
	// says what is wrong with a request. KeyRefused refuses the list to every key. Set them before the first request.
	Models     []string
	ModelInfo  map[string]string
	Check      func(Request) error
	KeyRefused bool

	http        *httptest.Server
	connections atomic.Int32 // that were opened

	hanging chan struct{}
	ended   chan struct{}
	closing chan struct{}
	close   sync.Once

	mu           sync.Mutex
	answers      []Answer
	play         func(Request) Answer
	requests     []Request
	infoRequests []Request
	overrun      int
}

// maxHanging is how many hanging requests the channels hold.
const maxHanging = 1024

// NewServer starts a server that stops with the test, if there is one. At its end, the test fails if a request had no
// answer left.
func NewServer(tb testing.TB, answers ...Answer) *Server {
	s := &Server{answers: answers, hanging: make(chan struct{}, maxHanging), ended: make(chan struct{}, maxHanging),
		closing: make(chan struct{})}
	s.http = httptest.NewUnstartedServer(s)
	s.http.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.connections.Add(1)
		}
	}
	s.http.Start()
	s.BaseURL = s.http.URL
	if tb != nil {
		tb.Cleanup(func() {
			s.Close()
			if s.overrun > 0 {
				tb.Errorf("modeltest: the server got %d requests for which it was given no answer", s.overrun)
			}
		})
	}
	return s
}

// Close ends the requests that hang and stops the server, so that nothing answers at BaseURL. A second Close is none.
func (s *Server) Close() {
	s.close.Do(func() {
		close(s.closing)
		s.http.Close()
	})
}

// Add appends to the answers.
func (s *Server) Add(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answers...)
}

// Play answers every request with what part returns for it, instead of the given answers.
func (s *Server) Play(part func(Request) Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.play = part
}

// Requests returns what was asked so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Last returns the last of the Requests.
func (s *Server) Last() Request {
	all := s.Requests()
	return all[len(all)-1]
}

// InfoRequests returns the requests for models' properties. They get no Answer, and are not among the Requests.
func (s *Server) InfoRequests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.infoRequests)
}

// Hanging gets a value for each request that has received all of its Answer and now hangs.
func (s *Server) Hanging() <-chan struct{} { return s.hanging }

// Ended gets a value for each hanging request that its client ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	req, err := readRequest(r)
	way, known := routeOf(req.Path)
	switch {
	case r.Method == http.MethodGet && isListPath(req.Path) && s.ModelInfo[req.Path] == "":
		s.nextAnswer(req, false)
		status := http.StatusOK
		if s.KeyRefused {
			status = http.StatusUnauthorized
		}
		writeJSON(w, status, executeTemplate(listTemplate(req.Path), s.Models))
		return
	case r.Method == http.MethodGet, req.Path == "/api/show":
		s.answerInfo(w, req)
		return
	case err == nil && s.Check != nil:
		err = s.Check(req)
	}
	if err != nil || !known {
		s.nextAnswer(req, false)
		message := "modeltest: no such path"
		if err != nil {
			message = err.Error()
		}
		writeJSON(w, http.StatusBadRequest, executeTemplate(cmp.Or(way.protocol, "openai")+"/error",
			failure{Status: http.StatusBadRequest, Message: message}))
		return
	}
	a, ok := s.nextAnswer(req, true)
	switch {
	case !ok:
		w.WriteHeader(http.StatusInternalServerError)
	case a.Raw != nil:
		a.Raw.write(w, way.mediaType)
	case a.Fail != "":
		way.writeFailure(w, a, req)
	default:
		s.stream(w, r, a, way, req)
	}
}

// answerInfo answers a request for a model's properties.
func (s *Server) answerInfo(w http.ResponseWriter, req Request) {
	s.mu.Lock()
	s.infoRequests = append(s.infoRequests, req)
	s.mu.Unlock()
	path, err := url.PathUnescape(req.Path)
	for name, info := range s.ModelInfo {
		if err == nil && info != "" && (name == path || name == req.Model || strings.HasSuffix(path, "/"+name)) {
			writeJSON(w, http.StatusOK, info)
			return
		}
	}
	if path == "/api/ps" {
		writeJSON(w, http.StatusOK, `{"models":[]}`)
		return
	}
	writeJSON(w, http.StatusNotFound, `{"error":{"message":"the model is not found","code":404}}`)
}

// nextAnswer records req and, if it is to be answered, returns the next answer; false if there is none.
func (s *Server) nextAnswer(req Request, answered bool) (Answer, bool) {
	s.mu.Lock()
	s.requests = append(s.requests, req)
	if play := s.play; play != nil && answered {
		s.mu.Unlock() // it may take long
		return play(req), true
	}
	defer s.mu.Unlock()
	if !answered {
		return Answer{}, false
	}
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

// stream sends the parts of a, and then ends, breaks off or hangs.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, a Answer, way route, req Request) {
	w.Header().Set("Content-Type", way.mediaType)
	out := http.NewResponseController(w)
	parts, end := way.render(a, req)
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			return
		}
		_ = out.Flush()
	}
	switch a.Break {
	case Cut:
		_, _ = io.WriteString(w, executeTemplate(way.name+"/half", nil))
		_ = out.Flush()
		panic(http.ErrAbortHandler) // net/http's way to end a connection without ending the response
	case Garbage:
		_, _ = io.WriteString(w, executeTemplate(way.name+"/garbage", nil))
		return
	case Open, "":
		_, _ = io.WriteString(w, end)
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

// write sends r; kind is its Content-Type if it has none itself.
func (r *Raw) write(w http.ResponseWriter, kind string) {
	w.Header().Set("Content-Type", kind)
	for name, values := range r.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(cmp.Or(r.Status, http.StatusOK))
	_, _ = io.WriteString(w, r.Body)
}

func writeJSON(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}
