package telemetry

import (
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// What follows is the request of OTLP for traces, as its specification has it in JSON: ids in hexadecimal digits, numbers of 64 bits as
// texts, names of fields with capitals inside. It has what the spans of this package have: they carry no events.
type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource   otlpResource     `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
		SchemaURL  string           `json:"schemaUrl,omitempty"`
	}
	otlpResource struct {
		Attributes []otlpAttribute `json:"attributes"`
	}
	otlpScopeSpans struct {
		Scope     otlpScope  `json:"scope"`
		Spans     []otlpSpan `json:"spans"`
		SchemaURL string     `json:"schemaUrl,omitempty"`
	}
	otlpScope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		Flags      uint32          `json:"flags"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Start      string          `json:"startTimeUnixNano"`
		End        string          `json:"endTimeUnixNano"`
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Links      []otlpLink      `json:"links,omitempty"`
		Status     *otlpStatus     `json:"status,omitempty"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
		Flags   uint32 `json:"flags"`
	}
	otlpStatus struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		String *string    `json:"stringValue,omitempty"`
		Bool   *bool      `json:"boolValue,omitempty"`
		Int    *string    `json:"intValue,omitempty"`
		Double *float64   `json:"doubleValue,omitempty"`
		Array  *otlpArray `json:"arrayValue,omitempty"`
	}
	otlpArray struct {
		Values []otlpValue `json:"values"`
	}
)

// exportOf is the request for spans, which are all of one resource and one scope: those of a Telemetry.
func exportOf(spans []sdktrace.ReadOnlySpan) otlpRequest {
	if len(spans) == 0 {
		return otlpRequest{ResourceSpans: []otlpResourceSpans{}}
	}
	first := spans[0]
	of := otlpScopeSpans{Scope: scopeOf(first.InstrumentationScope()), SchemaURL: first.InstrumentationScope().SchemaURL, Spans: make([]otlpSpan, 0, len(spans))}
	for _, s := range spans {
		of.Spans = append(of.Spans, spanOf(s))
	}
	return otlpRequest{ResourceSpans: []otlpResourceSpans{{Resource: otlpResource{attributesOf(first.Resource().Attributes())},
		SchemaURL: first.Resource().SchemaURL(), ScopeSpans: []otlpScopeSpans{of}}}}
}

func scopeOf(s instrumentation.Scope) otlpScope { return otlpScope{s.Name, s.Version} }

func spanOf(s sdktrace.ReadOnlySpan) otlpSpan {
	id := s.SpanContext()
	span := otlpSpan{TraceID: id.TraceID().String(), SpanID: id.SpanID().String(), Flags: flagsOf(id, s.Parent()), Name: s.Name(), Kind: int(s.SpanKind()),
		Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: attributesOf(s.Attributes())}
	if parent := s.Parent(); parent.HasSpanID() {
		span.ParentID = parent.SpanID().String()
	}
	for _, l := range s.Links() {
		span.Links = append(span.Links, otlpLink{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String(), flagsOf(l.SpanContext, l.SpanContext)})
	}
	switch st := s.Status(); st.Code {
	case codes.Error: // which has another number there
		span.Status = &otlpStatus{2, st.Description}
	case codes.Ok:
		span.Status = &otlpStatus{Code: 1}
	}
	return span
}

// flagsOf are the flags of a trace, and whether the parent is of another process.
func flagsOf(id, parent trace.SpanContext) uint32 {
	const known, remote = 0x100, 0x200
	flags := uint32(id.TraceFlags()) | known
	if parent.IsRemote() {
		flags |= remote
	}
	return flags
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func attributesOf(attrs []attribute.KeyValue) []otlpAttribute {
	all := make([]otlpAttribute, 0, len(attrs))
	for _, a := range attrs {
		all = append(all, otlpAttribute{string(a.Key), valueOf(a.Value)})
	}
	return all
}

// valueOf gives the kinds of values that this package has; any other as text.
func valueOf(v attribute.Value) otlpValue {
	switch v.Type() {
	case attribute.BOOL:
		b := v.AsBool()
		return otlpValue{Bool: &b}
	case attribute.INT64:
		n := strconv.FormatInt(v.AsInt64(), 10)
		return otlpValue{Int: &n}
	case attribute.FLOAT64:
		f := v.AsFloat64()
		return otlpValue{Double: &f}
	case attribute.STRINGSLICE:
		list := &otlpArray{Values: []otlpValue{}}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, otlpValue{String: &s})
		}
		return otlpValue{Array: list}
	}
	s := v.String()
	return otlpValue{String: &s}
}
