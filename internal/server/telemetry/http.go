package telemetry

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"

	"github.com/felixge/httpsnoop"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// HTTP returns next with its requests counted and traced by their routes: the Pattern that an http.ServeMux in or
// behind next has set. A handler between them must pass on the same request, or copy the Pattern back; else the route
// is "". Each request gets an id, in its context and in the header X-Request-Id of the answer. No path, query or header
// of a request is recorded.
func (t *Telemetry) HTTP(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, id := r.Context(), rand.Text()
		if t.config.AcceptParent {
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
		}
		ctx, span := t.tracer.Start(WithRequest(ctx, id), "HTTP", trace.WithSpanKind(trace.SpanKindServer))
		w.Header().Set("X-Request-Id", id)
		t.metrics.requestsNow.Inc()
		r = r.WithContext(ctx)
		answer, done := httpsnoop.Metrics{Code: http.StatusOK}, false
		defer func() {
			t.metrics.requestsNow.Dec()
			if !done && answer.Written == 0 { // of a handler that panicked
				answer.Code = http.StatusInternalServerError
			}
			t.recordAnswer(span, r, answer, w.Header())
		}()
		answer.CaptureMetrics(w, func(w http.ResponseWriter) { next.ServeHTTP(w, r) })
		done = true
	})
}

// recordAnswer counts and traces a request that has been answered.
func (t *Telemetry) recordAnswer(span trace.Span, r *http.Request, a httpsnoop.Metrics, header http.Header) {
	method, route, status := methodOf(r), routeOf(r), strconv.Itoa(a.Code)
	t.metrics.requests.WithLabelValues(method, route, status).Inc()
	if !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
		t.metrics.requestTime.WithLabelValues(route).Observe(a.Duration.Seconds())
	}
	if a.Code >= 500 {
		markFailed(span, status)
	}
	span.SetName(method + " " + route)
	span.SetAttributes(semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(route),
		semconv.HTTPResponseStatusCode(a.Code))
	span.End()
}

// methodOf is the method of a request, or what the conventions have for one that nobody knows.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
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
