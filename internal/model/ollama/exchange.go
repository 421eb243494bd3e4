package ollama

import (
	"bytes"
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
		if strings.ContainsFunc(x.key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
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

// send makes one request and returns its response, which is a success.
func (x *exchange) send(method, path string, body []byte) (*http.Response, error) {
	target := x.m.base.JoinPath(path).String()
	req, err := http.NewRequestWithContext(x.ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, x.fail(model.Invalid, "the base URL cannot be used", nil)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/x-ndjson")
	}
	if x.key != "" {
		req.Header.Set("Authorization", "Bearer "+x.key)
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
	return &model.Error{Kind: kind, Model: x.m.ID(), Message: shorten(message), Err: err}
}

// rejected is the error for an HTTP status other than success.
func (x *exchange) rejected(resp *http.Response, body []byte) *model.Error {
	said := complaintIn(body)
	message := said
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	switch advice := x.advice(said); {
	case resp.StatusCode/100 == 3:
		message = "the server redirects elsewhere; if you trust that address, set it as the base URL"
	case advice != "":
		message += advice
	case resp.StatusCode == http.StatusNotFound:
		message += x.baseHint()
	case resp.StatusCode == http.StatusUnauthorized && x.key == "":
		message += "; a model in Ollama's cloud wants: ollama signin, a proxy a key"
	}
	e := x.fail(kindOf(resp.StatusCode, said), message, nil)
	e.Status = resp.StatusCode
	e.RetryAfter = retryAfter(resp.Header)
	return e
}

// advice says what would help against the failures that the person can do something about.
func (x *exchange) advice(said string) string {
	lower := strings.ToLower(said)
	switch {
	case mentions(lower, saysNoTools):
		return fmt.Sprintf(": choose a model with tools; ‘ollama show %s’ lists what one can do", x.m.name)
	case kindOf(0, said) == model.ContextLength && x.m.numCtx > 0:
		return fmt.Sprintf(" (the context window is set to %d tokens)", x.m.numCtx)
	case kindOf(0, said) == model.ContextLength:
		return " (the context window is the server's own: set a larger one)"
	case mentions(lower, "model") && mentions(lower, saysNotFound):
		return "; to get it: ollama pull " + x.m.name
	case mentions(lower, saysNoMemory):
		return "; choose a smaller model or a smaller context window"
	}
	return ""
}

// baseHint says what to look at where a server does not seem to speak the protocol.
func (x *exchange) baseHint() string {
	return fmt.Sprintf(" (asked %s under %q: is the base URL right? it has no /v1 or /api at its end)", x.m.base.Host, x.m.base.Path)
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
		return x.broken("nothing answers at "+host+": is Ollama running there? ‘ollama serve’ starts it", err)
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
