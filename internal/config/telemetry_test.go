package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersForTheCollectorComeFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, "", "OTEL_EXPORTER_OTLP_HEADERS= Authorization=Basic%20"+canary+"%3D , X-Team=a=b+c")
	if diff := cmp.Diff(map[string]string{"Authorization": "Basic " + canary + "=", "X-Team": "a=b+c"},
		cfg.Telemetry.Header()); diff != "" {
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
