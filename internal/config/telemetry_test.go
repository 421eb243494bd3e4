package config

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTelemetryIsReadFromTheEnvironmentToo(t *testing.T) {
	cfg, _ := mustLoad(t, fullFile, "OTEL_EXPORTER_OTLP_ENDPOINT=https://collector.test:4318/otlp/", "SIBYL_TRACE_RATIO=0", "SIBYL_LOG_LEVEL=error",
		"OTEL_EXPORTER_OTLP_HEADERS= Authorization=Basic%20"+canary+"%3D , X-Team=a=b+c")
	want := Telemetry{Endpoint: "https://collector.test:4318/otlp", Traceparent: true, LogLevel: slog.LevelError,
		Headers: map[string]Secret{"Authorization": NewSecret("Basic " + canary + "="), "X-Team": NewSecret("a=b+c")}}
	if diff := cmp.Diff(want, cfg.Telemetry, bySecret); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"Authorization": "Basic " + canary + "=", "X-Team": "a=b+c"}, cfg.Telemetry.Header()); diff != "" {
		t.Error(diff)
	}
}

func TestHeadersForTheCollectorAreSecret(t *testing.T) {
	const variable = "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer "
	cfg, lines, _ := explain(t, "", variable+canary)
	text, err := lines.YAML()
	if err != nil || strings.Contains(string(text), canary) {
		t.Errorf("shown, with error %v: %s", err, text)
	}
	if got := cfg.Redactor().String("sent: Bearer " + canary); strings.Contains(got, canary) {
		t.Errorf("it is not redacted: %s", got)
	}
	if _, err := newSetup(t, "", variable+canary+"%zz").load(); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("the error is %v", err)
	}
}
