package config

import (
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
)

// Telemetry is what a server shows to those who operate it, beside metrics.
type Telemetry struct {
	Endpoint    string  // of an OpenTelemetry collector that takes OTLP over HTTP, without /v1/traces; "": no traces are kept
	TraceRatio  float64 // of the traces that begin here, 0 to 1
	Traceparent bool    // the traceparent of a request is honoured
	LogLevel    slog.Level

	// Headers are sent to the collector: what otlpHeaders holds. They come from the environment alone, since most are secrets.
	Headers map[string]Secret
}

// The variables of OpenTelemetry that are read.
const (
	otlpEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
)

// Header returns the headers to send to the collector.
func (t Telemetry) Header() map[string]string {
	out := make(map[string]string, len(t.Headers))
	for name, text := range t.Headers {
		out[name] = text.Reveal()
	}
	return out
}

func telemetrySettings() []setting[Config] {
	return []setting[Config]{
		field("telemetry.otlp_endpoint", otlpEndpoint, func(c *Config) *string { return &c.Telemetry.Endpoint }, value.collector),
		field("telemetry.trace_ratio", "SIBYL_TRACE_RATIO", func(c *Config) *float64 { return &c.Telemetry.TraceRatio }, value.ratio),
		yesNo("telemetry.accept_traceparent", "", func(c *Config) *bool { return &c.Telemetry.Traceparent }),
		field("telemetry.log_level", "SIBYL_LOG_LEVEL", func(c *Config) *slog.Level { return &c.Telemetry.LogLevel }, value.level).choosing(logLevels()...).
			shown(func(c *Config) any { return strings.ToLower(c.Telemetry.LogLevel.String()) }),
	}
}

func (v value) collector(into *string) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil {
		return fmt.Errorf("contains a user or password: put the header Authorization in %s", otlpHeaders)
	}
	*into = u.String()
	return nil
}

// ratio takes a number from 0 to 1.
func (v value) ratio(into *float64) error {
	n, err := strconv.ParseFloat(strings.TrimSpace(fmt.Sprint(v.raw)), 64)
	if err != nil || !(n >= 0 && n <= 1) { // which holds of no NaN
		return fmt.Errorf("is %s; it must be a number from 0 to 1, such as 0.1", v.quoted())
	}
	*into = n
	return nil
}

func logLevels() []string { return []string{"debug", "info", "warn", "error"} }

func (v value) level(into *slog.Level) error {
	var name string
	if err := oneOf(logLevels()...)(v, &name); err != nil {
		return err
	}
	return into.UnmarshalText([]byte(name))
}

// finishTelemetry reads the headers for the collector, in the form that OpenTelemetry has for them: name=value, with commas between, and
// what is no letter, digit or mark of a value written as %XX. The error does not repeat them.
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
		if !ok || err != nil || !isHeader(name) || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("%s must hold name=value, with commas between; entry %d is not such a pair", otlpHeaders, i+1)
		}
		t.Headers[name] = NewSecret(value)
	}
	return nil
}

// isHeader says whether a text can be the name of a header.
func isHeader(name string) bool {
	return name != "" && strings.Trim(name, letters+strings.ToUpper(letters)+digits+"-_") == ""
}
