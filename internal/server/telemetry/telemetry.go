// Package telemetry shows those who operate Sibyl what it does: metrics for Prometheus, traces for OpenTelemetry, logs
// as JSON.
//
// Guarantees:
//   - No word that a person or a model wrote is in any of it, nor, but in the line of a request in the log, who the
//     person is. What is counted, traced and logged are numbers, ids, and words of the program.
//   - What is observed neither waits for it nor fails by it. Spans that can't be exported in time are dropped: how many
//     ended and how many were exported is counted.
//   - A metric has a bounded number of series: no label holds a run, an owner, or what a request may choose freely.
//   - Without an endpoint no trace is kept, nothing is exported and no goroutine runs.
//   - After a restart the metrics begin at 0, as Prometheus expects it.
//
// Spans follow the conventions of OpenTelemetry for generative AI in their version 1.41: invoke_agent for a run while a
// process drives it, below it its effects, below these the requests to models, as chat. A run is a trace of its own,
// linked to the request that began it.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
)

// Config says what is shown, and where.
type Config struct {
	Build    string // of the program
	Instance string // names this process

	Endpoint string            // of a collector that takes OTLP over HTTP, without /v1/traces; "": nothing is exported
	Header   map[string]string // sent with each export
	Ratio    float64           // of the traces that begin here, 0 to 1

	// AcceptParent says that a request's traceparent is honoured: whoever sends it may have anything traced, and joins
	// traces.
	AcceptParent bool

	// Waiting, if set, counts the runs that wait for a process, each time that metrics are read; it obeys its context.
	Waiting func(ctx context.Context) (Waiting, error)

	// PlainHTTP are hosts that may get Header over plain HTTP, besides this machine: see package cleartext.
	PlainHTTP []string
	// Redact, if set, takes secrets out of what is exported. What is JSON stays JSON.
	Redact func([]byte) []byte
	Log    *slog.Logger // nil: nothing is logged

	// Transport sends the exports; nil: a copy of http.DefaultTransport.
	Transport http.RoundTripper
}

// Waiting are the runs that wait for a process to drive them: how many there are, and since when the oldest waits.
type Waiting struct {
	Runs   int
	Oldest time.Duration
}

// Telemetry is what a process shows of itself. It is safe for concurrent use.
type Telemetry struct {
	config   Config
	log      *slog.Logger
	tracer   trace.Tracer
	export   *exporter                // nil: nothing is exported
	traces   *sdktrace.TracerProvider // likewise
	registry *prometheus.Registry
	metrics  metrics
}

// The bounds of waits.
const (
	scrapeTime = 2 * time.Second // for what is read with the metrics
	flushTime  = 5 * time.Second // for the last export
	exportTime = 10 * time.Second
)

// New readies what the configuration says. It connects to nothing yet.
func New(c Config) (*Telemetry, error) {
	t := &Telemetry{
		config:   c,
		log:      cmp.Or(c.Log, slog.New(slog.DiscardHandler)),
		tracer:   noop.NewTracerProvider().Tracer(""),
		registry: prometheus.NewRegistry(),
	}
	t.metrics = newMetrics(t.registry, c.Build)
	if c.Waiting != nil {
		t.registry.MustRegister(waitingCollector{t})
	}
	if c.Endpoint == "" {
		return t, nil
	}
	var err error
	if t.export, err = newExporter(c, t.log, t.metrics.exported); err != nil {
		return nil, err
	}
	t.traces = sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(spanCounter{t.metrics.spans}),
		sdktrace.WithBatcher(t.export, sdktrace.WithExportTimeout(exportTime)),
		sdktrace.WithSampler(sdktrace.ParentBased(linkSampler{sdktrace.TraceIDRatioBased(c.Ratio)})),
		sdktrace.WithResource(resource.NewWithAttributes(semconv.SchemaURL, semconv.ServiceName("sibyl"),
			semconv.ServiceVersion(c.Build), semconv.ServiceInstanceID(c.Instance))))
	t.tracer = t.traces.Tracer("sibyl", trace.WithInstrumentationVersion(c.Build),
		trace.WithSchemaURL(semconv.SchemaURL))
	return t, nil
}

// linkSampler samples what is linked to another trace as that one is, and all else as Sampler says.
type linkSampler struct{ sdktrace.Sampler }

func (l linkSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	switch {
	case len(p.Links) == 0:
		return l.Sampler.ShouldSample(p)
	case p.Links[0].SpanContext.IsSampled():
		return sdktrace.AlwaysSample().ShouldSample(p)
	}
	return sdktrace.NeverSample().ShouldSample(p)
}

type spanCounter struct{ ended prometheus.Counter }

func (t spanCounter) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

func (t spanCounter) OnEnd(s sdktrace.ReadOnlySpan) {
	if s.SpanContext().IsSampled() {
		t.ended.Inc()
	}
}

func (t spanCounter) Shutdown(context.Context) error { return nil }

func (t spanCounter) ForceFlush(context.Context) error { return nil }

// Close exports what is left, for some seconds at most or until ctx is done. The error says that something was lost.
func (t *Telemetry) Close(ctx context.Context) error {
	if t.traces == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	err := t.traces.Shutdown(ctx)
	_ = t.export.Shutdown(ctx) // which withdraws an export that is still running when the time is up
	if err == nil && t.export.failing.Load() {
		err = errors.New("the last spans could not be exported")
	}
	return err
}

// Handler gives the metrics to whoever may ask for them.
func (t *Telemetry) Handler() http.Handler {
	return promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{DisableCompression: true})
}

// Lag counts how long after a record was written its event reached a watcher.
func (t *Telemetry) Lag(behind time.Duration) { t.metrics.lag.Observe(behind.Seconds()) }

// markFailed marks a span as failed, by a word for why.
func markFailed(span trace.Span, kind string) {
	span.SetAttributes(semconv.ErrorTypeKey.String(kind))
	span.SetStatus(codes.Error, kind)
}

// other is the label value in place of a text that may be a person's.
const other = "other"

// labelValue is a short text of letters, digits and _.-:/@+ unchanged; for any other it is the constant other.
func labelValue(text string) string {
	isForeign := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
			strings.ContainsRune("_.-:/@+", r))
	}
	if len(text) > 64 || strings.ContainsFunc(text, isForeign) {
		return other
	}
	return text
}
