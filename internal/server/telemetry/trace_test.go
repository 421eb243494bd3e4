package telemetry_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/run"
	"sibyl/internal/server/telemetry"
)

// parent is a traceparent that wants to be traced.
const parent = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"

func TestParentOfARequestCountsOnlyIfThatIsSet(t *testing.T) {
	for name, accept := range map[string]bool{"accepted": true, "not": false} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			tel := telemetryOf(t, telemetry.Config{Endpoint: c.URL, Ratio: 1, AcceptParent: accept})
			first, second := wholeRun()
			n := newNode(t, tel, nil, first, second)
			n.post("talk", "traceparent", parent, "baggage", "owner="+owner)
			n.Close()
			closed(t, tel)
			request := c.one("POST /ask/{session}")
			ids := hex.EncodeToString(request.GetTraceId()) + "-" + hex.EncodeToString(request.GetParentSpanId())
			assert.That(t, strings.Contains(parent, ids) == accept, "the request is %v", request)
			assert.That(t, request.GetFlags()&0x200 != 0 == accept, "its flags are %x", request.GetFlags())
			driven := c.one("invoke_agent oracle")
			assert.That(t, bytes.Equal(driven.GetLinks()[0].GetTraceId(), request.GetTraceId()),
				"the run is linked to another trace")
			noWords(t, "what was exported", c.all())
		})
	}
}

func TestRunIsTracedIfItsRequestIs(t *testing.T) {
	c := newCollector(t)
	tel := telemetryOf(t, telemetry.Config{Endpoint: c.URL, Ratio: 0, AcceptParent: true})
	first, second := wholeRun()
	again, other := wholeRun()
	n := newNode(t, tel, nil, append(first, again...), append(second, other...))
	n.post("traced", "traceparent", parent)
	n.post("untraced", "traceparent", strings.TrimSuffix(parent, "01")+"00")
	n.Close()
	closed(t, tel)
	got := c.one("invoke_agent oracle").attribute("gen_ai.conversation.id")
	assert.That(t, got == "traced", "the run of the session %q is traced", got)
	assert.That(t, len(c.spans()["POST /ask/{session}"]) == 1, "the spans are %v", names(c.spans()))
}

// posts is a transport that gives answers, and notes when it was asked.
type posts struct {
	mu     sync.Mutex
	answer []func(*http.Request) (int, error) // the last one stands for all further ones
	at     []time.Time
}

func (p *posts) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	answer := p.answer[0]
	if len(p.answer) > 1 {
		p.answer = p.answer[1:]
	}
	p.at = append(p.at, time.Now())
	p.mu.Unlock()
	status, err := answer(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Status: strconv.Itoa(status), Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
}

func status(code int) func(*http.Request) (int, error) {
	return func(*http.Request) (int, error) { return code, nil }
}

// hangs until the request is withdrawn.
func hangs(r *http.Request) (int, error) {
	<-r.Context().Done()
	return 0, r.Context().Err()
}

// exporting is a telemetry that exports through answers, in a time of its own, and logs into lines.
func exporting(
	t *testing.T, test func(t *testing.T, tel *telemetry.Telemetry, lines *bytes.Buffer, p *posts),
	answer ...func(*http.Request) (int, error),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var lines bytes.Buffer
		p := &posts{answer: answer}
		tel := telemetryOf(t, telemetry.Config{Endpoint: "http://collector.test", Ratio: 1,
			Log:       telemetry.Logger(&lines, slog.LevelWarn, nil),
			Transport: p})
		test(t, tel, &lines, p)
	})
}

// drive makes a span.
func drive(tel *telemetry.Telemetry) {
	_, parted := tel.Observer().Drive(context.Background(), run.DrivenRun{Run: "r", Session: "s", Assistant: "oracle"})
	parted(run.StopState{Status: "done", Reason: "satisfied"})
}

func TestBatchThatMayBeTakenLaterIsSentAgain(t *testing.T) {
	refused := func(*http.Request) (int, error) { return 0, errors.New("connection refused") }
	exporting(t, func(t *testing.T, tel *telemetry.Telemetry, lines *bytes.Buffer, p *posts) {
		drive(tel)
		closed(t, tel)
		assert.That(t, len(p.at) == 3 && p.at[1].After(p.at[0]) && p.at[2].After(p.at[1]), "it was sent at %v", p.at)
		counts(t, tel, map[string]float64{"sibyl_spans_ended_total": 1, "sibyl_spans_exported_total": 1})
		assert.That(t, lines.Len() == 0, "the log is %s", lines)
	}, status(503), refused, status(200))
}

func TestBatchesThatAreRefusedAreDroppedAndToldOnceUntilTheyAreTaken(t *testing.T) {
	exporting(t, func(t *testing.T, tel *telemetry.Telemetry, lines *bytes.Buffer, p *posts) {
		for range 3 {
			drive(tel)
			time.Sleep(time.Minute)
		}
		drive(tel)
		closed(t, tel)
		assert.That(t, len(p.at) == 4, "%d exports", len(p.at))
		counts(t, tel, map[string]float64{"sibyl_spans_ended_total": 4, "sibyl_spans_exported_total": 1})
		n := strings.Count(lines.String(), "\n")
		assert.That(t, n == 1 && strings.Contains(lines.String(), "failed to send to http://collector.test/v1/traces: 400"),
			"the log is %s", lines)
	}, status(400), status(400), status(302), status(200))
}

func TestCollectorThatHangsHoldsUpNeitherRunsNorTheEnd(t *testing.T) {
	exporting(t, func(t *testing.T, tel *telemetry.Telemetry, _ *bytes.Buffer, _ *posts) {
		began := time.Now()
		for range 5000 { // more than are kept
			drive(tel)
		}
		took := time.Since(began)
		assert.That(t, took == 0, "runs waited %s for the collector", took)
		err := tel.Close(t.Context())
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 5*time.Second {
			t.Errorf("closing took %s, error %v", took, err)
		}
		counts(t, tel, map[string]float64{"sibyl_spans_ended_total": 5000, "sibyl_spans_exported_total": 0})
	}, hangs)
}

func TestWithoutAnEndpointNoGoroutineRuns(t *testing.T) {
	before := goleak.IgnoreCurrent()
	tel := assert.Must(telemetry.New(telemetry.Config{Ratio: 1}))(t)
	drive(tel)
	assert.Nil(t, goleak.Find(before))
	assert.Nil(t, tel.Close(t.Context()))
	counts(t, tel, map[string]float64{"sibyl_spans_ended_total": 0})
}

func TestNoHeaderGoesOverPlainHTTPToACollectorElsewhere(t *testing.T) {
	for _, header := range []string{"Authorization", "X-Team"} {
		var lines bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			tel := telemetryOf(t, telemetry.Config{Endpoint: "http://collector.test", Ratio: 1,
				Log:    telemetry.Logger(&lines, slog.LevelWarn, nil),
				Header: map[string]string{header: "canary-0123456789"}})
			drive(tel)
			assert.That(t, tel.Close(t.Context()) != nil, "%s: the spans were taken", header)
		})
		if said := lines.String(); !strings.Contains(said, "plain_http") || strings.Contains(said, "canary") {
			t.Errorf("%s: the log says %q", header, said)
		}
	}
}
