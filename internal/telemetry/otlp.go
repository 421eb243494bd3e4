package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"sibyl/internal/cleartext"
	"sibyl/internal/telemetry/metric"
)

// exporter sends spans to a collector, as OTLP has them in JSON over HTTP. It is a sdktrace.SpanExporter.
type exporter struct {
	url    string
	header map[string]string
	client *http.Client
	redact func([]byte) []byte
	log    *slog.Logger
	taken  *metric.Counter // spans that were exported

	life    context.Context // ends what is under way
	cut     context.CancelFunc
	over    chan struct{} // closed when nothing is exported any more
	shut    sync.Once
	failing atomic.Bool
}

func newExporter(c Config, log *slog.Logger, taken *metric.Counter) *exporter {
	e := &exporter{url: strings.TrimRight(c.Endpoint, "/") + "/v1/traces", header: c.Header, redact: c.Redact, log: log, taken: taken, over: make(chan struct{})}
	e.life, e.cut = context.WithCancel(context.Background())
	e.client = &http.Client{Transport: cleartext.Transport(http.DefaultTransport.(*http.Transport).Clone(), c.PlainHTTP),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // what Header holds goes nowhere else
	return e
}

// ExportSpans implements sdktrace.SpanExporter. What fails is told by the log, so that no error is left to return.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life, cancel)()
	body, err := json.Marshal(exportOf(spans))
	if err == nil {
		if e.redact != nil {
			body = e.redact(body)
		}
		err = e.send(ctx, body)
	}
	if err == nil {
		e.taken.Add(uint64(len(spans)))
	}
	switch was := e.failing.Swap(err != nil); {
	case err != nil && !was:
		e.log.Warn("traces can't be exported; this is said once until they can", "err", err)
	case err == nil && was:
		e.log.Info("traces are exported again")
	}
	return nil
}

// firstPause is the wait before a batch is sent again; each further one is twice as long.
const firstPause = 500 * time.Millisecond

// send posts a batch, again where that may help, until ctx is done.
func (e *exporter) send(ctx context.Context, body []byte) error {
	for pause := firstPause; ; pause *= 2 {
		again, err := e.post(ctx, body)
		if !again {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// post sends a batch once. again says that it may be taken later.
func (e *exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range e.header {
		req.Header.Set(name, value)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		_, refused := errors.AsType[*cleartext.Error](err)
		return ctx.Err() == nil && !refused, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16)) // so that the connection serves again
	switch resp.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector answers HTTP %d to %s", resp.StatusCode, e.url)
}

// Shutdown implements sdktrace.SpanExporter. It is called when the last batch is through.
func (e *exporter) Shutdown(context.Context) error {
	e.shut.Do(func() {
		e.client.CloseIdleConnections()
		close(e.over)
	})
	return nil
}
