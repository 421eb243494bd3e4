package anthropic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	wire "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"sibyl/internal/model"
)

// errTooLong and errSilent are the causes with which an exchange ends its own request.
var (
	errTooLong = errors.New("no complete answer in time")
	errSilent  = errors.New("silence in the middle of the answer")
)

// drainTime is how long the end of a finished stream is waited for, so that its connection can be used again.
const drainTime = 50 * time.Millisecond

// maxErrorBody is how much of a failed request's body is read.
const maxErrorBody = 64 << 10

// exchange is one Chat or List: the key it was given and the clocks that end its request.
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

func (x *exchange) close() {
	x.whole.Stop()
	if x.idle != nil {
		x.idle.Stop()
	}
	x.cancel(nil)
}

// ask posts the request and returns the answer to read.
func (x *exchange) ask(params wire.MessageNewParams) (*http.Response, error) {
	return x.send(http.MethodPost, "v1/messages", params,
		option.WithJSONSet("stream", true), option.WithHeader("Accept", "text/event-stream"))
}

// list asks for the models that follow the one called after.
func (x *exchange) list(after string) (*http.Response, error) {
	query := []option.RequestOption{option.WithQuery("limit", "1000")}
	if after != "" {
		query = append(query, option.WithQuery("after_id", after))
	}
	return x.send(http.MethodGet, "v1/models", nil, query...)
}

// send makes one request and returns its response, which is a success.
func (x *exchange) send(method, path string, params any, options ...option.RequestOption) (*http.Response, error) {
	if x.key != "" {
		options = append(options, option.WithAPIKey(x.key))
	}
	var resp *http.Response
	// The client's own error holds the request, and so the key: the response tells as much.
	err := x.m.client.Execute(x.ctx, method, path, params, &resp, options...)
	switch {
	case resp == nil:
		return nil, x.unreachable(err)
	case resp.StatusCode/100 == 2 && err == nil:
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	if err != nil && x.ctx.Err() != nil {
		return nil, x.broken("", err)
	}
	return nil, x.rejected(resp, said)
}

// discreet takes away the headers in which the client describes the machine, and bounds the body of a failed request,
// which the client reads whole.
func discreet(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	resp, err := next(req)
	if err == nil && resp.StatusCode/100 != 2 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
	}
	return resp, err
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
	kind := said.kind(resp.StatusCode)
	message := said.Message
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	switch {
	case resp.StatusCode/100 == 3:
		message = "the endpoint redirects elsewhere; if you trust that address, set it as the base URL"
	case resp.StatusCode == http.StatusNotFound && said.Type == "":
		message += x.baseHint()
	}
	e := x.fail(kind, message, nil)
	e.Status = resp.StatusCode
	e.RetryAfter = retryAfter(resp.Header)
	return e
}

// baseHint says what to look at where an endpoint does not seem to speak the protocol.
func (x *exchange) baseHint() string {
	return fmt.Sprintf(" (asked %s under %q: is the base URL right? it ends before /v1/messages)", x.m.base.Host, x.m.base.Path)
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

// hasControl says whether s cannot stand in an HTTP header.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// retryAfter reads the header in both its forms, seconds and a date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < maxRetryAfter.Seconds() {
			return time.Duration(seconds * float64(time.Second))
		}
		if seconds > 0 {
			return maxRetryAfter
		}
		return 0
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// maxRetryAfter keeps an absurd wish from overflowing a Duration.
const maxRetryAfter = 365 * 24 * time.Hour
