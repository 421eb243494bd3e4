package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	v2 "github.com/go-json-experiment/json"

	"sibyl/internal/model"
)

// restTimeout is how long readRest waits for the end of a finished stream, so that its connection can be used again.
const restTimeout = 50 * time.Millisecond

// MaxFailureBody is how much of the body of a failed request is read, in bytes.
const MaxFailureBody = 64 << 10

// Call is one use of a Client, which may take several requests: the API key, the clock that ends the requests, and the
// answer so far. The goroutine that opened it closes it.
type Call struct {
	m        *Client
	key      string
	caller   context.Context // the caller's own, to distinguish a withdrawal from a timeout
	ctx      context.Context
	cancel   context.CancelCauseFunc
	stop     context.CancelFunc // ends Config.Whole
	clock    clock
	attempts int
	lenient  v2.Options // of Decode
	told     []byte     // an event without any part of the answer, but with words
	dropped  int        // fields that Decode has left out
	hopeless bool       // the last request failed, and leaving out fields would not help
	answerState
}

// Open begins a Call: it gets the key and starts the clock. A wrong base URL is Invalid, and a key that can't be read
// or sent is Auth; nothing is sent then.
func (m *Client) Open(ctx context.Context) (*Call, error) {
	x := &Call{m: m, caller: ctx}
	if m.baseErr != nil {
		return nil, x.Fail(model.Invalid, m.baseErr.Error(), nil)
	}
	if m.config.Key != nil {
		key, err := m.config.Key(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, x.incompleteError("", err)
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

// Close ends the call and its open requests.
func (x *Call) Close() {
	x.clock.timer.Stop()
	x.cancel(nil)
	x.stop()
}

// Key returns the API key without white space around it; empty if there is none.
func (x *Call) Key() string { return x.key }

// Context is done when the call is over.
func (x *Call) Context() context.Context { return x.ctx }

// Withdrawn reports whether the caller has cancelled the call.
func (x *Call) Withdrawn() bool { return x.caller.Err() != nil }

// jsonType is the media type of most requests.
const jsonType = "application/json"

// send makes one request with a body of that media type. It returns only a successful response, whose body the caller
// closes.
func (x *Call) send(method, target, mediaType, accept string, body []byte) (*http.Response, error) {
	x.attempts++
	x.sent = len(body)
	x.clock.noteRequest()
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
		return nil, x.unreachableError(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	complaint, err := io.ReadAll(io.LimitReader(resp.Body, MaxFailureBody))
	if err != nil && (x.Withdrawn() || x.ctx.Err() != nil) {
		return nil, x.incompleteError("", err)
	}
	return nil, x.statusError(resp, complaint)
}

// ReadBody reads an answer that is no stream.
func (x *Call) ReadBody(resp *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(&bodyReader{x: x, body: resp.Body, whole: true}, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, x.lostError("the answer was cut", err)
	case len(text) > MaxAnswer:
		return nil, x.tooLargeError()
	}
	return text, nil
}

// GetList requests a list of models and decodes it into list. The answer is Garbled if it is no JSON, or if complete,
// called then, misses what the protocol promises.
func (x *Call) GetList(path string, query url.Values, list any, complete func() bool) error {
	return x.fetchJSON(http.MethodGet, x.m.addressOf(path, query), "", nil, "the list of models", list, complete)
}

// infoTimeout bounds GetInfo, since a turn or a choice waits for it.
const infoTimeout = 3 * time.Second

// GetInfo requests properties of a model and decodes them: by GET, or by POST if there is a body. It does not count as
// an attempt, and fails with Timeout after 3 s.
func (x *Call) GetInfo(path string, body []byte, into any) error {
	callCtx, attempts := x.ctx, x.attempts
	infoCtx, end := context.WithTimeout(callCtx, infoTimeout)
	defer end()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	x.ctx = infoCtx
	err := x.fetchJSON(method, x.m.addressOf(path, nil), jsonType, body, "what is told of the model", into, func() bool {
		return true
	})
	x.ctx, x.attempts = callCtx, attempts
	if err != nil && infoCtx.Err() != nil && callCtx.Err() == nil {
		return x.Fail(model.Timeout, fmt.Sprintf("what the model is like was not told within %v", infoTimeout),
			infoCtx.Err())
	}
	return err
}

// PostAndReadLines posts a body, and passes the lines of the answer to handle until the answer is Done. Blank lines are
// left out. Each line is progress for the clock.
func (x *Call) PostAndReadLines(path string, body []byte, handle func(line []byte) error) error {
	resp, err := x.send(http.MethodPost, x.m.addressOf(path, nil), jsonType, x.m.protocol.Accept, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return x.ReadLines(resp.Body, func(line []byte) error {
		x.clock.noteProgress()
		return handle(line)
	})
}

// fetchJSON makes one request and reads its answer as GetList does; `what` names the answer in an error.
func (x *Call) fetchJSON(
	method, target, mediaType string, body []byte, what string, into any, complete func() bool,
) error {
	resp, err := x.send(method, target, mediaType, jsonType, body)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := x.ReadBody(resp)
	if err != nil {
		return err
	}
	if err := x.Decode(answer, into); err != nil || !complete() {
		if isComplaint(answer) {
			return x.complaintError(answer, retryAfter(resp.Header), "")
		}
		return x.Fail(model.Garbled, what+" is not what the protocol promises"+x.BaseHint(), nil)
	}
	return nil
}

// mediaType returns an answer's media type without parameters, in lower case.
func mediaType(resp *http.Response) string {
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// IsJSON says whether an answer is one JSON value, not a stream.
func IsJSON(resp *http.Response) bool { return mediaType(resp) == jsonType }
