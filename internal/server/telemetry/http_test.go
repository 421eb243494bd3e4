package telemetry_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/telemetry"
)

// served answers requests by a mux with routes of all sorts, and gives what was counted of them.
func served(t *testing.T, requests ...*http.Request) (all map[string]float64, answers []http.Header) {
	t.Helper()
	tel := telemetryOf(t, telemetry.Config{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /runs/{id}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a run") })
	mux.HandleFunc("GET localhost/here", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /runs", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusBadRequest)
	})
	mux.HandleFunc("/panics", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/breaks", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for i := range 2 {
			fmt.Fprintf(w, "data: %d\n\n", i)
			w.(http.Flusher).Flush()
		}
		assert.Nil(t, http.NewResponseController(w).SetWriteDeadline(time.Time{}))
	})
	server := httptest.NewServer(tel.HTTP(mux))
	defer server.Close()
	for _, r := range requests {
		target := server.URL + r.URL.RequestURI()
		req := assert.Must(http.NewRequestWithContext(t.Context(), r.Method, target, nil))(t)
		req.Host = r.Host
		resp, err := server.Client().Do(req)
		if err != nil { // of a handler that panicked
			answers = append(answers, nil)
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		answers = append(answers, resp.Header)
	}
	server.Close() // when all handlers have returned
	return series(t, scraped(t, tel)), answers
}

func request(method, target string) *http.Request { return httptest.NewRequest(method, target, nil) }

func TestRequestsAreCountedByRouteAndStatus(t *testing.T) {
	all, _ := served(t, request("GET", "/runs/1?token=x"), request("GET", "/runs/2"), request("POST", "/runs"),
		request("GET", "http://localhost/here"),
		request("GET", "/nowhere/else"), request("DELETE", "/runs/1"), request("BREW", "/panics"),
		request("GET", "/events"))
	compare(t, all, map[string]float64{
		"sibyl_http_requests_total{method=GET route=/runs/{id} status=200}": 2,
		"sibyl_http_requests_total{method=POST route=/runs status=400}":     1,
		"sibyl_http_requests_total{method=GET route=/here status=200}":      1,
		"sibyl_http_requests_total{method=GET route= status=404}":           1,
		"sibyl_http_requests_total{method=DELETE route= status=405}":        1,
		"sibyl_http_requests_total{method=_OTHER route=/panics status=500}": 1,
		"sibyl_http_requests_total{method=GET route=/events status=200}":    1,
		"sibyl_http_request_duration_seconds{route=/runs/{id}}":             2,
		"sibyl_http_request_duration_seconds{route=/events}":                -1,
		"sibyl_http_requests_open":                                          0,
	})
	n := 0
	for key := range all {
		if strings.HasPrefix(key, "sibyl_http_requests_total") {
			n++
		}
	}
	assert.That(t, n == 7, "%d series of requests in %v", n, all)
}

func TestRequestHasAnIDOfItsOwnInItsContextAndItsAnswer(t *testing.T) {
	var lines bytes.Buffer
	log := telemetry.Logger(&lines, slog.LevelInfo, nil)
	server := httptest.NewServer(telemetryOf(t, telemetry.Config{}).
		HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			log.InfoContext(r.Context(), "here")
		})))
	defer server.Close()
	ids := map[string]bool{}
	for range 3 {
		req := assert.Must(http.NewRequestWithContext(t.Context(), "GET", server.URL, nil))(t)
		req.Header.Set("X-Request-Id", "of-a-stranger")
		resp := assert.Must(server.Client().Do(req))(t)
		_ = resp.Body.Close()
		id := resp.Header.Get("X-Request-Id")
		if ids[id] = true; id == "" || strings.Count(lines.String(), `"request_id":"`+id+`"`) != 1 {
			t.Errorf("request %q is logged as %s", id, lines.String())
		}
	}
	assert.That(t, len(ids) == 3 && !ids["of-a-stranger"], "the ids are %v", ids)
}
