package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Telemetry is what a server shows to those who operate it, besides metrics.
type Telemetry struct {
	// Endpoint is that of an OpenTelemetry collector that takes OTLP over HTTP, without /v1/traces; "": no traces are
	// kept.
	Endpoint string `name:"otlp_endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" as:"url" login:"put the header Authorization in OTEL_EXPORTER_OTLP_HEADERS"`
	// of the traces that begin here, 0 to 1
	TraceRatio float64 `name:"trace_ratio" env:"SIBYL_TRACE_RATIO" default:"1"`
	// the traceparent of a request is honoured
	Traceparent bool       `name:"accept_traceparent"`
	LogLevel    slog.Level `name:"log_level" env:"SIBYL_LOG_LEVEL" enum:"debug,info,warn,error"`

	// Headers are sent to the collector: what otlpHeaders holds. They come from the environment alone, since most are
	// secrets.
	Headers map[string]Secret
}

const otlpHeaders = "OTEL_EXPORTER_OTLP_HEADERS"

// Header returns the headers to send to the collector.
func (t Telemetry) Header() map[string]string {
	out := make(map[string]string, len(t.Headers))
	for name, text := range t.Headers {
		out[name] = text.Reveal()
	}
	return out
}

// finishTelemetry parses the collector's headers in OpenTelemetry's form: name=value, separated by commas, with special
// characters as %XX. The error does not repeat them.
func (s source) finishTelemetry(t *Telemetry) error {
	text := strings.TrimSpace(s.places.get(otlpHeaders))
	if text == "" {
		return nil
	}
	t.Headers = map[string]Secret{}
	for i, pair := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || !isHeader(name) || strings.ContainsFunc(value, isControl) {
			return fmt.Errorf("%s must hold name=value, with commas between; entry %d is not such a pair",
				otlpHeaders, i+1)
		}
		t.Headers[name] = NewSecret(value)
	}
	return nil
}
