package telemetry

import (
	"context"
	"io"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// Logger writes lines of JSON: time, level, msg, what else they say, and the request, run and trace that their context
// is of. redact, if it is not nil, takes secrets out of each line, which stays JSON. Each line is one Write.
func Logger(w io.Writer, level slog.Leveler, redact func([]byte) []byte) *slog.Logger {
	if redact != nil {
		w = redactingWriter{w, redact}
	}
	return slog.New(withID{slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})})
}

type redactingWriter struct {
	io.Writer
	redact func([]byte) []byte
}

func (r redactingWriter) Write(line []byte) (int, error) {
	if _, err := r.Writer.Write(r.redact(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

// requestKey and runKey are those of contexts.
type (
	requestKey struct{}
	runKey     struct{}
)

// WithRequest gives a context that is of a request.
func WithRequest(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestKey{}, id)
}

// WithRun gives a context that is of a run.
func WithRun(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, runKey{}, id)
}

// How lines name what they are of.
const (
	requestID = "request_id"
	runID     = "run_id"
)

// withID adds to a line the ids of the request, run and trace of its context.
type withID struct{ slog.Handler }

// Handle implements slog.Handler. What the line names already is not named twice.
func (n withID) Handle(ctx context.Context, r slog.Record) error {
	var of []slog.Attr
	if id, ok := ctx.Value(requestKey{}).(string); ok && !hasAttr(r, requestID) {
		of = append(of, slog.String(requestID, id))
	}
	if id, ok := ctx.Value(runKey{}).(string); ok && !hasAttr(r, runID) {
		of = append(of, slog.String(runID, id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		of = append(of, slog.String("trace_id", span.TraceID().String()),
			slog.String("span_id", span.SpanID().String()))
	}
	if len(of) > 0 {
		r = r.Clone()
		r.AddAttrs(of...)
	}
	return n.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (n withID) WithAttrs(attrs []slog.Attr) slog.Handler { return withID{n.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (n withID) WithGroup(name string) slog.Handler { return withID{n.Handler.WithGroup(name)} }

func hasAttr(r slog.Record, key string) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		is = a.Key == key
		return !is
	})
	return is
}
