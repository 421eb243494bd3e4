package telemetry

import (
	"context"
	"runtime"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// metrics are those that are counted while things happen.
type metrics struct {
	driven                 *prometheus.GaugeVec
	begun, takenUp, parted *prometheus.CounterVec

	effects    *prometheus.CounterVec
	effectTime *prometheus.HistogramVec
	commits    *prometheus.CounterVec
	commitTime prometheus.Histogram
	lag        prometheus.Histogram

	models                      *modelNames
	tokens, cached, modelErrors *prometheus.CounterVec
	modelTime, firstText        *prometheus.HistogramVec

	requests    *prometheus.CounterVec
	requestTime *prometheus.HistogramVec
	requestsNow prometheus.Gauge

	spans, exported, unread prometheus.Counter
}

// maker makes metrics in a registry.
type maker struct{ promauto.Factory }

func (m maker) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return m.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (m maker) counter(name, help string) prometheus.Counter {
	return m.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func (m maker) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return m.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

func newMetrics(r *prometheus.Registry, build string) metrics {
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := maker{promauto.With(r)}
	m.NewGaugeFunc(prometheus.GaugeOpts{Name: "sibyl_build_info", Help: "The build that runs.",
		ConstLabels: prometheus.Labels{"version": build, "go": runtime.Version()}}, func() float64 { return 1 })
	// The bounds in seconds of what waits for a model, and of what does not.
	slow := []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
	quick := []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	return metrics{
		driven: m.NewGaugeVec(prometheus.GaugeOpts{Name: "sibyl_runs_driven", Help: "Runs that this process drives."},
			[]string{"assistant"}),
		begun:   m.counters("sibyl_runs_begun_total", "Runs that this process was the first to drive.", "assistant"),
		takenUp: m.counters("sibyl_runs_taken_up_total", "Runs that this process went on with.", "assistant"),
		parted: m.counters("sibyl_runs_parted_total",
			"Runs that this process drives no more, by how they stand: done, "+
				"failed, cancelled, needs_user, suspended, left to others, or lost.", "assistant", "status", "reason"),
		effects: m.counters("sibyl_effects_total",
			"Effects that were performed: ok, found after a crash, suspended, or "+
				"the kind of the fault.", "kind", "result"),
		effectTime: m.histograms("sibyl_effect_duration_seconds", "How long effects took.", slow, "kind"),
		commits: m.counters("sibyl_commits_total",
			"Writes of records to the journal: ok, conflict where another process "+
				"was first, refused, or error.", "result"),
		commitTime: m.NewHistogram(prometheus.HistogramOpts{Name: "sibyl_commit_duration_seconds",
			Help: "How long writes of records to the journal took.", Buckets: quick}),
		lag: m.NewHistogram(prometheus.HistogramOpts{Name: "sibyl_event_lag_seconds",
			Help: "How long after its record an event reached a watcher.", Buckets: quick}),
		models: &modelNames{known: map[string]bool{}},
		tokens: m.counters("sibyl_model_tokens_total", "Tokens that models read (input) and wrote (output).",
			"model", "direction"),
		cached: m.counters("sibyl_model_cached_tokens_total", "Tokens of the input that a provider had cached.",
			"model"),
		modelErrors: m.counters("sibyl_model_errors_total", "Requests to models that failed.", "provider", "kind"),
		modelTime: m.histograms("sibyl_model_request_duration_seconds", "How long models took that answered.", slow,
			"model"),
		firstText: m.histograms("sibyl_model_first_text_seconds",
			"How long models took to the first piece of text.", slow, "model"),
		requests: m.counters("sibyl_http_requests_total", "HTTP requests that were answered.", "method", "route",
			"status"),
		requestTime: m.histograms("sibyl_http_request_duration_seconds",
			"How long answers to HTTP requests took, event streams not counted.", quick, "route"),
		requestsNow: m.NewGauge(prometheus.GaugeOpts{Name: "sibyl_http_requests_open",
			Help: "HTTP requests that are being answered, event streams too."}),
		spans: m.counter("sibyl_spans_ended_total", "Spans to be exported that ended."),
		exported: m.counter("sibyl_spans_exported_total",
			"Spans that the collector took; those that it could not be given in time are dropped."),
		unread: m.counter("sibyl_scrape_errors_total", "Times that the waiting runs could not be read in time."),
	}
}

// modelNames bounds how many models have series of their own: some servers answer to any name that a request makes up.
type modelNames struct {
	mu    sync.Mutex
	known map[string]bool
}

const mostModels = 100

// label is the value of a label for a name, or other.
func (n *modelNames) label(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.known[name] && len(n.known) >= mostModels {
		return other
	}
	n.known[name] = true
	return labelValue(name)
}

// waitingCollector reads the runs that wait, when metrics are read.
type waitingCollector struct{ *Telemetry }

// Describe implements prometheus.Collector. It names nothing, since what can't be read is left out.
func (w waitingCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (w waitingCollector) Collect(metrics chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	runs, err := w.config.Waiting(ctx)
	if err != nil {
		w.metrics.unread.Inc()
		w.log.WarnContext(ctx, "the waiting runs can't be counted", "err", err)
		return
	}
	gauge := func(name, help string, value float64) {
		metrics <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value)
	}
	gauge("sibyl_runs_waiting", "Runs that wait for a process to drive them.", float64(runs.Runs))
	gauge("sibyl_runs_waiting_oldest_seconds", "How long the oldest run has waited.", max(runs.Oldest, 0).Seconds())
}
