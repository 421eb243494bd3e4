package gemini

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"sibyl/internal/model"
)

// errTooLong and errSilent are the causes with which an exchange ends its own request.
var (
	errTooLong = errors.New("no complete answer in time")
	errSilent  = errors.New("silence in the middle of the answer")
)

// maxErrorBody is how much of a failed request's body is read.
const maxErrorBody = 64 << 10

// exchange is one Chat or List: the key it was given and the clocks that end its requests.
type exchange struct {
	m      *Model
	key    string
	caller context.Context // the caller's own, to tell a withdrawal from a time-out
	ctx    context.Context
	cancel context.CancelCauseFunc
	whole  *time.Timer
	idle   *time.Timer // nil until the first part of a stream
}

func (m *Model) open(ctx context.Context) (*exchange, error) {
	x := &exchange{m: m, caller: ctx}
	if m.baseErr != nil {
		return nil, x.fail(model.Invalid, m.baseErr.Error(), nil)
	}
	if m.key != nil {
		key, err := m.key(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil, x.broken("", err)
			}
			return nil, x.fail(model.Auth, "the API key could not be read: "+err.Error(), err)
		}
		x.key = strings.TrimSpace(key)
		if hasControl(x.key) {
			return nil, x.fail(model.Auth, "the API key holds a control character, perhaps a line break", nil)
		}
	}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	x.whole = time.AfterFunc(m.timeout, func() { x.cancel(errTooLong) })
	return x, nil
}

// hasControl says whether s cannot stand in an HTTP header.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func (x *exchange) close() {
	x.whole.Stop()
	if x.idle != nil {
		x.idle.Stop()
	}
	x.cancel(nil)
}

// send makes one request and returns its response, which is a success. path is escaped; query is added to the base
// URL's own.
func (x *exchange) send(method, path string, query url.Values, body []byte) (*http.Response, error) {
	target := x.m.base.JoinPath(path)
	all := target.Query()
	for name, values := range query {
		all[name] = values
	}
	target.RawQuery = all.Encode()
	req, err := http.NewRequestWithContext(x.ctx, method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, x.fail(model.Invalid, "the base URL cannot be used", nil)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream")
	}
	if x.key != "" {
		req.Header.Set("x-goog-api-key", x.key)
	}
	resp, err := x.m.client.Do(req)
	if err != nil {
		return nil, x.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && (x.caller.Err() != nil || x.ctx.Err() != nil) {
		return nil, x.broken("", err)
	}
	return nil, x.rejected(resp, said)
}

// readAll reads a whole body of bounded size.
func (x *exchange) readAll(body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, x.broken("the answer was cut", err)
	case len(text) > maxAnswer:
		return nil, x.fail(model.Garbled, tooLarge, nil)
	}
	return text, nil
}

// fail is the one place where an error of this package is made: it cuts out the key, then shortens.
func (x *exchange) fail(kind model.Kind, message string, err error) *model.Error {
	if x.key != "" {
		message = strings.ReplaceAll(message, x.key, "[key]")
	}
	return &model.Error{Kind: kind, Model: x.m.id, Message: shorten(message), Err: err}
}

// rejected is the error for an HTTP status other than success.
func (x *exchange) rejected(resp *http.Response, body []byte) *model.Error {
	said := parseComplaint(body)
	message := said.message
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	switch {
	case resp.StatusCode/100 == 3:
		message = "the endpoint redirects elsewhere; if you trust that address, set it as the base URL"
	case resp.StatusCode == http.StatusNotFound:
		message += x.baseHint()
	}
	e := x.fail(said.kind(resp.StatusCode), message, nil)
	e.Status = resp.StatusCode
	e.RetryAfter = max(retryAfter(resp.Header), said.retryAfter)
	return e
}

// baseHint says what to look at where an endpoint does not seem to speak the protocol.
func (x *exchange) baseHint() string {
	return fmt.Sprintf(" (asked %s under %q: is the base URL right? a path in it ends in /v1beta)", x.m.base.Host, x.m.base.Path)
}

// unreachable is the error for a request that got no response.
func (x *exchange) unreachable(err error) *model.Error {
	// The text of a url.Error holds the whole URL, which may hold a secret.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	host := x.m.base.Host
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return x.broken("nothing answers at "+host+": is the server running there?", err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return x.broken("no host called "+x.m.base.Hostname()+" was found: is the base URL right?", err)
	}
	return x.broken("no answer from "+host, err)
}

// broken is the error for a request that ended before its answer was complete: withdrawn by the caller, ended by one of
// its own clocks, or, with what happened, failed on the way.
func (x *exchange) broken(what string, err error) *model.Error {
	if cause := x.caller.Err(); cause != nil {
		return x.fail(model.KindOf(cause), "", cause)
	}
	if x.ctx != nil && x.ctx.Err() != nil {
		cause := context.Cause(x.ctx)
		limit := x.m.timeout
		if errors.Is(cause, errSilent) {
			limit = x.m.idle
		}
		return x.fail(model.Timeout, fmt.Sprintf("%v (limit %v)", cause, limit), cause)
	}
	kind := model.Server
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		kind = model.Timeout
	}
	return x.fail(kind, fmt.Sprintf("%s (%v)", what, err), err)
}
