package telemetry_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protojson"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server/telemetry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector takes OTLP in JSON over HTTP, and reads it by the protocol's own messages: a field or a form that these
// have not fails the test.
type collector struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	answer []int // the statuses of the next answers; then 200
	asked  int
	header http.Header
	bodies [][]byte // that were taken
	took   chan struct{}
}

func newCollector(t *testing.T, answer ...int) *collector {
	t.Helper()
	c := &collector{t: t, answer: answer, took: make(chan struct{}, 1000)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	assert.That(c.t, err == nil && r.Method == http.MethodPost && r.URL.Path == "/v1/traces" &&
		r.Header.Get("Content-Type") == "application/json",
		"%s %s with %q, error %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked, c.header = c.asked+1, r.Header
	status := http.StatusOK
	if len(c.answer) > 0 {
		status, c.answer = c.answer[0], c.answer[1:]
	}
	if status == http.StatusOK {
		c.bodies = append(c.bodies, body)
		c.took <- struct{}{}
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"partialSuccess":{}}`)
}

// all are the bytes of all that was taken.
func (c *collector) all() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Join(c.bodies, []byte("\n"))
}

// span is a span as it was taken.
type span struct {
	*tracepb.Span
	resource, scope string
}

// spans are those that were taken, by name; of one name in the order of their beginnings.
func (c *collector) spans() map[string][]span {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string][]span{}
	for _, body := range c.bodies {
		var message tracepb.TracesData // which has the fields of a request
		err := protojson.Unmarshal(inBase64(c.t, body), &message)
		assert.Require(c.t, err == nil, "%v in %s", err, body)
		for _, r := range message.GetResourceSpans() {
			for _, s := range r.GetScopeSpans() {
				for _, one := range s.GetSpans() {
					all[one.GetName()] = append(all[one.GetName()], span{one, values(r.GetResource().GetAttributes()),
						s.GetScope().GetName()})
				}
			}
		}
	}
	return all
}

// one is the only span of a name.
func (c *collector) one(name string) span {
	c.t.Helper()
	all := c.spans()
	assert.Require(c.t, len(all[name]) == 1, "there are %d spans %q of %v", len(all[name]), name, names(all))
	return all[name][0]
}

func names(all map[string][]span) (list []string) {
	for name, of := range all {
		list = append(list, name+" "+strings.Repeat("I", len(of)))
	}
	return list
}

// inBase64 gives ids the form that messages have elsewhere: OTLP alone has them in hexadecimal digits.
func inBase64(t *testing.T, body []byte) []byte {
	t.Helper()
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	assert.NoError(t, decoder.Decode(&tree))
	var turn func(any)
	turn = func(x any) {
		switch x := x.(type) {
		case []any:
			for _, item := range x {
				turn(item)
			}
		case map[string]any:
			for name, value := range x {
				if text, ok := value.(string); ok && (name == "traceId" || name == "spanId" || name == "parentSpanId") {
					id, err := hex.DecodeString(text)
					assert.That(t, err == nil && (len(id) == 16 || name != "traceId") && (len(id) == 8 || name == "traceId"),
						"%s is %q", name, text)
					x[name] = base64.StdEncoding.EncodeToString(id)
				}
				turn(value)
			}
		}
	}
	turn(tree)
	text := assert.Must(json.Marshal(tree))(t)
	return text
}

// values writes attributes as "name=value" each, in their order.
func values(attrs []*commonpb.KeyValue) string {
	var all []string
	for _, a := range attrs {
		all = append(all, a.GetKey()+"="+value(a.GetValue()))
	}
	return strings.Join(all, " ")
}

func value(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return v.StringValue
	case *commonpb.AnyValue_ArrayValue:
		var all []string
		for _, item := range v.ArrayValue.GetValues() {
			all = append(all, value(item))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	text, _ := protojson.Marshal(v)
	return strings.Trim(strings.TrimSuffix(string(text[strings.IndexByte(string(text), ':')+1:]), "}"), `" `)
}

// attribute is that of a span; "" if it has none.
func (s span) attribute(name string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == name {
			return value(a.GetValue())
		}
	}
	return ""
}

func (s span) under(parent span) bool {
	return bytes.Equal(s.GetParentSpanId(), parent.GetSpanId()) && bytes.Equal(s.GetTraceId(), parent.GetTraceId())
}

// within says that s was over when parent was.
func (s span) within(parent span) bool {
	return s.GetStartTimeUnixNano() >= parent.GetStartTimeUnixNano() &&
		s.GetEndTimeUnixNano() <= parent.GetEndTimeUnixNano() &&
		s.GetStartTimeUnixNano() <= s.GetEndTimeUnixNano()
}

// telemetryOf is what a configuration makes, closed with the test.
func telemetryOf(t *testing.T, c telemetry.Config) *telemetry.Telemetry {
	t.Helper()
	tel := assert.Must(telemetry.New(c))(t)
	t.Cleanup(func() { _ = tel.Close(t.Context()) }) // which the test may have done, to see what comes of it
	return tel
}

// closed closes it, so that all is exported.
func closed(t *testing.T, tel *telemetry.Telemetry) {
	t.Helper()
	assert.Nil(t, tel.Close(t.Context()))
}
