package telemetry

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// HTTP is next with its requests counted and traced, by their routes: what the http.ServeMux that next is, or hands its requests
// to, has matched. Whoever stands between the two hands on the very request, or a copy whose Pattern is set back; else the route is "".
// Each request gets an id, which stands in the context and in the header X-Request-Id of the answer. No path, query or header of a
// request is shown.
func (t *Telemetry) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, ctx, id := time.Now(), r.Context(), rand.Text()
		if t.config.AcceptParent {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		ctx, span := t.tracer.Start(WithRequest(ctx, id), "HTTP", trace.WithSpanKind(trace.SpanKindServer))
		w.Header().Set("X-Request-Id", id)
		t.metrics.requestsNow.Add(1)
		seen := &answer{ResponseWriter: w}
		r = r.WithContext(ctx)
		defer func() {
			t.metrics.requestsNow.Add(-1)
			t.answered(span, r, seen, time.Since(began))
		}()
		next.ServeHTTP(seen, r)
		seen.note(http.StatusOK)
	})
}

// answered tells of a request that has been answered.
func (t *Telemetry) answered(span trace.Span, r *http.Request, a *answer, took time.Duration) {
	method, route := methodOf(r), routeOf(r)
	a.note(http.StatusInternalServerError) // of a handler that panicked
	t.metrics.requests.Add(1, method, route, strconv.Itoa(a.status))
	if !strings.HasPrefix(a.Header().Get("Content-Type"), "text/event-stream") {
		t.metrics.requestTime.Observe(took, route)
	}
	if a.status >= 500 {
		fail(span, strconv.Itoa(a.status))
	}
	span.SetName(method + " " + route)
	span.SetAttributes(semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(route), semconv.HTTPResponseStatusCode(a.status))
	span.End()
}

// methodOf is the method of a request, or what the conventions have for one that nobody knows.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	}
	return "_OTHER"
}

// routeOf is the pattern that a request has matched, without method and host; "" if it has matched none.
func routeOf(r *http.Request) string {
	if i := strings.IndexByte(r.Pattern, '/'); i >= 0 {
		return r.Pattern[i:]
	}
	return ""
}

// answer notes the status of what is written.
type answer struct {
	http.ResponseWriter
	status int
}

// note takes the first status that is one: others only announce it.
func (a *answer) note(status int) {
	if a.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.status = status
	}
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	a.note(status)
	a.ResponseWriter.WriteHeader(status)
}

func (a *answer) Write(b []byte) (int, error) {
	a.note(http.StatusOK)
	return a.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (a *answer) Flush() {
	a.note(http.StatusOK)
	_ = http.NewResponseController(a.ResponseWriter).Flush() // as of a writer that has no buffer
}

// Unwrap lets an http.ResponseController reach what it needs.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
