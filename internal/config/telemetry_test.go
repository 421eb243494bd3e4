package config

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestHeadersForTheCollectorComeFromTheEnvironment(t *testing.T) {
	cfg, _ := mustLoad(t, "", "OTEL_EXPORTER_OTLP_HEADERS= Authorization=Basic%20"+canary+"%3D , X-Team=a=b+c")
	assert.Same(t, map[string]string{"Authorization": "Basic " + canary + "=", "X-Team": "a=b+c"}, cfg.Telemetry.Header())
}

func TestHeadersForTheCollectorAreSecret(t *testing.T) {
	const variable = "OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer "
	cfg, lines, _ := explain(t, "", variable+canary)
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), canary), "shown, with error %v: %s", err, text)
	got := cfg.Redactor().String("sent: Bearer " + canary)
	assert.That(t, !strings.Contains(got, canary), "it is not redacted: %s", got)
	_, err = newSetup(t, "", variable+canary+"%zz").load()
	assert.That(t, err != nil && !strings.Contains(err.Error(), canary), "the error is %v", err)
}
