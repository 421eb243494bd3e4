package telemetry

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"sibyl/internal/keys/cleartext"
)

// exporter sends spans to a collector, and tells what became of them.
type exporter struct {
	sdktrace.SpanExporter
	log     *slog.Logger
	taken   prometheus.Counter // spans that were exported
	failing atomic.Bool
}

func newExporter(c Config, log *slog.Logger, taken prometheus.Counter) (*exporter, error) {
	// The exporter reads the OTEL_ variables itself, and would log what it can't read of a header.
	otel.SetLogger(logr.Discard())
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport.(*http.Transport).Clone()
	}
	client := &http.Client{
		Transport: redactingTransport{cleartext.Transport(next, c.PlainHTTP), c.Redact},
		// What Header holds goes nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	otlp, err := otlptracehttp.New(context.Background(),
		otlptracehttp.WithEndpointURL(strings.TrimRight(c.Endpoint, "/")+"/v1/traces"),
		otlptracehttp.WithHeaders(c.Header),
		otlptracehttp.WithEncoding(otlptracehttp.EncodingJSON),
		otlptracehttp.WithCompression(otlptracehttp.NoCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{Enabled: true, InitialInterval: 500 * time.Millisecond,
			MaxInterval: exportTime, MaxElapsedTime: exportTime}),
		otlptracehttp.WithHTTPClient(client))
	return &exporter{SpanExporter: otlp, log: log, taken: taken}, err
}

// ExportSpans implements sdktrace.SpanExporter. It logs failures and returns none.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		e.taken.Add(float64(len(spans)))
	}
	switch was := e.failing.Swap(err != nil); {
	case err != nil && !was:
		e.log.Warn("traces can't be exported; this is said once until they can", "err", err)
	case err == nil && was:
		e.log.Info("traces are exported again")
	}
	return nil
}

// redactingTransport removes secrets from what it sends.
type redactingTransport struct {
	http.RoundTripper
	redact func([]byte) []byte
}

// RoundTrip implements http.RoundTripper. An error is one after which the exporter tries again, unless nothing was to
// be sent at all.
func (s redactingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if s.redact != nil {
		body, err := io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
		body = s.redact(body)
		req = req.Clone(req.Context())
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.ContentLength = int64(len(body))
	}
	resp, err := s.RoundTripper.RoundTrip(req)
	if _, refused := errors.AsType[*cleartext.Error](err); err != nil && !refused {
		err = temporaryError{err}
	}
	return resp, err
}

// temporaryError is an error after which the collector may work again later.
type temporaryError struct{ error }

func (p temporaryError) Temporary() bool { return true }

func (p temporaryError) Unwrap() error { return p.error }
