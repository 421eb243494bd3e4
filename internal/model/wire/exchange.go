package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sibyl/internal/model"
)

// errTooLong and errSilent are the causes with which an exchange ends its own request.
var (
	errTooLong = errors.New("no complete answer in time")
	errSilent  = errors.New("silence in the middle of the answer")
)

// drainTime is how long the end of a finished stream is waited for, so that its connection can be used again.
const drainTime = 50 * time.Millisecond

// MaxFailure is how much of the body of a failed request is read, in bytes.
const MaxFailure = 64 << 10

// Exchange is one Chat or List: the key it was given, the clocks that end its requests, and what is kept of its answer.
type Exchange struct {
	e      *Endpoint
	key    string
	caller context.Context // the caller's own, to tell a withdrawal from a time-out
	ctx    context.Context
	cancel context.CancelCauseFunc
	whole  *time.Timer

	size    int             // bytes kept of the answer
	callIDs map[string]bool // of its complete calls
}

// Open asks for the key and starts the clock of a whole request. It fails as Invalid for a wrong base URL and as Auth for
// a key that cannot be had or cannot be sent; nothing is sent then.
func (e *Endpoint) Open(ctx context.Context) (*Exchange, error) {
	x := &Exchange{e: e, caller: ctx}
	if e.baseErr != nil {
		return nil, x.Fail(model.Invalid, e.baseErr.Error(), nil)
	}
	if e.key != nil {
		key, err := e.key(ctx)
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
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.whole = time.AfterFunc(e.timeout, func() { x.cancel(errTooLong) })
	return x, nil
}

// Close ends what is left of the exchange.
func (x *Exchange) Close() {
	x.whole.Stop()
	x.cancel(nil)
}

// Context ends with the exchange, and is what a client of a provider's own has to use.
func (x *Exchange) Context() context.Context { return x.ctx }

// Key is the API key without white space around it; empty if there is none.
func (x *Exchange) Key() string { return x.key }

// Withdrawn says whether the caller has ended the exchange.
func (x *Exchange) Withdrawn() bool { return x.caller.Err() != nil }

// Request is one HTTP request of an exchange.
type Request struct {
	Method string
	Path   string     // under the base URL, escaped
	Query  url.Values // replaces what the base URL's own query says of these names
	Body   []byte     // JSON, of a POST
}

// Send makes one request and returns its response, which is a success and whose body the caller closes. judge is asked
// about any other response.
func (x *Exchange) Send(r Request, judge Judge) (*http.Response, error) {
	target := x.e.base.JoinPath(r.Path)
	if len(r.Query) > 0 {
		query := target.Query()
		for name, values := range r.Query {
			query[name] = values
		}
		target.RawQuery = query.Encode()
	}
	req, err := http.NewRequestWithContext(x.ctx, r.Method, target.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, x.Fail(model.Invalid, "the base URL cannot be used", nil)
	}
	if r.Method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", x.e.protocol.Accept)
	}
	if x.key != "" {
		x.e.protocol.Authorize(req.Header, x.key)
	}
	resp, err := x.e.client.Do(req)
	if err != nil {
		return nil, x.unreachable(err)
	}
	return x.Receive(resp, nil, judge)
}

// Receive is the second half of Send for a client of a provider's own, which gave resp and err. It goes by resp alone if
// there is one: the error of such a client may hold the request, and so the key.
func (x *Exchange) Receive(resp *http.Response, err error, judge Judge) (*http.Response, error) {
	switch {
	case resp == nil:
		return nil, x.unreachable(err)
	case resp.StatusCode/100 == 2:
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, MaxFailure))
	if err != nil && (x.Withdrawn() || x.ctx.Err() != nil) {
		return nil, x.broken("", err)
	}
	return nil, x.rejected(resp, judge(resp.StatusCode, said))
}

// Body reads a whole answer.
func (x *Exchange) Body(resp *http.Response) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	switch {
	case err != nil:
		return nil, x.broken("the answer was cut", err)
	case len(text) > MaxAnswer:
		return nil, x.tooLarge()
	}
	return text, nil
}

// List sends r and reads the answer as ReadList does.
func (x *Exchange) List(r Request, judge Judge, list any, whole func() bool) error {
	resp, err := x.Send(r, judge)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	return x.ReadList(resp, list, whole)
}

// ReadList reads a list of models. It is Garbled unless it is JSON and whole, asked then, finds in it what the protocol
// promises.
func (x *Exchange) ReadList(resp *http.Response, list any, whole func() bool) error {
	body, err := x.Body(resp)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, list); err != nil || !whole() {
		return x.Fail(model.Garbled, "the list of models is not what the protocol promises"+x.BaseHint(), nil)
	}
	return nil
}
