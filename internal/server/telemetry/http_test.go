package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/redact"
	"sibyl/internal/run"
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
		resp, err := server.Client().Do(req)
		assert.NoError(t, err)
		_ = resp.Body.Close()
		id := resp.Header.Get("X-Request-Id")
		if ids[id] = true; id == "" || strings.Count(lines.String(), `"request_id":"`+id+`"`) != 1 {
			t.Errorf("request %q is logged as %s", id, lines.String())
		}
	}
	assert.That(t, len(ids) == 3 && !ids["of-a-stranger"], "the ids are %v", ids)
}

func TestModelThatIsWatchedAnswersAsItWould(t *testing.T) {
	tel := telemetryOf(t, telemetry.Config{})
	turn := modeltest.Say("one two").AndCall("code_read", called)
	plain := modeltest.Script(t, turn, turn, turn, modeltest.Fail(model.Auth)).As("ollama:llama3.1:8b", true)
	watched := tel.Model(modeltest.Script(t, turn, turn, turn, modeltest.Fail(model.Auth)).
		As("ollama:llama3.1:8b", true))
	assert.That(t, watched.ID() == plain.ID() && watched.Local(), "it is %s, local %t", watched.ID(), watched.Local())
	gone := errors.New("the receiver has gone")
	for name, listen := range map[string]func(heard *[]model.Delta) func(model.Delta) error{
		"nobody listens": func(*[]model.Delta) func(model.Delta) error { return nil },
		"somebody listens": func(heard *[]model.Delta) func(model.Delta) error {
			return func(d model.Delta) error {
				*heard = append(*heard, d)
				return nil
			}
		},
		"the receiver goes": func(*[]model.Delta) func(model.Delta) error {
			return func(model.Delta) error { return gone }
		},
	} {
		var want, got []model.Delta
		wantResp, wantErr := plain.Chat(t.Context(), model.Request{}, listen(&want))
		gotResp, err := watched.Chat(t.Context(), model.Request{}, listen(&got))
		diff := cmp.Diff(wantResp, gotResp) + cmp.Diff(want, got)
		assert.That(t, diff == "" && fmt.Sprint(err) == fmt.Sprint(wantErr) &&
			errors.Is(err, gone) == errors.Is(wantErr, gone), "%s: %s error %v, not %v", name, diff, err, wantErr)
	}
	_, err := watched.Chat(t.Context(), model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Auth, "the error is %v", err)
}

func TestModelsThatThereAreNotHaveNoSeries(t *testing.T) {
	var lines bytes.Buffer
	tel := telemetryOf(t, telemetry.Config{Log: telemetry.Logger(&lines, slog.LevelInfo, nil)})
	for i := range 20 {
		m := tel.Model(modeltest.Script(t, modeltest.Fail(model.Invalid)).As(fmt.Sprintf("openai:none-%d", i), false))
		_, err := m.Chat(t.Context(), model.Request{}, nil)
		assert.Require(t, err != nil, "it answered")
	}
	text := string(scraped(t, tel))
	compare(t, series(t, []byte(text)),
		map[string]float64{"sibyl_model_errors_total{kind=invalid provider=openai}": 20})
	assert.That(t, !strings.Contains(text, "none-"), "a model that there is not has a series in\n%s", text)
	n := strings.Count(lines.String(), `"msg":"a model did not answer"`)
	assert.That(t, n == 20 && !strings.Contains(lines.String(), "scripted failure"), "%d lines in\n%s", n, lines.String())
}

func TestRequestThatIsWithdrawnIsNotLogged(t *testing.T) {
	var lines bytes.Buffer
	tel := telemetryOf(t, telemetry.Config{Log: telemetry.Logger(&lines, slog.LevelInfo, nil)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := tel.Model(modeltest.Script(t)).Chat(ctx, model.Request{}, nil)
	assert.That(t, model.KindOf(err) == model.Cancelled, "the error is %v", err)
	assert.That(t, lines.Len() == 0, "the log is %s", lines.String())
}

// line is what a logger writes, without its time.
func line(t *testing.T, redact func([]byte) []byte, log func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	log(telemetry.Logger(&out, slog.LevelInfo, redact))
	var got map[string]any
	if out.Len() == 0 {
		return nil
	}
	err := json.Unmarshal(out.Bytes(), &got)
	assert.Require(t, err == nil, "%v in %s", err, out.String())
	delete(got, "time")
	return got
}

func TestLineOfTheLogSaysWhatItsContextIsOf(t *testing.T) {
	ctx := telemetry.WithRun(telemetry.WithRequest(context.Background(), "q1"), "r1")
	for name, c := range map[string]struct {
		log  func(*slog.Logger)
		want map[string]any
	}{
		"of nothing": {func(l *slog.Logger) { l.Info("m") }, map[string]any{"level": "INFO", "msg": "m"}},
		"of a request": {func(l *slog.Logger) {
			l.InfoContext(telemetry.WithRequest(context.Background(), "q1"), "m")
		}, map[string]any{"level": "INFO", "msg": "m", "request_id": "q1"}},
		"of a run of a request": {func(l *slog.Logger) {
			l.WarnContext(ctx, "m", "n", 1)
		}, map[string]any{"level": "WARN", "msg": "m", "n": 1.0, "request_id": "q1", "run_id": "r1"}},
		"that names the run": {func(l *slog.Logger) {
			l.WarnContext(ctx, "m", "a", 1, "run_id", "r2")
		}, map[string]any{"level": "WARN", "msg": "m", "a": 1.0, "request_id": "q1", "run_id": "r2"}},
		"that names both": {func(l *slog.Logger) {
			l.InfoContext(ctx, "m", "request_id", "q2", "run_id", "r2")
		}, map[string]any{"level": "INFO", "msg": "m", "request_id": "q2", "run_id": "r2"}},
		"of a logger with more": {func(l *slog.Logger) {
			l.With("a", 1).InfoContext(ctx, "m")
		}, map[string]any{"level": "INFO", "msg": "m", "a": 1.0, "request_id": "q1", "run_id": "r1"}},
		"below the level": {func(l *slog.Logger) { l.DebugContext(ctx, "m") }, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Same(t, c.want, line(t, nil, c.log)) })
	}
}

func TestLogSaysWhichTraceALineIsOf(t *testing.T) {
	c := newCollector(t)
	tel := telemetryOf(t, telemetry.Config{Endpoint: c.URL, Ratio: 1})
	ctx, parted := tel.Observer().Drive(context.Background(), run.DrivenRun{Run: "r1", Assistant: "oracle"})
	got := line(t, nil, func(l *slog.Logger) { l.InfoContext(ctx, "m") })
	parted(run.StopState{Status: "done"})
	closed(t, tel)
	s := c.one("invoke_agent oracle")
	for name, id := range map[string][]byte{"trace_id": s.GetTraceId(), "span_id": s.GetSpanId()} {
		text, _ := got[name].(string)
		assert.That(t, text == hex.EncodeToString(id), "%s is %v, not %s", name, got[name], hex.EncodeToString(id))
	}
}

func TestSecretIsTakenOutOfTheLog(t *testing.T) {
	const known = `a "quoted" secret`
	got := line(t, redact.New(known).Bytes, func(l *slog.Logger) {
		l.Info("m", "err", errors.New("it says "+known), "key", secret)
	})
	assert.Same(t, map[string]any{"level": "INFO", "msg": "m", "err": "it says [redacted]", "key": "[redacted]"}, got)
}
