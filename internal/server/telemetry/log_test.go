package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/server/telemetry"
)

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
