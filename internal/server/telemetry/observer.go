package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Observer counts, traces and logs what a run.Engine does.
func (t *Telemetry) Observer() run.Observer { return observer{t} }

type observer struct{ *Telemetry }

// Drive implements run.Observer. The run's trace is its own: it may outlast the request that began it by far.
func (o observer) Drive(ctx context.Context, d run.DrivenRun) (context.Context, func(run.StopState)) {
	began, count, what := time.Now(), o.metrics.begun, "a run begins"
	if d.TakenUp {
		count, what = o.metrics.takenUp, "a run is taken up"
	}
	count.WithLabelValues(d.Assistant).Inc()
	o.metrics.driven.WithLabelValues(d.Assistant).Inc()
	options := []trace.SpanStartOption{trace.WithNewRoot(), trace.WithAttributes(
		semconv.GenAIOperationNameInvokeAgent, semconv.GenAIAgentName(d.Assistant),
		semconv.GenAIConversationID(d.Session),
		attribute.String("sibyl.run.id", d.Run), attribute.Bool("sibyl.run.taken_up", d.TakenUp))}
	if from := trace.SpanContextFromContext(ctx); from.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	ctx, span := o.tracer.Start(WithRun(ctx, d.Run), "invoke_agent "+d.Assistant, options...)
	o.log.InfoContext(ctx, what, "assistant", d.Assistant, "session", d.Session)
	return ctx, func(s run.StopState) {
		reason := labelValue(s.Reason)
		o.metrics.driven.WithLabelValues(d.Assistant).Dec()
		o.metrics.parted.WithLabelValues(d.Assistant, s.Status, reason).Inc()
		span.SetAttributes(attribute.String("sibyl.run.status", s.Status), attribute.String("sibyl.run.reason", reason))
		if s.Status == string(journal.Failed) || s.Status == run.StandsLost {
			markFailed(span, reason)
		}
		span.End()
		o.log.InfoContext(ctx, "a run is no longer driven here", "assistant", d.Assistant, "status", s.Status,
			"reason", reason, "ms", time.Since(began).Milliseconds())
	}
}

// Perform implements run.Observer.
func (o observer) Perform(ctx context.Context, e run.PerformedEffect) (context.Context, func(run.EffectResult)) {
	ctx, span := o.tracer.Start(ctx, e.Kind, trace.WithAttributes(attribute.String("sibyl.effect.leaf", e.Leaf),
		attribute.Int64("sibyl.effect.op", int64(e.Op)), attribute.Bool("sibyl.effect.once", e.Once)))
	return ctx, func(done run.EffectResult) {
		result := "ok"
		switch {
		case done.Suspended:
			result = "suspended"
		case done.Fault != "":
			result = labelValue(done.Fault)
		case done.Found:
			result = "found"
		}
		o.metrics.effects.WithLabelValues(e.Kind, result).Inc()
		o.metrics.effectTime.WithLabelValues(e.Kind).Observe(done.Took.Seconds())
		span.SetAttributes(attribute.String("sibyl.effect.result", result))
		if done.Fault != "" {
			markFailed(span, labelValue(done.Fault))
		}
		span.End()
	}
}

// Commit implements run.Observer.
func (o observer) Commit(_ context.Context, took time.Duration, err error) {
	o.metrics.commits.WithLabelValues(commitResult(err)).Inc()
	o.metrics.commitTime.Observe(took.Seconds())
}

// commitResult says what became of a write: that a rule refused it, or another process was first, is no trouble of the
// journal.
func commitResult(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, journal.ErrConflict), errors.Is(err, journal.ErrEnded):
		return "conflict"
	}
	for _, refused := range []error{journal.ErrNotFound, journal.ErrExists, journal.ErrConsumed, journal.ErrClaimed,
		journal.ErrInvalid} {
		if errors.Is(err, refused) {
			return "refused"
		}
	}
	return "error"
}
