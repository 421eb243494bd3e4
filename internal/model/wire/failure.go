package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
	"sibyl/internal/redact"
)

// Complaint is what a provider says of a failed request, as its protocol is to be read.
type Complaint struct {
	Kind       model.Kind
	Message    string        // the provider's own words; empty: those of the HTTP status
	Advice     string        // what would help, to stand behind the message
	RetryAfter time.Duration // what the body asks for, beside the header
}

// Judge finds in the body of a failed request what the provider says.
type Judge func(status int, body []byte) Complaint

// Fail is the one place where an error of an exchange is made: it cuts out the key, then shortens. A key as short as a word is no
// secret, and cutting it out would only spoil the message.
func (x *Exchange) Fail(kind model.Kind, message string, err error) *model.Error {
	if len(x.key) >= redact.MinSecret {
		message = strings.ReplaceAll(message, x.key, "[key]")
	}
	return &model.Error{Kind: kind, Model: x.e.id, Message: shorten(message), Err: err}
}

// BaseHint is what to put behind a message where an endpoint does not seem to speak the protocol.
func (x *Exchange) BaseHint() string {
	base := x.e.base
	return fmt.Sprintf(" (asked %s under %q: is the base URL right? %s)", base.Host, base.Path, x.e.protocol.URLHint)
}

// IsWebPage says whether an answer is one, such as the page of a proxy or of a wrong base URL.
func IsWebPage(resp *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/html"
}

// WebPage is the error for an answer that is one.
func (x *Exchange) WebPage() *model.Error {
	return x.Fail(model.Garbled, "the answer is a web page"+x.BaseHint(), nil)
}

// BadEvent is the error for an event that is not the JSON that it should be, which err tells.
func (x *Exchange) BadEvent(err error) *model.Error {
	return x.Fail(model.Garbled, "an event of the answer is not the JSON that the protocol promises: "+err.Error(), err)
}

// Inside is the error for a complaint that came after the response had begun as a success.
func (x *Exchange) Inside(c Complaint) *model.Error {
	failed := x.Fail(c.Kind, "inside the stream: "+c.Message+c.Advice, nil)
	failed.RetryAfter = c.RetryAfter
	return failed
}

// rejected is the error for an HTTP status other than success.
func (x *Exchange) rejected(resp *http.Response, c Complaint) *model.Error {
	message := c.Message
	if message == "" {
		message = http.StatusText(resp.StatusCode)
	}
	message += c.Advice
	if resp.StatusCode/100 == 3 {
		message = "the endpoint redirects elsewhere; if you trust that address, set it as the base URL"
	}
	failed := x.Fail(c.Kind, message, nil)
	failed.Status = resp.StatusCode
	failed.RetryAfter = max(retryAfter(resp.Header), c.RetryAfter)
	return failed
}

// unreachable is the error for a request that got no response.
func (x *Exchange) unreachable(err error) *model.Error {
	// The text of a url.Error holds the whole URL, which may hold a secret.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	host := x.e.base.Host
	var dns *net.DNSError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return x.broken("nothing answers at "+host+": "+x.e.protocol.Start, err)
	case errors.As(err, &dns) && dns.IsNotFound:
		return x.broken("no host called "+x.e.base.Hostname()+" was found: is the base URL right?", err)
	}
	return x.broken("no answer from "+host, err)
}

// broken is the error for a request that ended before its answer was complete: withdrawn by the caller, ended by one of
// its own clocks, or, with what happened, failed on the way.
func (x *Exchange) broken(what string, err error) *model.Error {
	if cause := x.caller.Err(); cause != nil {
		return x.Fail(model.KindOf(cause), "", cause)
	}
	if x.ctx != nil && x.ctx.Err() != nil {
		cause := context.Cause(x.ctx)
		limit := x.e.timeout
		if errors.Is(cause, errSilent) {
			limit = x.e.idle
		}
		return x.Fail(model.Timeout, fmt.Sprintf("%v (limit %v)", cause, limit), cause)
	}
	kind := model.Server
	var slow net.Error
	if errors.As(err, &slow) && slow.Timeout() {
		kind = model.Timeout
	}
	return x.Fail(kind, fmt.Sprintf("%s (%v)", what, err), err)
}

// StatusKind is the kind of a failure that only its HTTP status tells of. A success is the status of an error inside a
// stream, where nothing more is known than that the provider failed.
func StatusKind(status int) model.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return model.Auth
	case http.StatusTooManyRequests, http.StatusPaymentRequired:
		return model.RateLimit
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	}
	if status >= 500 || status < 300 {
		return model.Server
	}
	return model.Invalid
}

// Mentions says whether any of words stands in text.
func Mentions(text string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// Plain is a JSON string's value, nothing for null, and any other JSON as it stands.
func Plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Given says whether a field holds anything: it was sent and is not null.
func Given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// Prose is the text of a failed request's body that is no JSON.
func Prose(body []byte) string {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") { // a proxy's HTML page says nothing that the status does not
		return ""
	}
	return text
}

// retryAfter reads the header in both its forms, seconds and a date.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if seconds > 0 && seconds < maxWait.Seconds() {
			return time.Duration(seconds * float64(time.Second))
		}
		if seconds > 0 {
			return maxWait
		}
		return 0
	}
	if at, err := http.ParseTime(text); err == nil {
		return Wait(time.Until(at))
	}
	return 0
}

// maxWait keeps an absurd wish from overflowing a Duration.
const maxWait = 365 * 24 * time.Hour

// Wait bounds a wish to be asked again later: at least nothing, at most a year.
func Wait(wish time.Duration) time.Duration { return min(max(wish, 0), maxWait) }

// maxMessage is how many bytes of a provider's words an error holds.
const maxMessage = 500

// shorten makes one line of text, at most maxMessage bytes, free of what could steer a terminal.
func shorten(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
