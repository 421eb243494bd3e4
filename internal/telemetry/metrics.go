package telemetry

import (
	"context"

	"sibyl/internal/telemetry/metric"
)

// metrics are those that are counted while things happen.
type metrics struct {
	registry metric.Registry

	driven                 *metric.Gauge
	begun, takenUp, parted *metric.Counter

	effects    *metric.Counter
	effectTime *metric.Histogram
	commits    *metric.Counter
	commitTime *metric.Histogram
	lag        *metric.Histogram

	tokens, cached, modelErrors *metric.Counter
	modelTime, firstText        *metric.Histogram

	requests    *metric.Counter
	requestTime *metric.Histogram
	requestsNow *metric.Gauge

	spans, exported, unread *metric.Counter
}

// slow are the bounds in seconds of what waits for a model, quick those of what does not.
func slow() []float64 {
	return []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600}
}

func quick() []float64 {
	return []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
}

func (m *metrics) begin() {
	r := &m.registry
	m.driven = r.Gauge("sibyl_runs_driven", "Runs that this process drives.", "assistant")
	m.begun = r.Counter("sibyl_runs_begun_total", "Runs that this process was the first to drive.", "assistant")
	m.takenUp = r.Counter("sibyl_runs_taken_up_total", "Runs that this process went on with.", "assistant")
	m.parted = r.Counter("sibyl_runs_parted_total", "Runs that this process drives no more, by how they stand: done, failed, cancelled, needs_user, "+
		"suspended, left to others, or lost.", "assistant", "status", "reason")
	m.effects = r.Counter("sibyl_effects_total", "Effects that were performed: ok, found after a crash, suspended, or the kind of the fault.", "kind", "result")
	m.effectTime = r.Histogram("sibyl_effect_duration_seconds", "How long effects took.", slow(), "kind")
	m.commits = r.Counter("sibyl_commits_total", "Writes of records to the journal: ok, conflict where another process was first, refused, or error.", "result")
	m.commitTime = r.Histogram("sibyl_commit_duration_seconds", "How long writes of records to the journal took.", quick())
	m.lag = r.Histogram("sibyl_event_lag_seconds", "How long after its record an event reached a watcher.", quick())
	m.tokens = r.Counter("sibyl_model_tokens_total", "Tokens that models read (input) and wrote (output).", "model", "direction")
	m.cached = r.Counter("sibyl_model_cached_tokens_total", "Tokens of the input that a provider had cached.", "model")
	m.modelErrors = r.Counter("sibyl_model_errors_total", "Requests to models that failed.", "provider", "kind")
	m.modelTime = r.Histogram("sibyl_model_request_duration_seconds", "How long models took that answered.", slow(), "model")
	m.firstText = r.Histogram("sibyl_model_first_text_seconds", "How long models took to the first piece of text.", slow(), "model")
	m.requests = r.Counter("sibyl_http_requests_total", "HTTP requests that were answered.", "method", "route", "status")
	m.requestTime = r.Histogram("sibyl_http_request_duration_seconds", "How long answers to HTTP requests took, event streams not counted.", quick(), "route")
	m.requestsNow = r.Gauge("sibyl_http_requests_open", "HTTP requests that are being answered, event streams too.")
	m.spans = r.Counter("sibyl_spans_ended_total", "Spans to be exported that ended.")
	m.exported = r.Counter("sibyl_spans_exported_total", "Spans that the collector took; those that it could not be given in time are dropped.")
	m.unread = r.Counter("sibyl_scrape_errors_total", "Times that the waiting runs could not be read in time.")
}

// waiting reads the runs that wait.
func (t *Telemetry) waiting(ctx context.Context) []metric.Sample {
	if t.config.Waiting == nil {
		return nil
	}
	w, err := t.config.Waiting(ctx)
	if err != nil {
		t.metrics.unread.Add(1)
		t.log.WarnContext(ctx, "the waiting runs can't be counted", "err", err)
		return nil
	}
	return []metric.Sample{
		{Name: "sibyl_runs_waiting", Help: "Runs that wait for a process to drive them.", Value: float64(w.Runs)},
		{Name: "sibyl_runs_waiting_oldest_seconds", Help: "How long the oldest run has waited.", Value: max(w.Oldest, 0).Seconds()}}
}
