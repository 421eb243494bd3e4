package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// serve handles every request: it sets the headers of every answer, refuses requests that are not for this server,
// calls the route, answers for a handler that panicked, and logs a line at the end.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	began, original := time.Now(), r
	x := s.newRequestInfo(r)
	if id := w.Header().Get(requestID); id != "" { // what stands before this has named the request in its answer
		x.id = id
	}
	r = r.WithContext(context.WithValue(r.Context(), requestInfoKey{}, x))
	r.Host = x.host
	body := &readOnce{ReadCloser: r.Body}
	r.Body = body
	rec := &recorder{ResponseWriter: w, write: s.config.Limits.Write}
	setSecurityHeaders(rec.Header(), x)
	defer func() {
		thrown := recover()
		original.Pattern = r.Pattern // for what stands before this
		abort := thrown != nil && s.answerPanic(x, rec, r, thrown)
		s.log(x, rec, r, time.Since(began))
		if thrown == nil {
			s.drain(rec, r, body)
		}
		if abort {
			panic(http.ErrAbortHandler) // ends the connection: half of an answer must not pass for one
		}
	}()
	if p := s.checkAddress(x, r); p != nil {
		refuse(rec, p)
		return
	}
	if h, pattern := s.mux.Handler(r); pattern == "" {
		s.answerNoRoute(rec, r, h)
		return
	}
	s.mux.ServeHTTP(rec, r)
}

// mostDrained bounds what is read of a body after its request was refused, in bytes.
const mostDrained = 64 << 20

// readOnce is a body of which is known whether it was read to its end.
type readOnce struct {
	io.ReadCloser
	isRead bool
}

func (b *readOnce) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.isRead = b.isRead || errors.Is(err, io.EOF)
	return n, err
}

// drain sends the answer, and then reads the body to its end, within limits of size and time. A client that is still
// sending when its connection closes sees only a broken connection, not why its request was refused.
func (s *Server) drain(rec *recorder, r *http.Request, body *readOnce) {
	refused := rec.status >= http.StatusBadRequest && rec.status != http.StatusRequestTimeout
	if !refused || body.isRead || r.ContentLength == 0 || r.Header.Get("Expect") != "" {
		return
	}
	out := http.NewResponseController(rec)
	_ = out.SetReadDeadline(time.Now().Add(s.config.Limits.Read)) // where it can't be set the server's own bound holds
	if out.Flush() != nil {                                       // over HTTP/1 it may read a part of the body first
		return
	}
	_, _ = io.CopyN(io.Discard, body, mostDrained) // however it ends, the connection ends with it
}

// answerNoRoute answers where there is no route, or none for the method; below /api only to known users.
func (s *Server) answerNoRoute(w http.ResponseWriter, r *http.Request, otherwise http.Handler) {
	x := infoOf(r.Context())
	if strings.HasPrefix(r.URL.Path, apiPath) {
		if p := s.identify(x, r); p != nil {
			refuse(w, p)
			return
		}
	}
	said := headers{}
	otherwise.ServeHTTP(said, r)
	allowed := http.Header(said).Get("Allow")
	if allowed == "" {
		refuse(w, noRoute())
		return
	}
	refuse(w, newProblem(http.StatusMethodNotAllowed, "method", "The route does not take this method.", "It takes: "+
		allowed+".").with("Allow", allowed))
}

// headers are the headers of an answer of which nothing else is wanted.
type headers http.Header

// Header implements http.ResponseWriter.
func (h headers) Header() http.Header { return http.Header(h) }

func (h headers) WriteHeader(int) {}

func (h headers) Write(b []byte) (int, error) { return len(b), nil }

// recorder remembers how an answer began, and bounds how long it may take to be read. A route that streams bounds its
// parts itself, by a http.ResponseController.
type recorder struct {
	http.ResponseWriter
	write  time.Duration
	status int   // 0: it has not begun
	lost   error // why it could not be sent
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if status < http.StatusOK { // something goes before the answer
		r.ResponseWriter.WriteHeader(status)
		return
	}
	if r.status != 0 {
		return
	}
	r.status = status
	// not every writer has one
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(r.write))
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(b)
	if err != nil {
		r.lost = err
	}
	return n, err
}

// answerPanic answers for a handler that panicked, if nothing was answered yet, and says whether the connection is to
// be ended. What was thrown may hold words of a user: its type is logged, its text only where the runtime wrote it.
func (s *Server) answerPanic(x *requestInfo, rec *recorder, r *http.Request, thrown any) (abort bool) {
	err, _ := thrown.(error)
	if errors.Is(err, http.ErrAbortHandler) || rec.lost != nil { // nobody is there any more who would read an answer
		return true
	}
	what := fmt.Sprintf("%T", thrown)
	if fault, ok := errors.AsType[runtime.Error](err); ok {
		what = fault.Error()
	}
	s.config.Log.LogAttrs(r.Context(), slog.LevelError, "a handler panicked", slog.String("request_id", x.id),
		slog.String("route", r.Pattern), slog.String("panic", what), slog.String("stack", string(debug.Stack())))
	if rec.status != 0 {
		return true
	}
	refuse(rec, problemOf(nil))
	return false
}

// methods are those that are logged as they are: any word may stand in their place.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete, http.MethodOptions}

// log writes the line of a request. It has nothing in it that somebody wrote.
func (s *Server) log(x *requestInfo, rec *recorder, r *http.Request, took time.Duration) {
	method := "other"
	if slices.Contains(methods, r.Method) {
		method = r.Method
	}
	line := []slog.Attr{slog.String("request_id", x.id), slog.String("method", method), slog.String("route", r.Pattern),
		slog.Int("status", rec.status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000)}
	if x.token.User != "" {
		line = append(line, slog.String("user", x.token.User))
	}
	run := x.run
	if rec.status < http.StatusBadRequest { // it was found, so its id is no word of a stranger
		run = cmp.Or(run, r.PathValue("run"))
	}
	if run != "" {
		line = append(line, slog.String("run_id", run))
	}
	s.config.Log.LogAttrs(r.Context(), slog.LevelInfo, "request", line...)
}
