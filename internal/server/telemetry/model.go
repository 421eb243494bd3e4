package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"sibyl/internal/model"
)

// Model is m with each of its requests counted and traced. It belongs inside of model.Retry, so that each attempt is
// told by itself.
func (t *Telemetry) Model(m model.Model) model.Model {
	provider, name := model.SplitID(m.ID())
	return &observed{Model: m, telemetry: t, provider: provider, name: name}
}

type observed struct {
	model.Model
	telemetry      *Telemetry
	provider, name string
}

// Chat implements model.Model.
func (o *observed) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	began := time.Now()
	ctx, span := o.telemetry.tracer.Start(ctx, "chat "+o.name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(o.requestAttributes(req, emit != nil)...))
	defer span.End()
	var first time.Duration // to the first text
	timedEmit := emit
	if emit != nil {
		timedEmit = func(d model.Delta) error {
			if d.Text != "" && first == 0 {
				first = max(time.Since(began), 1)
			}
			return emit(d)
		}
	}
	resp, err := o.Model.Chat(ctx, req, timedEmit)
	o.countRequest(time.Since(began), first, resp, err)
	if span.IsRecording() {
		span.SetAttributes(responseAttributes(resp, first)...)
	}
	if err != nil {
		markFailed(span, string(model.KindOf(err)))
		o.logFailure(ctx, err)
	}
	return resp, err
}

// countRequest counts a request, whether it succeeded or not. A model has series of its own only once it has answered,
// since a request may name a model that does not exist.
func (o *observed) countRequest(took, first time.Duration, resp model.Response, err error) {
	m := &o.telemetry.metrics
	if err != nil {
		m.modelErrors.WithLabelValues(labelValue(o.provider), string(model.KindOf(err))).Inc()
	}
	if err != nil && first == 0 && resp.Usage == (model.Usage{}) {
		return
	}
	id := m.models.label(o.ID())
	if err == nil {
		m.modelTime.WithLabelValues(id).Observe(took.Seconds())
	}
	if first > 0 {
		m.firstText.WithLabelValues(id).Observe(first.Seconds())
	}
	if u := resp.Usage; u != (model.Usage{}) {
		m.tokens.WithLabelValues(id, "input").Add(float64(max(u.InputTokens, 0)))
		m.tokens.WithLabelValues(id, "output").Add(float64(max(u.OutputTokens, 0)))
		m.cached.WithLabelValues(id).Add(float64(max(u.CachedTokens, 0)))
	}
}

// logFailure tells of a request that failed, without the provider's words, which may quote those of the person.
func (o *observed) logFailure(ctx context.Context, err error) {
	kind := model.KindOf(err)
	if kind == model.Cancelled {
		return
	}
	status := 0
	var failed *model.Error
	if errors.As(err, &failed) {
		status = failed.Status
	}
	o.telemetry.log.WarnContext(ctx, "a model did not answer", "model", o.ID(), "kind", string(kind), "status", status)
}

// requestAttributes are the attributes of a request.
func (o *observed) requestAttributes(req model.Request, stream bool) []attribute.KeyValue {
	attrs := []attribute.KeyValue{semconv.GenAIOperationNameChat, providerName(o.provider),
		semconv.GenAIRequestModel(o.name), semconv.GenAIRequestStream(stream)}
	if req.MaxOutputTokens > 0 {
		attrs = append(attrs, semconv.GenAIRequestMaxTokens(req.MaxOutputTokens))
	}
	if req.Purpose != "" {
		attrs = append(attrs, attribute.String("sibyl.model.purpose", req.Purpose))
	}
	return attrs
}

// responseAttributes are the attributes of what came, which is less where the request failed.
func responseAttributes(resp model.Response, first time.Duration) (attrs []attribute.KeyValue) {
	if _, name := model.SplitID(resp.Model); name != "" {
		attrs = append(attrs, semconv.GenAIResponseModel(name))
	}
	if resp.Finish != "" {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(string(resp.Finish)))
	}
	if first > 0 {
		attrs = append(attrs, semconv.GenAIResponseTimeToFirstChunk(first.Seconds()))
	}
	if u := resp.Usage; u != (model.Usage{}) {
		attrs = append(attrs, semconv.GenAIUsageInputTokens(u.InputTokens),
			semconv.GenAIUsageOutputTokens(u.OutputTokens), semconv.GenAIUsageCacheReadInputTokens(u.CachedTokens))
	}
	return attrs
}

// providerName is the name that the conventions have for a provider; of others it is the person's own.
func providerName(provider string) attribute.KeyValue {
	if provider == "gemini" {
		return semconv.GenAIProviderNameGCPGemini
	}
	return semconv.GenAIProviderNameKey.String(provider)
}
