package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sibyl/internal/model"
)

// drainTime is how long the end of a finished stream is waited for, so that its connection can be used again.
const drainTime = 50 * time.Millisecond

// MaxFailure is how much of the body of a failed request is read, in bytes.
const MaxFailure = 64 << 10

// Exchange is one call of a Client, which may take several requests: its API key, the clock that ends the requests, and
// the answer so far. It belongs to the goroutine that opened it, which closes it.
type Exchange struct {
	m        *Client
	key      string
	caller   context.Context // the caller's own, to tell a withdrawal from a time-out
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stop     context.CancelFunc // the time of the whole
	clock    clock
	attempts int
	final    bool // the last request failed, and leaving out fields would not help
	answer
}

// Open asks for the key and starts the clock. It fails as Invalid for a wrong base URL and as Auth for
// a key that cannot be had or cannot be sent; nothing is sent then.
func (m *Client) Open(ctx context.Context) (*Exchange, error) {
	x := &Exchange{m: m, caller: ctx}
	if m.baseErr != nil {
		return nil, x.Fail(model.Invalid, m.baseErr.Error(), nil)
	}
	if m.config.Key != nil {
		key, err := m.config.Key(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, x.broken("", err)
			}
			return nil, x.Fail(model.Auth, "the API key could not be read: "+err.Error(), err)
		}
		x.key = strings.TrimSpace(key)
		if strings.ContainsFunc(x.key, func(r rune) bool { return r < ' ' || r == 0x7f }) { // no header can hold it
			return nil, x.Fail(model.Auth, "the API key holds a control character, perhaps a line break", nil)
		}
	}
	ctx, x.stop = context.WithTimeoutCause(ctx, m.config.Whole, model.ErrEndless)
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.clock.start(x.cancel, m.config.FirstByte, m.config.Idle)
	return x, nil
}

// Close ends the exchange and its open requests.
func (x *Exchange) Close() {
	x.clock.timer.Stop()
	x.cancel(nil)
	x.stop()
}

// Key is the API key without white space around it; empty if there is none.
func (x *Exchange) Key() string { return x.key }

// Context is done when the exchange is over.
func (x *Exchange) Context() context.Context { return x.ctx }

// Withdrawn reports whether the caller has cancelled the exchange.
func (x *Exchange) Withdrawn() bool { return x.caller.Err() != nil }

// jsonType is the media type of most requests.
const jsonType = "application/json"

// send makes one request with a body of that media type. It returns only a successful response, whose body the caller
// closes.
func (x *Exchange) send(method, target, mediaType, accept string, body []byte) (*http.Response, error) {
	x.attempts++
	x.sent = len(body)
	x.clock.ask()
	req, err := http.NewRequestWithContext(x.ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, x.Fail(model.Invalid, "the base URL cannot be used", nil)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", mediaType)
		req.Header.Set("Accept", accept)
	}
	x.m.protocol.Header(req.Header, x.key)
	for name, value := range x.m.config.Header {
		req.Header.Set(name, value)
	}
	resp, err := x.m.client.Do(req)
	if err != nil {
		return nil, x.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, MaxFailure))
	if err != nil && (x.Withdrawn() || x.ctx.Err() != nil) {
		return nil, x.broken("", err)
	}
	return nil, x.rejected(resp, said)
}

// Body reads a whole answer.
func (x *Exchange) Body(resp *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(&source{x: x, body: resp.Body, whole: true}, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, x.lost("the answer was cut", err)
	case len(text) > MaxAnswer:
		return nil, x.tooLarge()
	}
	return text, nil
}

// GetList requests a list of models into list. It fails as Garbled if the answer is no JSON, or if whole, called then,
// does not find what the protocol promises.
func (x *Exchange) GetList(path string, query url.Values, list any, whole func() bool) error {
	return x.fetch(http.MethodGet, x.m.target(path, query), "", nil, "the list of models", list, whole)
}

// lookTime bounds a request for the properties of a model: a turn or a choice waits for it.
const lookTime = 3 * time.Second

// Look requests information beside turns, such as the properties of a model: by GET, or by POST with a body. It counts
// as no attempt, and fails as Timeout after 3 s.
func (x *Exchange) Look(path string, body []byte, into any) error {
	whole, attempts := x.ctx, x.attempts
	looking, end := context.WithTimeout(whole, lookTime)
	defer end()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	x.ctx = looking
	err := x.fetch(method, x.m.target(path, nil), jsonType, body, "what is told of the model", into, func() bool {
		return true
	})
	x.ctx, x.attempts = whole, attempts
	if err != nil && looking.Err() != nil && whole.Err() == nil {
		return x.Fail(model.Timeout, fmt.Sprintf("what the model is like was not told within %v", lookTime),
			looking.Err())
	}
	return err
}

// Follow posts a body, and passes the lines of the answer that are not blank to handle until the answer is Done. Each
// line is progress for the clock.
func (x *Exchange) Follow(path string, body []byte, handle func(line []byte) error) error {
	resp, err := x.send(http.MethodPost, x.m.target(path, nil), jsonType, x.m.protocol.Accept, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return x.ReadLines(resp.Body, func(line []byte) error {
		x.clock.progress()
		return handle(line)
	})
}

// fetch makes one request and reads its answer as GetList does; what names it in the error.
func (x *Exchange) fetch(
	method, target, mediaType string, body []byte, what string, into any, whole func() bool,
) error {
	resp, err := x.send(method, target, mediaType, jsonType, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := x.Body(resp)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, into); err != nil || !whole() {
		if complains(answer) {
			return x.complained(answer, retryAfter(resp.Header), "")
		}
		return x.Fail(model.Garbled, what+" is not what the protocol promises"+x.BaseHint(), nil)
	}
	return nil
}

// mediaType is that of an answer without its parameters, in lower case.
func mediaType(resp *http.Response) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// IsJSON says whether an answer is one JSON value and no stream.
func IsJSON(resp *http.Response) bool { return mediaType(resp) == jsonType }
